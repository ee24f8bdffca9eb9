import type { Inventory, Payment } from '../../contract/widget-api.ts'

/**
 * How certain the two parts of an amount are: what is credited at once, and what is credited later. `expected`: other
 * payments may change both parts before the offer. `least`: the offer promises the first part, and more may be credited
 * at once, so the later part is a maximum. `final`: the store's limit cannot change the parts.
 */
export type Certainty = 'expected' | 'least' | 'final'

/** Amounts in minor units. `until` is ISO 8601; null if nothing is credited later. */
export type Split = { now: number; later: number; until: string | null; certainty: Certainty }

/** The credit for picked items. Reserves nothing in the store's limit, so only the offer can promise amounts. */
export function forecast(total: number, hold: Inventory['hold']): Split {
  if (hold === null || total === 0) return { now: total, later: 0, until: null, certainty: 'final' }
  // If all of it is held until release, there is no limit that other payments could use up.
  const certainty = hold.by === 'release' && hold.atOnce === 0 ? 'final' : 'expected'
  if (total <= hold.atOnce) return { now: total, later: 0, until: null, certainty }
  return { now: hold.atOnce, later: total - hold.atOnce, until: hold.until, certainty }
}

/** Returns the amounts promised by the open offer, or credited after it; null before there is an offer. */
export function creditOf(payment: Payment): Split | null {
  const { amount, heldAmount, heldUntil, status } = payment
  if (amount === null) return null
  const canGrow = status === 'pending' && heldAmount > 0 && heldByOf(payment) === 'limit'
  return {
    now: amount - heldAmount,
    later: heldAmount,
    until: heldUntil,
    certainty: canGrow ? 'least' : 'final',
  }
}

/** True if the page of a success should be read before it redirects: credit is held, or items were taken back. */
export const needsReading = ({ heldUntil, takenBack }: Payment): boolean =>
  heldUntil !== null || takenBack !== undefined

/** The rule that holds a part back. An older server does not send it. */
export function heldByOf({ amount, heldAmount, heldBy }: Payment): NonNullable<Payment['heldBy']> {
  return heldBy ?? ((amount ?? 0) > heldAmount ? 'limit' : 'release')
}
