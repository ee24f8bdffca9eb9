import type { ErrorCode } from '../../contract/errors.ts'
import type { Game } from '../../contract/games.ts'
import type { Inventory } from '../../contract/widget-api.ts'
import type { Effect, FlowEvent, Step } from './events.ts'
import type { Proposal } from './pick.ts'
import { acceptedGames, isPicking, itemsById, shownInventory } from './selectors.ts'
import type { FlowState, InventoryFailure, Stand } from './state.ts'

type StandEvent = Extract<
  FlowEvent,
  {
    kind:
      | 'gameChosen'
      | 'languageChosen'
      | 'inventoryLoaded'
      | 'inventoryFailed'
      | 'reloadPressed'
      | 'itemToggled'
      | 'itemsAdded'
      | 'selectionCleared'
      | 'clearUndone'
      | 'amountAsked'
      | 'itemsProposed'
      | 'priceQuestioned'
      | 'priceExplained'
      | 'priceExplanationClosed'
      | 'searchTyped'
      | 'sortChosen'
  }
>

/** Returns the state after an event of the stand. Clearing can be undone until another item or game is chosen. */
export function reduceStand(before: FlowState, event: StandEvent): Step {
  const { state, effects } = standStep(before, event)
  if (event.kind === 'selectionCleared' || state.page.stage !== 'wait-for-select-items')
    return { state, effects }
  const { cleared, selection } = state.page.stand
  const isUndoOver = cleared.length > 0 && selection.length > 0
  return { state: isUndoOver ? withStand(state, { cleared: [] }) : state, effects }
}

function standStep(state: FlowState, event: StandEvent): Step {
  if (event.kind === 'languageChosen') {
    const withLanguage = { ...state, language: event.language, isLanguageChosen: true }
    return {
      state: event.language === state.language ? withLanguage : reloadInventory(withLanguage, {}, false),
      effects: [{ kind: 'storeLanguage', language: event.language }],
    }
  }
  if (state.page.stage !== 'wait-for-select-items') return { state, effects: [] }
  const { stand } = state.page
  switch (event.kind) {
    case 'gameChosen': {
      if (event.game === stand.game || !acceptedGames(state.payment).includes(event.game))
        return { state, effects: [] }
      return {
        state: reloadInventory(state, { ...switchGame(stand, event.game), inventory: NO_INVENTORY }, false),
        effects: [],
      }
    }
    case 'reloadPressed':
      return { state: reloadInventory(state, { quietLooks: 0 }, true), effects: [] }
    case 'inventoryLoaded':
      return { state: inventoryLoaded(state, stand, event), effects: [] }
    case 'inventoryFailed':
      return { state: inventoryFailed(state, stand, event), effects: [] }
    case 'itemToggled':
      return itemToggled(state, stand, event.id)
    case 'itemsAdded':
      return itemsAdded(state, stand, event.ids)
    case 'selectionCleared':
      return {
        state: withStand(state, { selection: [], setAside: [], aim: null, cleared: stand.selection }),
        effects: [],
      }
    case 'clearUndone':
      return { state: clearUndone(state, stand), effects: [] }
    case 'amountAsked':
      return { state: amountAsked(state, stand, event.amount), effects: [] }
    case 'itemsProposed':
      return { state: itemsProposed(state, stand, event), effects: [] }
    case 'priceQuestioned':
      return { state: priceQuestioned(state, stand, event.id), effects: [] }
    case 'priceExplained': {
      const { question } = stand
      if (question?.request !== event.request) return { state, effects: [] }
      return { state: withStand(state, { question: { ...question, reason: event.reason } }), effects: [] }
    }
    case 'priceExplanationClosed':
      return { state: stand.question === null ? state : withStand(state, { question: null }), effects: [] }
    case 'searchTyped':
      return { state: withStand(state, { search: event.text }), effects: [] }
    case 'sortChosen':
      return { state: withStand(state, { sort: event.sort }), effects: [] }
    default:
      return event satisfies never
  }
}

/** Passed to `reloadInventory` in place of a shown inventory that must not stay on the page: an error has no items. */
const NO_INVENTORY: Stand['inventory'] = { status: 'error', type: 'internal' }

/** Each game keeps its picks: the old game's go to `elsewhere`, and the new game's return with its items. */
function switchGame({ game: oldGame, selection, setAside, elsewhere }: Stand, game: Game): Partial<Stand> {
  const picks = { ...elsewhere, [oldGame]: [...setAside, ...selection] }
  const fresh = { selection: [], cleared: [], search: '', aim: null, quietLooks: 0 }
  return { ...fresh, game, setAside: picks[game] ?? [], elsewhere: { ...picks, [game]: [] } }
}

