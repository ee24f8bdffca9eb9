/** Tells the till about wishes. If the till does not answer, the vault tells it later. */
import { type Book, type Giving, isOpen } from './book.ts'
import type { Wish } from './judge.ts'

/** The till's database: the vault reads wishes there, and writes their results. */
export type Wishes = {
  open(): Promise<readonly Wish[]>
  report(wishId: string, report: WishReport): Promise<void>
}

export type WishReport = { giving: Giving } | { waitsBecause: string }

export type TillLine = {
  /** Begins a round: tells what the till may not know yet. */
  begin(): Promise<void>
  /** The open wishes; none if the till does not answer. */
  wishes(): Promise<readonly Wish[]>
  /** Reports the state of the wish. Resolves to false if the till did not answer; it is then told in a later round. */
  tell(wishId: string): Promise<boolean>
  /** Resolves to true if the till knows the state of the wish, telling it if needed. */
  knows(wishId: string): Promise<boolean>
  tellWait(wishId: string, because: string): Promise<void>
  /** Throws the error of the till, if it did not answer in this round. */
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
  async function tell(wishId: string): Promise<boolean> {
    const giving = book.get(wishId)
    if (giving === undefined) return true
    untold.add(wishId)
    if ((await call(() => wishes.report(wishId, { giving }))) === undefined) return false
    untold.delete(wishId)
    return true
  }
  return {
    async begin() {
      failure = undefined
      for (const wishId of [...untold]) await tell(wishId)
    },
    wishes: async () => (await call(() => wishes.open()))?.answer ?? [],
    tell,
    knows: async (wishId) => !untold.has(wishId) || (await tell(wishId)),
    async tellWait(wishId, waitsBecause) {
      await call(() => wishes.report(wishId, { waitsBecause }))
    },
    end() {
      if (failure !== undefined) throw failure.error
    },
  }
}
