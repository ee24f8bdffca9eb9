/** The next step of a gift, from its record and Steam's data. Pure. */
import type { GiftEnd } from '../../contract/gift-failures.ts'
import type { OpenGiving } from './book.ts'
import type { SeenOffer } from './gift.ts'

/** How long the partner may take to accept. */
const ACCEPT_MS = 30 * 60_000
/** How long the vault tries to confirm an offer. */
const CONFIRM_MS = 10 * 60_000
/** The most times that a send begins. */
const MOST_TRIES = 6
/** After each send that was not made, the wait for the next one grows by this much. */
const TRY_AGAIN_MS = 60_000
/**
 * Once this many of Steam's lists lacked an offer, the vault concludes that it was never sent. The last list must have
 * been read at least APPEARS_WITHIN_MS after the send began.
 */
const LEAST_MISSES = 3
const APPEARS_WITHIN_MS = 120_000

/** `find`: look on Steam for the offer of a send that began at `begunAt`. `read`: read the offer. */
export type Step =
  | { kind: 'send' }
  | { kind: 'find'; begunAt: Date }
  | { kind: 'read'; offerId: string }
  | { kind: 'end'; because: GiftEnd }
  | { kind: 'wait' }

/** The step before Steam is asked. `isAllowed`: the vault's files still allow this gift. */
export function stepBefore(giving: OpenGiving, { now, isAllowed }: { now: Date; isAllowed: boolean }): Step {
  switch (giving.state) {
    case 'intended': {
      if (!isAllowed) return { kind: 'end', because: 'no_longer_allowed' }
      const { tries, triedAt } = giving
      if (triedAt === null) return { kind: 'send' }
      if (tries >= MOST_TRIES) return { kind: 'end', because: 'no_session' }
      // The absolute value, because a clock that was set back must not delay the send for long.
      const isEarly = Math.abs(now.getTime() - triedAt.getTime()) < tries * TRY_AGAIN_MS
      return isEarly ? { kind: 'wait' } : { kind: 'send' }
    }
    case 'sending': {
      const { missed, missedAt, begunAt, result } = giving
      // That the send is long ago proves nothing, because the vault may have been down and not looked.
      const isOver = missed >= LEAST_MISSES && Number(missedAt) - Number(begunAt) >= APPEARS_WITHIN_MS
      if (!isOver) return { kind: 'find', begunAt }
      return { kind: 'end', because: result === null ? 'never_appeared' : `steam_${result}` }
    }
    case 'offered':
      return { kind: 'read', offerId: giving.offerId }
    default:
      return giving satisfies never
  }
}

/** `prove`: read Steam's record of the trade. */
export type OfferStep =
  | { kind: 'confirm' }
  | { kind: 'cancel' }
  | { kind: 'prove'; steamTradeId: string }
  | { kind: 'end'; because: GiftEnd }
  | { kind: 'wait' }

export type Offered = Extract<OpenGiving, { state: 'offered' }>

/** The step after Steam has shown the offer. */
export function stepAfter(
  giving: Offered,
  seen: SeenOffer,
  { now, isAllowed }: { now: Date; isAllowed: boolean },
): OfferStep {
  // The absolute value, because a clock that was set back must not keep an offer open for long.
  const ageMs = Math.abs(now.getTime() - giving.knownAt.getTime())
  switch (seen.state) {
    case 'needs_confirmation':
      return isAllowed && ageMs < CONFIRM_MS ? { kind: 'confirm' } : { kind: 'cancel' }
    case 'active':
      return isAllowed && ageMs < ACCEPT_MS ? { kind: 'wait' } : { kind: 'cancel' }
    case 'in_escrow':
      return { kind: 'wait' }
    case 'accepted':
      return seen.steamTradeId === null
        ? { kind: 'wait' }
        : { kind: 'prove', steamTradeId: seen.steamTradeId }
    case 'ended':
      return { kind: 'end', because: seen.how }
    default:
      return seen satisfies never
  }
}
