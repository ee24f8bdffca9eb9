/**
 * When to ask Steam again about offers and trades that may stay as they are for days, such as those in escrow. A subject
 * is the name of one, such as `offer 42`.
 */

/** The longest gap between two questions about an offer, before it is accepted and afterwards. */
const LONGEST_GAP_S = 60
const LONGEST_GAP_OF_TRADE_S = 30 * 60
/** The next gap is this part of the time for which the offer has waited. */
const GAP_PART = 1 / 4
const DAY_S = 86_400
/** Beyond this many, the offer whose wait was recorded longest ago is forgotten. */
const MOST_OFFERS = 1_000

/** `sinceS`: when the offer began to wait. `toldS`: when a person was last told, or else `sinceS`. */
type Wait = { reasons: Set<string>; isAccepted: boolean; sinceS: number; nextS: number; toldS: number }

/** `isAccepted`: the offer was accepted, so nothing can be cancelled. */
export type Reason = { why: string; isAccepted?: boolean }

export type Patience = {
  /** False while it is too early to ask about the subject again. */
  isDue(subject: string): boolean
  /**
   * Records that the subject waits. `isNew`: it did not wait for this reason before. `isOverdue`: it has waited for at
   * least a day. `mustTell`: it is overdue, and no call returned `mustTell` for a day, so a person must be told.
   */
  wait(subject: string, reason: Reason): { isNew: boolean; mustTell: boolean; isOverdue: boolean }
  /** Ends the wait and returns true. If `unless` is one of its reasons, changes nothing and returns false. */
  end(subject: string, unless?: string): boolean
}

const longestGapS = ({ isAccepted }: Pick<Wait, 'isAccepted'>): number =>
  isAccepted ? LONGEST_GAP_OF_TRADE_S : LONGEST_GAP_S

/** `nowS`: seconds since 1970. */
export function createPatience(nowS: () => number): Patience {
  const waits = new Map<string, Wait>()
  return {
    isDue(subject) {
      const wait = waits.get(subject)
      if (wait === undefined) return true
      const aheadS = wait.nextS - nowS()
      // After the clock was set back, the next time can be far away.
      return aheadS <= 0 || aheadS > longestGapS(wait)
    },
    wait(subject, { why, isAccepted = false }) {
      const atS = nowS()
      const known = waits.get(subject)
      const { reasons, sinceS, toldS } = known ?? { reasons: new Set<string>(), sinceS: atS, toldS: atS }
      const [isNew, mustTell] = [!reasons.has(why), atS - toldS >= DAY_S]
      const wait = {
        reasons: reasons.add(why),
        isAccepted: isAccepted || known?.isAccepted === true,
        sinceS,
        toldS: mustTell ? atS : toldS,
      }
      const nextS = atS + Math.min(Math.max(0, (atS - sinceS) * GAP_PART), longestGapS(wait))
      waits.delete(subject)
      waits.set(subject, { ...wait, nextS })
      const [oldest] = waits.keys()
      if (waits.size > MOST_OFFERS && oldest !== undefined) waits.delete(oldest)
      return { isNew, mustTell, isOverdue: mustTell || atS - sinceS >= DAY_S }
    },
    end(subject, unless) {
      const hasEnded = unless === undefined || waits.get(subject)?.reasons.has(unless) !== true
      if (hasEnded) waits.delete(subject)
      return hasEnded
    },
  }
}
