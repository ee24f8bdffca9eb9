/** Tells the till about wishes. If the till does not answer, the vault tells it later. */
import { type Book, type Giving, isOpen } from './book.ts'
import type { Wish } from './judge.ts'

/** The till's database: the vault reads wishes there, and writes their results. */
export type Wishes = {
  open(): Promise<readonly Wish[]>
  /** `isOpen`: the till has the wish, and it is open. Otherwise the report of an intended gift is not written. */
  report(wishId: string, report: WishReport): Promise<{ isOpen: boolean }>
}

export type WishReport = { giving: Giving } | { waitsBecause: string }

export type TillLine = {
  /** Begins a round: tells the till what it may not know yet. */
  begin(): Promise<void>
  /** The open wishes; none if the till does not answer. */
  wishes(): Promise<readonly Wish[]>
  /** Reports the state of the wish. If the till does not answer, the report is repeated in a later round. */
  tell(wishId: string): Promise<void>
  /**
   * Reports an intended gift, even if it was reported before: the till's database may have been restored since. `open`:
   * the till knows of the gift, and lets nobody withdraw the wish. `gone`: the wish was withdrawn or lost.
   */
  announce(wishId: string): Promise<'open' | 'gone' | 'unanswered'>
  tellWait(wishId: string, because: string): Promise<void>
  /** Throws the till's error if the till did not answer in this round. */
  end(): void
}

/** After the first failure, the till is not called again in the same round: each call could wait for its deadline. */
export function createTillLine(wishes: Wishes, book: Book): TillLine {
  // The last reports before the start may have been lost.
  const untold = new Set([...book].flatMap(([wishId, giving]) => (isOpen(giving) ? [wishId] : [])))
  let failure: { error: unknown } | undefined

  async function call<T>(make: () => Promise<T>): Promise<{ answer: T } | undefined> {
    if (failure !== undefined) return undefined
    try {
      return { answer: await make() }
    } catch (error) {
      failure = { error }
      return undefined
    }
  }
  async function announce(wishId: string): Promise<'open' | 'gone' | 'unanswered'> {
    const giving = book.get(wishId)
    if (giving === undefined) return 'unanswered'
    untold.add(wishId)
    const reported = await call(() => wishes.report(wishId, { giving }))
    if (reported === undefined) return 'unanswered'
    untold.delete(wishId)
    return reported.answer.isOpen ? 'open' : 'gone'
  }
  async function tell(wishId: string): Promise<void> {
    await announce(wishId)
  }
  return {
    async begin() {
      failure = undefined
      for (const wishId of [...untold]) await tell(wishId)
    },
    wishes: async () => (await call(() => wishes.open()))?.answer ?? [],
    tell,
    announce,
    async tellWait(wishId, waitsBecause) {
      await call(() => wishes.report(wishId, { waitsBecause }))
    },
    end() {
      if (failure !== undefined) throw failure.error
    },
  }
}
