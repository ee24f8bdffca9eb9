/** Values that screens and effects derive from the state. */

import type { ErrorCode } from '../../contract/errors.ts'
import { DEFAULT_GAME, GAMES, type Game, type Phase } from '../../contract/games.ts'
import type { Item, Payment } from '../../contract/widget-api.ts'
import type { FlowState, Refusal, Sort, Stand } from './state.ts'

const TEMPORARY: readonly (string | null)[] = [
  // The gateway did not answer.
  null,
  ...([
    'steam_unavailable',
    'internal',
    'overloaded',
    'database_unavailable',
    'too_many_requests',
    'too_many_looks',
  ] satisfies ErrorCode[]),
]

/** True for a refusal that is not about the call itself, so the same call may soon succeed. */
export function isTemporary({ code }: Refusal): boolean {
  return TEMPORARY.includes(code)
}

/** Returns the games whose items the store takes. A gateway of the previous release does not send them. */
export function acceptedGames(payment: Pick<Partial<Payment>, 'games'> | null): readonly Game[] {
  return payment?.games ?? GAMES
}

/** The game that the stand opens on. */
export function firstGame(payment: Payment | null): Game {
  const accepted = acceptedGames(payment)
  return accepted.includes(DEFAULT_GAME) ? DEFAULT_GAME : (accepted[0] ?? DEFAULT_GAME)
}

/**
 * The other accepted games, the one with the highest `count` first. `count` is the number of usable items at this
 * page's last load of the game; null if it was never loaded, because loading costs a call to Steam. Games with a count
 * of 0 are left out.
 */
export function otherGames(stand: Stand, payment: Payment): { game: Game; count: number | null }[] {
  return acceptedGames(payment)
    .map((game) => ({ game, count: stand.counts[game] ?? null }))
    .filter(({ game, count }) => game !== stand.game && count !== 0)
    .sort((a, b) => (b.count ?? 0) - (a.count ?? 0))
}

/** The number of picks kept in each other game that has any. */
export function keptPicks(stand: Stand): { game: Game; count: number }[] {
  return GAMES.map((game) => ({ game, count: stand.elsewhere[game]?.length ?? 0 })).filter(
    ({ game, count }) => game !== stand.game && count > 0,
  )
}

/**
 * True if the shopper can pick: the deposit is `created`, and no offer is requested or being created. The items of such
 * an offer would be missing from the inventory.
 */
export const isPicking = ({ payment, modal }: FlowState): boolean =>
  payment?.status === 'created' && !payment.creating && modal.kind !== 'creating' && modal.kind !== 'joining'

/** The inventory on the page, even while a new one loads; null if there is none. */
export function shownInventory(stand: Stand) {
  const { inventory } = stand
  if (inventory.status === 'ready') return inventory.inventory
  return inventory.status === 'loading' ? inventory.kept : null
}

const indexes = new WeakMap<readonly Item[], ReadonlyMap<string, Item>>()

/** The items by asset id, indexed once per inventory, which may have thousands. */
export function itemsById(items: readonly Item[]): ReadonlyMap<string, Item> {
  let index = indexes.get(items)
  if (index === undefined) {
    index = new Map(items.map((item) => [item.id, item]))
    indexes.set(items, index)
  }
  return index
}

export function selectedItems(stand: Stand): Item[] {
  const items = itemsById(shownInventory(stand)?.items ?? [])
  return stand.selection.flatMap((id) => items.get(id) ?? [])
}

/** Sum of the picked items in minor units. */
export function selectedTotal(stand: Stand): number {
  return selectedItems(stand).reduce((sum, item) => sum + item.price, 0)
}

const reaches = new WeakMap<readonly Item[], { maxItems: number; reach: number }>()

/** The most that one offer can be worth. Computed once for each inventory, because every render needs it. */
export function reachOf(items: readonly Item[], maxItems: number): number {
  const cached = reaches.get(items)
  if (cached?.maxItems === maxItems) return cached.reach
  const descending = items.map(({ price }) => price).sort((a, b) => b - a)
  const reach = descending.slice(0, maxItems).reduce((sum, price) => sum + price, 0)
  reaches.set(items, { maxItems, reach })
  return reach
}

/**
 * Why Add funds is off. `loading`: the inventory is loading, or failed to load. `minimumAboveMaximum`: the deposit can
 * only be paid with another game. `outOfReach`: no picks can reach the minimum.
 */
