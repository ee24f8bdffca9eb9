/** What screens and effects read off the state. */
import type { Item, Payment } from '../../contract/widget-api.ts'
import type { FlowState, Sort, Stand } from './state.ts'

/** The inventory that is on the page, also while a new one loads; null when there is none. */
export function shownInventory(stand: Stand) {
  const { inventory } = stand
  if (inventory.status === 'ready') return inventory.inventory
  return inventory.status === 'loading' ? inventory.kept : null
}

export function selectedItems(stand: Stand): Item[] {
  const items = new Map(shownInventory(stand)?.items.map((item) => [item.id, item]))
  return stand.selection.flatMap((id) => items.get(id) ?? [])
}

/** Sum of the picked items in minor units. */
export function selectedTotal(stand: Stand): number {
  return selectedItems(stand).reduce((sum, item) => sum + item.price, 0)
}

/** Why the Pay button is off, or null when it is on. */
export type PayBlock = 'loading' | 'noItems' | 'belowMinimum' | 'aboveMaximum'

export function payBlock(stand: Stand, payment: Payment): PayBlock | null {
  if (stand.inventory.status !== 'ready') return 'loading'
  if (stand.selection.length === 0) return 'noItems'
  const total = selectedTotal(stand)
  if (total < stand.inventory.inventory.minPrice) return 'belowMinimum'
  if (payment.maxAmount !== null && total > payment.maxAmount) return 'aboveMaximum'
  return null
}

/** The items that match the search, in the chosen order. */
export function visibleItems(items: readonly Item[], search: string, sort: Sort): Item[] {
  const wanted = fold(search)
  const found = wanted === '' ? [...items] : items.filter((item) => fold(item.name).includes(wanted))
  if (sort === 'priceDown') found.sort((a, b) => b.price - a.price)
  if (sort === 'priceUp') found.sort((a, b) => a.price - b.price)
  return found
}

/** Letter by letter, so that a lower case that grows (İ) cannot break a piece of a name typed as written. */
function fold(text: string): string {
  return Array.from(text.trim(), (letter) => letter.toLowerCase()).join('')
}

/** The payment is asked for once a second in these states, and in no other. */
export function isPolling(state: FlowState): boolean {
  return state.modal.kind === 'joining' || state.modal.kind === 'confirming'
}

/** Whole seconds left at `nowMs` (monotonic), or null when unknown. */
export function secondsLeft(deadlineMs: number | null, nowMs: number): number | null {
  return deadlineMs === null ? null : Math.max(0, Math.ceil((deadlineMs - nowMs) / 1000))
}
