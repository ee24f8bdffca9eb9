/** When to ask Steam again about offers that may stay as they are for days, such as those in escrow. */

const LONGEST_GAP_S = 30 * 60
/** The next gap is this part of the time for which the offer has waited. */
const GAP_PART = 1 / 4
const DAY_S = 86_400
const MOST_OFFERS = 1_000

/** `sinceS`: when the offer began to wait. `toldS`: when a person was last told, or else `sinceS`. */
type Wait = { whys: Set<string>; sinceS: number; nextS: number; toldS: number }

export type Patience = {
  /** False while it is too early to ask about the offer again. */
  isDue(offerId: string): boolean
  /**
   * Records that the offer waits. `isNew`: it did not wait for this reason before. `isLong`: it has waited for a day; true
   * once a day.
   */
  wait(offerId: string, why: string): { isNew: boolean; isLong: boolean }
  end(offerId: string): void
}

/** `nowS`: seconds since 1970. */
export function createPatience(nowS: () => number): Patience {
  const waits = new Map<string, Wait>()
  return {
    isDue(offerId) {
      const aheadS = (waits.get(offerId)?.nextS ?? 0) - nowS()
      // After the clock was set back, the next time can be far away.
      return aheadS <= 0 || aheadS > LONGEST_GAP_S
    },
    wait(offerId, why) {
      const atS = nowS()
      const { whys, sinceS, toldS } = waits.get(offerId) ?? { whys: new Set(), sinceS: atS, toldS: atS }
      const nextS = atS + Math.min(Math.max(0, (atS - sinceS) * GAP_PART), LONGEST_GAP_S)
      const [isNew, isLong] = [!whys.has(why), atS - toldS >= DAY_S]
      waits.delete(offerId)
      waits.set(offerId, { whys: whys.add(why), sinceS, nextS, toldS: isLong ? atS : toldS })
      const [oldest] = waits.keys()
      if (waits.size > MOST_OFFERS && oldest !== undefined) waits.delete(oldest)
      return { isNew, isLong }
    },
    end: (offerId) => void waits.delete(offerId),
  }
}
