import type { Game } from '../../contract/games.ts'
import type { Language } from '../../contract/languages.ts'
import type { Inventory, Payment, PriceReason, User } from '../../contract/widget-api.ts'
import type { Proposal } from './pick.ts'
import type { Dialogs, FlowState, Refusal, Sort } from './state.ts'

/** Everything that can happen to the deposit page. `atMs` is monotonic. */
export type FlowEvent =
  | { type: 'paymentLoaded'; payment: Payment; atMs: number }
  /** The payment came with the page, and was true at `atMs`. */
  | { type: 'paymentGiven'; payment: Payment; atMs: number }
  | { type: 'paymentUnchanged' }
  | { type: 'paymentFailed'; refusal: Refusal }
  | { type: 'retryPressed' }
  /** The page came back into sight, online or out of the browser's memory. */
  | { type: 'returned' }
  | { type: 'linkTyped'; text: string }
  /** The shopper agrees to use the link of an earlier visit here. */
  | { type: 'storedLinkConfirmed' }
  | { type: 'typingEnded' }
  | { type: 'userResolved'; request: number; user: User }
  | { type: 'userFailed'; request: number; refusal: Refusal }
  | { type: 'gameChosen'; game: Game }
  | { type: 'languageChosen'; language: Language }
  | { type: 'inventoryLoaded'; request: number; inventory: Inventory }
  | { type: 'inventoryFailed'; request: number; code?: string | null }
  | { type: 'reloadPressed' }
  | { type: 'itemToggled'; id: string }
  /** Picked besides those that are, as far as one offer takes them. */
  | { type: 'itemsAdded'; ids: readonly string[] }
  | { type: 'selectionCleared' }
  /** Items for this amount are wanted instead of those that are picked. */
  | { type: 'amountAsked'; amount: number }
  | { type: 'itemsProposed'; request: number; proposal: Proposal }
  | { type: 'priceQuestioned'; id: string }
  | { type: 'priceExplained'; request: number; reason: PriceReason | 'unknown' }
  | { type: 'priceUnderstood' }
  | { type: 'searchTyped'; text: string }
  | { type: 'sortChosen'; sort: Sort }
  | { type: 'payPressed' }
  | { type: 'tradeActive'; attempt: number }
  /** A lost answer, 5xx or 202: the offer may exist, so the same call is repeated. */
  | { type: 'tradeUnknown'; attempt: number }
  | { type: 'tradeRefused'; attempt: number; refusal: Refusal }
  /** An offer has been in the making for long. */
  | { type: 'patienceEnded' }
  | { type: 'confirmationLeft' }
  | { type: 'confirmationReopened' }
  | { type: 'creationErrorClosed' }
  | { type: 'dialogsChanged'; to: Dialogs['kind'] }
  | { type: 'connectionChanged'; online: boolean }

/** Things done once, at the moment of a transition. */
export type Effect =
  | { kind: 'toast'; toast: ToastText }
  | { kind: 'storeLink'; link: string }
  | { kind: 'storeLanguage'; language: Language }
  /** `afterMs`: what the page says must be read first. */
  | { kind: 'redirect'; url: string; afterMs: number }

/** A toast by meaning; the text is chosen in the page's language. */
export type ToastText =
  | { text: 'depositFailed'; detail: string | null }
  | { text: 'tooManyItems' }
  | { text: 'connectionBack' }

/** The state after an event, and what must happen besides. */
export type Step = { state: FlowState; effects: Effect[] }
