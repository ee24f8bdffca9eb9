import { GAMES } from '../../contract/games.ts'
import type { Language } from '../../contract/languages.ts'
import type { DepositStatus } from '../../contract/statuses.ts'
import { aPayment } from '../../contract/testing/payment.ts'
import type { Inventory, Item, Payment, User } from '../../contract/widget-api.ts'
import { type Activity, activitiesOf } from './activities.ts'
import type { Effect, FlowEvent } from './events.ts'
import { reduce } from './reduce.ts'
import {
  type FlowState,
  initialState,
  type Modal,
  type OfferedPicks,
  type OpenPicks,
  type Stand,
} from './state.ts'

export const HASH = '0123456789abcdef0123456789abcdef'
export const LINK = 'https://steamcommunity.com/tradeoffer/new/?partner=123456&token=aB3_-xyz'
export const OTHER_LINK = 'https://steamcommunity.com/tradeoffer/new/?partner=654321&token=abc'

/** LINK as the server sends it: without the token. */
export const USER_LINK = 'https://steamcommunity.com/tradeoffer/new/?partner=123456'

export const USER: User = {
  name: 'Ada',
  profileUrl: 'https://p/',
  avatarUrl: 'https://a/',
  tradeUrl: USER_LINK,
}

export const payment = (change: Partial<Payment> = {}): Payment =>
  aPayment({ hash: HASH, storeName: 'Demo', user: USER, games: [...GAMES], ...change })

export function item(id: string, price = 200, name = `Item ${id}`): Item {
  return {
    id,
    name,
    iconUrl: 'https://img.test/1.png',
    price,
    rarity: 'rarity-1',
    rarityName: null,
    wearCategory: null,
    isStatTrak: false,
  }
}

export function inventory(items: Item[], change: Partial<Inventory> = {}): Inventory {
  return {
    items,
    minPrice: 300,
    currency: 'USD',
    maxItems: 50,
    hold: null,
    unavailableItems: 0,
    unavailableByReason: {},
    quoteId: 'quote-1',
    ageSeconds: 0,
    inventoryError: false,
    inventoryErrorType: null,
    ...change,
  }
}

export function play(state: FlowState, ...events: FlowEvent[]): { state: FlowState; effects: Effect[] } {
  const effects: Effect[] = []
  let current = state
  for (const event of events) {
    const step = reduce(current, event)
    current = step.state
    effects.push(...step.effects)
  }
  return { state: current, effects }
}

type Stored = {
  language?: Language
  chosenLanguage?: Language
  link?: string
  offer?: string
  picks?: OfferedPicks
  openPicks?: OpenPicks
}

/** The initial page, with the code of its dialogs loaded. */
export function opening(stored: Stored = {}): FlowState {
  const state = initialState(HASH, { language: null, link: null, ...stored })
  return { ...state, dialogs: { kind: 'ready' } }
}

/** The event of an answer about the deposit. */
export const loaded = (change: Partial<Payment> = {}, atMs = 0): FlowEvent => ({
  kind: 'paymentLoaded',
  payment: payment(change),
  atMs,
})

export const awaitingLink = (): FlowState => play(opening(), loaded({ user: null })).state

/** A deposit whose user is known, with items to pick from. */
export function withItems(
  items: Item[] = [item('1'), item('2'), item('3')],
  change: Partial<Inventory> = {},
): FlowState {
  const { state } = play(opening(), loaded())
  return withInventory(state, inventory(items, change))
}

/** Returns the activities without two kinds: checks of a deposit that is not polled, and the timer for a slow offer. */
export const shownActivities = (state: FlowState): Activity[] =>
  activitiesOf(state).filter(({ kind }) => kind !== 'check' && kind !== 'patience')

/** Returns the state after the requested inventory has arrived. */
export function withInventory(state: FlowState, arrived: Inventory): FlowState {
  return play(state, { kind: 'inventoryLoaded', request: inventoryRequest(state), inventory: arrived }).state
}

/** The number of the inventory request under way. */
export function inventoryRequest(state: FlowState): number {
  const { inventory: loading } = standOf(state)
  if (loading.status !== 'loading') throw new Error('no inventory is being loaded')
  return loading.request
}

export function standOf(state: FlowState): Stand {
  if (state.page.stage !== 'wait-for-select-items') throw new Error('the inventory is not on the page')
  return state.page.stand
}

export const toggle = (id: string): FlowEvent => ({ kind: 'itemToggled', id })

/** Two items are picked and Add funds was pressed: the trade is being created. */
export const creating = (): FlowState =>
  play(withItems(), toggle('1'), toggle('2'), { kind: 'payPressed' }).state

/** The offer is open, and the page shows its dialog. */
export const confirming = (): FlowState =>
  play(creating(), { kind: 'tradeActive', attempt: 1 }, loaded({ status: 'pending', timeLeft: 300 })).state

export const modalKind = (state: FlowState): Modal['kind'] => state.modal.kind

export const openedOn = (status: DepositStatus, change: Partial<Payment> = {}): FlowState =>
  play(opening(), loaded({ status, ...change })).state