export type PayBlock =
  | 'loading'
  | 'minimumAboveMaximum'
  | 'outOfReach'
  | 'nothingPicked'
  | 'belowMinimum'
  | 'aboveMaximum'

/** True if no pick of this game can help: the shopper needs another game, or another way to pay. */
export const isDeadEnd = (block: PayBlock | null): block is 'minimumAboveMaximum' | 'outOfReach' =>
  block === 'minimumAboveMaximum' || block === 'outOfReach'

/** Returns why Add funds is off; null if it is on. */
export function payBlock(stand: Stand, payment: Payment): PayBlock | null {
  if (stand.inventory.status !== 'ready') return 'loading'
  const { items, maxItems, minPrice } = stand.inventory.inventory
  if (payment.maxAmount !== null && payment.maxAmount < minPrice) return 'minimumAboveMaximum'
  if (reachOf(items, maxItems) < minPrice) return 'outOfReach'
  if (stand.selection.length === 0) return 'nothingPicked'
  const total = selectedTotal(stand)
  if (total < minPrice) return 'belowMinimum'
  if (payment.maxAmount !== null && total > payment.maxAmount) return 'aboveMaximum'
  return null
}

/** The words for the phases of a Doppler, which the search covers besides the name. */
type PhaseWords = Readonly<Record<Phase, string>>
type Row = { item: Item; folded: string }
/** Items in one order. `searchable` is built at the first search, and again after a change of language. */
type Sorted = { items: readonly Item[]; searchable?: { rows: readonly Row[]; words: PhaseWords | undefined } }

const sortedOf = new WeakMap<readonly Item[], Partial<Record<Sort, Sorted>>>()

/** Returns the items in the given order, sorted once for each inventory. */
function sortedIn(items: readonly Item[], sort: Sort): Sorted {
  const sortedByOrder = sortedOf.get(items) ?? {}
  sortedOf.set(items, sortedByOrder)
  sortedByOrder[sort] ??= { items: sortItems(items, sort) }
  return sortedByOrder[sort]
}

function sortItems(items: readonly Item[], sort: Sort): readonly Item[] {
  if (sort === 'default') return items
  return items.toSorted((a, b) => (sort === 'priceDown' ? b.price - a.price : a.price - b.price))
}

/** The items that match the search, in the chosen order. */
export function visibleItems(
  items: readonly Item[],
  search: string,
  { sort, words }: { sort: Sort; words?: PhaseWords },
): readonly Item[] {
  const wanted = fold(search.trim())
  const sorted = sortedIn(items, sort)
  if (wanted === '') return sorted.items
  if (sorted.searchable?.words !== words || sorted.searchable === undefined)
    sorted.searchable = {
      words,
      rows: sorted.items.map((item) => ({ item, folded: fold(searchedTextOf(item, words)) })),
    }
  const found: Item[] = []
  for (const { item, folded } of sorted.searchable.rows) if (folded.includes(wanted)) found.push(item)
  return found
}

const searchedTextOf = ({ name, phase }: Item, words: PhaseWords | undefined): string =>
  phase === undefined || words === undefined ? name : `${name} ${words[phase]}`

const ASCII = /^[ -~]*$/

/** Folds each letter separately: at the end of a word, toLowerCase turns Σ into ς, which a search for σ would miss. */
export function fold(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : Array.from(text, (letter) => letter.toLowerCase()).join('')
}

/** True in the states in which the page polls the payment once a second. */
export function isPolling(state: FlowState): boolean {
  return state.modal.kind === 'joining' || state.modal.kind === 'confirming'
}

/** How many times the page checks whether the store has accepted the webhook of a success, before it stops asking. */
const MOST_STORE_CHECKS = 8

/** True while the page waits for the store to accept the webhook of a success. */
export const awaitsStore = ({ payment, storeChecks }: FlowState): boolean =>
  payment?.storeTold === false && storeChecks < MOST_STORE_CHECKS

/** Whole seconds left at `nowMs` (monotonic), or null when unknown. */
export function secondsLeft(deadlineMs: number | null, nowMs: number): number | null {
  return deadlineMs === null ? null : Math.max(0, Math.ceil((deadlineMs - nowMs) / 1000))
}
