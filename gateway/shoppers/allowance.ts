/**
 * Limits the offers to one Steam account, and imposes a pause after unused ones. Pure. Anyone who knows a trade link can
 * request offers to its owner. The limits stop strangers from flooding the owner, and keep bots from looking like spammers
 * to Steam.
 */

/** The most open offers to one account, over all bots. */
export const MOST_OPEN_OFFERS = 2
/** Further open offers of a store to an account that its deposits are locked to. */
const MOST_OPEN_LOCKED = 1

const FIRST_PAUSE_MS = 60_000
const LONGEST_PAUSE_MS = 30 * 60_000
/** How many ends to remember: enough for the longest pause. */
const MOST_DOUBLINGS = 5
/** Older ends no longer count. */
export const REMEMBERED_MS = 24 * 60 * 60_000

/** The ends of a trade whose offer its shopper did not use. */
export const UNUSED_REASONS = ['declined', 'declined_at_once', 'deadline', 'expired'] as const

export type PartnerFacts = {
  /** Trades with the account whose offers are, or may be, open at any bot. An offer in escrow does not count. */
  open: number
  /** Those of them whose deposits this store has locked to the account. */
  openLocked: number
  /** Unused offers of this store since the account last paid there, and the end of the latest. */
  unused: { count: number; lastAt: Date } | null
}

export type Allowance = { kind: 'allowed' } | { kind: 'too_many' } | { kind: 'paused'; until: Date }

type Wish = {
  /** The deposit is locked to this account, so no stranger can have requested the offer. */
  isLocked: boolean
  now: Date
}

/** Decides whether the account may be sent another offer for a deposit of the store. */
export function judgePartner(facts: PartnerFacts, { isLocked, now }: Wish): Allowance {
  const hasOwnSlot = isLocked && facts.openLocked < MOST_OPEN_LOCKED
  if (facts.open >= MOST_OPEN_OFFERS && !hasOwnSlot) return { kind: 'too_many' }
  if (isLocked || facts.unused === null) return { kind: 'allowed' }
  const { count, lastAt } = facts.unused
  const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(count - 1, MOST_DOUBLINGS))
  const until = new Date(lastAt.getTime() + pauseMs)
  return until > now ? { kind: 'paused', until } : { kind: 'allowed' }
}