function clearUndone(state: FlowState, stand: Stand): FlowState {
  if (stand.cleared.length === 0) return state
  const inventory = shownInventory(stand)
  // While there is no inventory, the picks wait: the next inventory restores them.
  if (inventory === null) return withStand(state, { setAside: stand.cleared, cleared: [] })
  const byId = itemsById(inventory.items)
  return withStand(state, { selection: stand.cleared.filter((id) => byId.has(id)), cleared: [] })
}

function withStand(state: FlowState, change: Partial<Stand>): FlowState {
  if (state.page.stage !== 'wait-for-select-items') return state
  return { ...state, page: { ...state.page, stand: { ...state.page.stand, ...change } } }
}

/** At most this many returns of the shopper, perhaps from Steam's privacy settings, cause a check. */
const MOST_QUIET_LOOKS = 5

/** Checks whether a hidden inventory is public by now. The failure stays on the page until the answer arrives. */
export function lookQuietly(state: FlowState): FlowState {
  if (state.page.stage !== 'wait-for-select-items') return state
  const { inventory, quietLooks } = state.page.stand
  const isHidden = inventory.status === 'error' && inventory.type === 'hidden'
  if (!isHidden || quietLooks >= MOST_QUIET_LOOKS) return state
  const request = state.nextRequest
  const loading = {
    status: 'loading',
    request,
    kept: null,
    isReload: true,
    keptFailure: inventory.type,
  } as const
  return withStand({ ...state, nextRequest: request + 1 }, { inventory: loading, quietLooks: quietLooks + 1 })
}

/**
 * Loads the inventory again. The shown inventory stays until the answer, if it is of the same game. Checks the deposit
 * too, because the answer may have the items of an account that another page of the deposit has entered.
 */
export function reloadInventory(state: FlowState, change: Partial<Stand>, isReload: boolean): FlowState {
  if (state.page.stage !== 'wait-for-select-items') return state
  const stand = { ...state.page.stand, ...change }
  const request = state.nextRequest
  return withStand(
    { ...state, nextRequest: request + 1, isCheckDue: true },
    {
      aim: withoutSearch(stand),
      question: null,
      ...change,
      inventory: { status: 'loading', request, kept: shownInventory(stand), isReload },
    },
  )
}

/** Loads the items again if picks are missing because of an offer that has failed. */
export function returnSetAside(state: FlowState): FlowState {
  const { page } = state
  const isMissing =
    page.stage === 'wait-for-select-items' &&
    page.stand.inventory.status === 'ready' &&
    page.stand.setAside.length > 0
  return isMissing ? reloadInventory(state, {}, false) : state
}

function isCurrent(stand: Stand, request: number): boolean {
  return stand.inventory.status === 'loading' && stand.inventory.request === request
}

function inventoryLoaded(
  state: FlowState,
  stand: Stand,
  answer: { request: number; inventory: Inventory },
): FlowState {
  if (!isCurrent(stand, answer.request)) return state
  const { inventory } = answer
  if (inventory.inventoryError) {
    const type = inventory.inventoryErrorCause ?? inventory.inventoryErrorType ?? 'internal'
    // Remember that this game has no items, so the page suggests another game next.
    const counts = type === 'tradeNotAvailable' ? { ...stand.counts, [stand.game]: 0 } : stand.counts
    const failed = showFailure(state, { ...stand, counts }, type)
    // If maintenance began after the page last read the deposit, the deposit's view now says why and until when.
    const isNews = type === 'engineeringWorks' && state.payment?.technicalWorks === false
    return isNews ? { ...failed, isCheckDue: true } : failed
  }
  const byId = itemsById(inventory.items)
  const picks = [...stand.setAside, ...stand.selection]
  return withStand(state, {
    inventory: { status: 'ready', inventory },
    selection: picks.filter((id) => byId.has(id)),
    // The offer's items are missing while it is open. If it fails, they come back.
    setAside: isPicking(state) ? [] : picks.filter((id) => !byId.has(id)),
    quietLooks: 0,
    counts: { ...stand.counts, [stand.game]: inventory.items.length },
  })
}

const FAILURES: Partial<Record<string, InventoryFailure>> = {
  too_many_looks: 'tooManyLooks',
  game_not_accepted: 'gameNotAccepted',
} satisfies Partial<Record<ErrorCode, InventoryFailure>>

