/** The part of an amount that is credited at once, and the part that comes later. Pure. */
import type { Inventory, Payment } from '../../contract/widget-api.ts'

/** `expected`: other payments may change it before the offer. `least`: more may be credited at once, and never less. */
export type Certainty = 'expected' | 'least' | 'final'

/** `until` is ISO 8601; null where nothing is credited later. */
export type Split = { now: number; later: number; until: string | null; certainty: Certainty }

/** The money of items that are not paid with yet. No room is kept for it, so only the offer can promise an amount. */
export function forecast(total: number, hold: Inventory['hold']): Split {
  if (hold === null || total === 0) return { now: total, later: 0, until: null, certainty: 'final' }
  const certainty = 'expected'
  if (total <= hold.atOnce) return { now: total, later: 0, until: null, certainty }
  return { now: hold.atOnce, later: total - hold.atOnce, until: hold.until, certainty }
}

/** The money that was promised with the open offer, or credited once the items came. */
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
