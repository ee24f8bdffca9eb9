/** The vault's view of the wishes that it took up or refused, built from the entries of its log. Pure. */
import { z } from 'zod'
import { unreadableEntry } from '../files/log.ts'
import { isSaleLine } from '../markets/entries.ts'

const DIGITS = z.string().regex(/^\d{1,20}$/)
const assetSchema = z.strictObject({ appId: z.int(), contextId: z.string(), assetId: z.string() })
const wish = DIGITS

/** `sealedToken`: the token of the partner's trade link. `worthCents`: how much of the limits the gift uses. */
const entrySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('wish_refused'), wish, because: z.string() }),
  z.strictObject({
    kind: z.literal('intended'),
    wish,
    cause: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('send'), to: z.string() }),
      z.strictObject({ kind: z.literal('return') }),
    ]),
    from: DIGITS,
    partnerSteamId: DIGITS,
    sealedToken: z.string(),
    message: z.string(),
    assets: z.array(assetSchema),
    worthCents: z.string().regex(/^\d{1,15}$/),
  }),
  /** From this entry on, the offer may exist. */
  z.strictObject({ kind: z.literal('send_begun'), wish }),
  /** Steam certainly made no offer: the account had no session, or had to wait for too long. */
  z.strictObject({ kind: z.literal('send_not_made'), wish }),
  /** Steam answered the send with this result number, which does not prove that no offer was made. */
  z.strictObject({ kind: z.literal('send_unclear'), wish, result: z.int().nonnegative() }),
  /** The offer was not in Steam's list. */
  z.strictObject({ kind: z.literal('offer_missed'), wish }),
  /** Steam's number of the offer is known, so the offer exists. */
  z.strictObject({ kind: z.literal('offer_known'), wish, offerId: DIGITS }),
  z.strictObject({ kind: z.literal('confirmed'), wish }),
  z.strictObject({ kind: z.literal('delivered'), wish, steamTradeId: DIGITS }),
  z.strictObject({ kind: z.literal('ended'), wish, because: z.string() }),
])

export type WishEntry = z.output<typeof entrySchema>
/** Throws if the entry could not be read from the log again: the vault would not start. */
export const parseWishEntry = (entry: WishEntry): WishEntry => entrySchema.parse(entry)
export type Intended = Extract<WishEntry, { kind: 'intended' }>

/** An entry of the log with its time. */
export type DatedEntry = { at: Date; entry: WishEntry }

type IntendedGift = { intended: Intended; intendedAt: Date }
type OfferedGift = IntendedGift & { offerId: string; knownAt: Date; isConfirmed: boolean }

/** `tries`: how many sends began. */
type Tries = { tries: number }

/**
 * The state of a wish. `triedAt`: when a send last ended in `send_not_made`. `missed`: how many lists of offers lacked
 * its offer; `missedAt`: when the last one did. `result`: the number with which Steam answered the send.
 */
export type Giving =
  | { state: 'refused'; because: string }
  | (IntendedGift & Tries & { state: 'intended'; triedAt: Date | null })
  | (IntendedGift &
      Tries & {
        state: 'sending'
        begunAt: Date
        missed: number
        missedAt: Date | null
        result: number | null
      })
  | (OfferedGift & { state: 'offered' })
  | (OfferedGift & { state: 'delivered'; steamTradeId: string })
  | (IntendedGift & { state: 'ended'; because: string })

/** The state of each wish that was taken up or refused, by the number of the wish. */
export type Book = ReadonlyMap<string, Giving>

/** The entries about wishes: all but those of sales. Throws if this version cannot read one. */
export function* wishEntriesOf(
  entries: Iterable<{ n: number; at: Date; entry: unknown }>,
): Generator<DatedEntry> {
  for (const { n, at, entry } of entries) {
    if (isSaleLine(entry)) continue
    const wishEntry = entrySchema.safeParse(entry)
    if (!wishEntry.success) throw unreadableEntry(n, wishEntry.error)
    yield { at, entry: wishEntry.data }
  }
}

export function bookOf(entries: Iterable<DatedEntry>): Map<string, Giving> {
  const book = new Map<string, Giving>()
  for (const dated of entries) {
    const giving = evolve(book.get(dated.entry.wish), dated)
    if (giving !== undefined) book.set(dated.entry.wish, giving)
  }
  return book
}

/** Ignores an entry that does not fit the state of its wish, so no step happens twice. */
export function evolve(giving: Giving | undefined, { at, entry }: DatedEntry): Giving | undefined {
  switch (entry.kind) {
    case 'wish_refused':
      return giving ?? { state: 'refused', because: entry.because }
    case 'intended':
      return giving ?? { state: 'intended', intended: entry, intendedAt: at, tries: 0, triedAt: null }
    case 'send_begun': {
      if (giving?.state !== 'intended') return giving
      const { triedAt: _, ...rest } = giving
      const tries = giving.tries + 1
      return { ...rest, state: 'sending', tries, begunAt: at, missed: 0, missedAt: null, result: null }
    }
    case 'send_not_made': {
      if (giving?.state !== 'sending') return giving
      const { intended, intendedAt, tries } = giving
      return { state: 'intended', intended, intendedAt, tries, triedAt: at }
    }
    case 'send_unclear':
      return giving?.state === 'sending' ? { ...giving, result: entry.result } : giving
    case 'offer_missed':
      return giving?.state === 'sending' ? { ...giving, missed: giving.missed + 1, missedAt: at } : giving
    case 'offer_known': {
      if (giving?.state !== 'sending') return giving
      const { intended, intendedAt } = giving
      const { offerId } = entry
      return { state: 'offered', intended, intendedAt, offerId, knownAt: at, isConfirmed: false }
    }
    case 'confirmed':
      return giving?.state === 'offered' ? { ...giving, isConfirmed: true } : giving
    case 'delivered':
      return giving?.state === 'offered'
        ? { ...giving, state: 'delivered', steamTradeId: entry.steamTradeId }
        : giving
    case 'ended': {
      if (giving === undefined || !isOpen(giving)) return giving
      const { intended, intendedAt } = giving
      return { state: 'ended', intended, intendedAt, because: entry.because }
    }
    default:
      return entry satisfies never
  }
}

export type OpenGiving = Exclude<Giving, { state: 'refused' | 'delivered' | 'ended' }>

export function isOpen(giving: Giving): giving is OpenGiving {
  return giving.state === 'intended' || giving.state === 'sending' || giving.state === 'offered'
}

export type Spent = { cents: bigint; items: number }

/** The use of the limits by gifts intended since `since`. A gift that ended without a delivery no longer counts. */
export function spentSince(book: Book, since: Date): Spent {
  let [cents, items] = [0n, 0]
  for (const giving of book.values()) {
    if (giving.state === 'refused' || giving.state === 'ended' || giving.intendedAt < since) continue
    cents += BigInt(giving.intended.worthCents)
    items += giving.intended.assets.length
  }
  return { cents, items }
}
