/**
 * Limits the offers to one Steam account, and imposes a pause after unused ones. Pure. Anybody who knows a trade link
 * can request offers to its owner. The limits stop strangers from flooding the owner, and keep bots from looking like
 * spammers to Steam.
 */

/** The most open offers to one account, over all bots. */
export const MOST_OPEN_OFFERS = 2
/**
 * At the limit, a store can have another offer sent for a deposit that it locked to the account, unless this many of
 * the open offers are for such deposits of this store.
 */
const MOST_OPEN_LOCKED = 1

const FIRST_PAUSE_MS = 60_000
export const LONGEST_PAUSE_MS = 30 * 60_000
/** After this many doublings, the pause is at its longest. */
const MOST_DOUBLINGS = 5
/** Unused offers older than this no longer count. */
export const REMEMBERED_MS = 24 * 60 * 60_000

/**
 * How a trade ends if the shopper did not use its offer. `declined_at_once`: declined within seconds; `deadline`:
 * cancelled by the till at the deadline; `expired`: ended by Steam.
 */
export const UNUSED_REASONS = ['declined', 'declined_at_once', 'deadline', 'expired'] as const

export type PartnerFacts = {
  /**
   * The account's trades, over all bots, whose offer is open, may be open, or is to be sent. An offer in escrow does not
   * count.
   */
  open: number
  /** Those of `open` whose deposits this store locked to the account. */
  openLocked: number
  /** This store's unused offers within `REMEMBERED_MS` and since the account last paid there; null if none. */
  unused: UnusedOffers | null
}

/** `lastAt`: the end of the latest. */
type UnusedOffers = { count: number; lastAt: Date }

export type Allowance = { kind: 'allowed' } | { kind: 'too_many' } | { kind: 'paused'; until: Date }

type OfferRequest = {
  /** Whether the deposit is locked to this account, so no stranger can have requested the offer. */
  isLocked: boolean
  now: Date
}

/** Returns the pause after the last of `count` unused offers. `count` is at least 1. */
const pauseMsAfter = (count: number): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(count - 1, MOST_DOUBLINGS))

/** Returns when the next offer may be sent. */
export function pauseUntil({ count, lastAt }: UnusedOffers): Date {
  return new Date(lastAt.getTime() + pauseMsAfter(count))
}

/** Decides whether another offer may be sent to the account for a deposit of the store. */
export function judgePartner(facts: PartnerFacts, { isLocked, now }: OfferRequest): Allowance {
  const hasOwnSlot = isLocked && facts.openLocked < MOST_OPEN_LOCKED
  if (facts.open >= MOST_OPEN_OFFERS && !hasOwnSlot) return { kind: 'too_many' }
  if (isLocked || facts.unused === null) return { kind: 'allowed' }
  const until = pauseUntil(facts.unused)
  return until > now ? { kind: 'paused', until } : { kind: 'allowed' }
}
