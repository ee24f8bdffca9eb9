/** Splits an amount into the part credited at once and the part credited later. Pure. */
import type { Inventory, Payment } from '../../contract/widget-api.ts'

/** `expected`: other payments may change it before the offer. `least`: more may be credited at once, never less. */
export type Certainty = 'expected' | 'least' | 'final'

/** `until` is ISO 8601; null if nothing is credited later. */
export type Split = { now: number; later: number; until: string | null; certainty: Certainty }

/** Forecasts the credit for picked items. The hold limit is not reserved, so only the offer can promise amounts. */
export function forecast(total: number, hold: Inventory['hold']): Split {
  if (hold === null || total === 0) return { now: total, later: 0, until: null, certainty: 'final' }
  const certainty = 'expected'
  if (total <= hold.atOnce) return { now: total, later: 0, until: null, certainty }
  return { now: hold.atOnce, later: total - hold.atOnce, until: hold.until, certainty }
}

/** Returns the amounts promised by the open offer, or credited after it. */
export function creditOf({ amount, heldAmount, heldUntil, status }: Payment): Split | null {
  if (amount === null) return null
  const now = amount - heldAmount
  return {
    now,
    later: heldAmount,
    until: heldUntil,
    certainty: status === 'pending' && heldAmount > 0 ? 'least' : 'final',
  }
}
