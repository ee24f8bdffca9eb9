/** The part of an amount that is credited at once, and the part that comes later. Pure. */
import type { Inventory, Payment } from '../../contract/widget-api.ts'

/** `isLeast`: more may be credited at once. `until` is ISO 8601; null where nothing is credited later. */
export type Split = { now: number; later: number; until: string | null; isLeast: boolean }

/** The money of items that are not paid with yet. */
export function forecast(total: number, hold: Inventory['hold']): Split {
  if (hold === null || total <= hold.atOnce) return { now: total, later: 0, until: null, isLeast: false }
  return { now: hold.atOnce, later: total - hold.atOnce, until: hold.until, isLeast: hold.atOnce > 0 }
}

/** The money that was promised with the open offer, or credited once the items came. */
export function creditOf({ amount, heldAmount, heldUntil, status }: Payment): Split | null {
  if (amount === null) return null
  const now = amount - heldAmount
  return {
    now,
    later: heldAmount,
    until: heldUntil,
    isLeast: status === 'pending' && heldAmount > 0 && now > 0,
  }
}