function inventoryFailed(
  state: FlowState,
  stand: Stand,
  { request, code }: { request: number; code?: string | null },
): FlowState {
  if (!isCurrent(stand, request)) return state
  // A quiet look without an answer tells nothing new: keep the failure that it should have checked.
  const kept = stand.inventory.status === 'loading' ? stand.inventory.keptFailure : undefined
  const failed = showFailure(state, stand, kept ?? FAILURES[code ?? ''] ?? 'internal')
  // The store may have cancelled the deposit, which this page does not know yet.
  return code === ('deposit_closed' satisfies ErrorCode) ? { ...failed, isCheckDue: true } : failed
}

/** Shows an error, and sets the picks aside until the items come back. */
function showFailure(state: FlowState, stand: Stand, type: InventoryFailure): FlowState {
  const setAside = [...stand.setAside, ...stand.selection]
  const { counts } = stand
  return withStand(state, { counts, inventory: { status: 'error', type }, selection: [], setAside })
}

/** Returns the state with an error in place of the stand's items; unchanged without a stand. */
export function withFailure(state: FlowState, type: InventoryFailure): FlowState {
  return state.page.stage === 'wait-for-select-items' ? showFailure(state, state.page.stand, type) : state
}

/** Searches for items worth the amount, limited to the payable range, while the deposit is `created`. */
function amountAsked(state: FlowState, stand: Stand, asked: number): FlowState {
  const { payment, nextRequest: request } = state
  if (stand.inventory.status !== 'ready' || payment?.status !== 'created') return state
  const target = Math.min(
    Math.max(asked, stand.inventory.inventory.minPrice, 1),
    payment.maxAmount ?? Number.POSITIVE_INFINITY,
  )
  const aim: Stand['aim'] = { asked, target, search: { status: 'searching', request } }
  return withStand({ ...state, nextRequest: request + 1 }, { aim })
}

/** Asks for the reason behind a price, from the quote that contains the price. */
function priceQuestioned(state: FlowState, stand: Stand, id: string): FlowState {
  const { inventory } = stand
  if (inventory.status !== 'ready' || !itemsById(inventory.inventory.items).has(id)) return state
  const request = state.nextRequest
  const question = { id, request, reason: inventory.inventory.quoteId === null ? ('unknown' as const) : null }
  return withStand({ ...state, nextRequest: request + 1 }, { question })
}

/** A search ends when its items change, or when the shopper changes the picks. */
const withoutSearch = ({ aim }: Stand): Stand['aim'] => (aim?.search.status === 'searching' ? null : aim)

function itemsProposed(
  state: FlowState,
  stand: Stand,
  { request, proposal }: { request: number; proposal: Proposal },
): FlowState {
  const { aim } = stand
  if (aim?.search.status !== 'searching' || aim.search.request !== request) return state
  // Add funds was pressed in the meantime, for the picks at that moment: keep them.
  if (state.modal.kind !== 'none') return withStand(state, { aim: null })
  const done: Stand['aim'] = { ...aim, search: { status: 'done', proposal } }
  const inventory = shownInventory(stand)
  if (proposal.kind !== 'found' || inventory === null) return withStand(state, { aim: done })
  const byId = itemsById(inventory.items)
  const selection = proposal.ids.filter((id) => byId.has(id)).slice(0, inventory.maxItems)
  return withStand(state, { aim: done, selection })
}

function itemToggled(state: FlowState, stand: Stand, id: string): Step {
  const aim = withoutSearch(stand)
  if (stand.selection.includes(id)) {
    return {
      state: withStand(state, { aim, selection: stand.selection.filter((other) => other !== id) }),
      effects: [],
    }
  }
  const inventory = shownInventory(stand)
  if (inventory === null || !itemsById(inventory.items).has(id)) return { state, effects: [] }
  if (stand.selection.length >= inventory.maxItems) {
    return { state, effects: [{ kind: 'toast', toast: { text: 'tooManyItems' } }] }
  }
  return { state: withStand(state, { aim, selection: [...stand.selection, id] }), effects: [] }
}

function itemsAdded(state: FlowState, stand: Stand, ids: readonly string[]): Step {
  const inventory = shownInventory(stand)
  if (inventory === null) return { state, effects: [] }
  const byId = itemsById(inventory.items)
  const wanted = new Set([...stand.selection, ...ids.filter((id) => byId.has(id))])
  const selection = [...wanted].slice(0, Math.max(inventory.maxItems, stand.selection.length))
  const effects: Effect[] =
    selection.length < wanted.size ? [{ kind: 'toast', toast: { text: 'tooManyItems' } }] : []
  if (selection.length === stand.selection.length) return { state, effects }
  return { state: withStand(state, { aim: withoutSearch(stand), selection }), effects }
}
