/**
 * How many offers one Steam account may be sent, and how long it waits after offers that it did not use. Pure. Whoever
 * knows a trade link can ask for offers to its owner, so both keep a stranger from flooding them, and bots from looking
 * like spammers to Steam.
 */

/** Offers open with one account, over the whole fleet. */
export const MOST_OPEN_OFFERS = 2
/** Offers that a store may have open beyond that with an account to which it locked the deposits. */
const MOST_OPEN_LOCKED = 1

const FIRST_PAUSE_MS = 60_000
const LONGEST_PAUSE_MS = 30 * 60_000
/** Enough to reach the longest pause. */
const MOST_DOUBLINGS = 5
/** Ends that are older count no longer. */
export const REMEMBERED_MS = 24 * 60 * 60_000

/** How a trade ended whose offer its shopper did not use. */
export const UNUSED_REASONS = ['declined', 'declined_at_once', 'deadline', 'expired'] as const

export type PartnerFacts = {
  /** Trades with the account whose offers are, or may be, open at any bot. One that Steam holds is not. */
  open: number
  /** Those of them that belong to deposits of this store which are locked to the account. */
  openLocked: number
  /** How many offers of this store went unused since the account last paid there, and when the last of them ended. */
  unused: { count: number; lastAt: Date } | null
}

export type Allowance = { kind: 'allowed' } | { kind: 'too_many' } | { kind: 'paused'; until: Date }

type Wish = {
  /** The deposit is locked to this account: a stranger cannot have asked for it. */
  isLocked: boolean
  now: Date
}

/** Whether the account may be sent another offer for a deposit of the store. */
export function judgePartner(facts: PartnerFacts, { isLocked, now }: Wish): Allowance {
  const hasOwnSlot = isLocked && facts.openLocked < MOST_OPEN_LOCKED
  if (facts.open >= MOST_OPEN_OFFERS && !hasOwnSlot) return { kind: 'too_many' }
  if (isLocked || facts.unused === null) return { kind: 'allowed' }
  const { count, lastAt } = facts.unused
  const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(count - 1, MOST_DOUBLINGS))
  const until = new Date(lastAt.getTime() + pauseMs)
  return until > now ? { kind: 'paused', until } : { kind: 'allowed' }
}
