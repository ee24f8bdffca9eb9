import type { Game } from '../../contract/games.ts'
import type { Language } from '../../contract/languages.ts'
import type { Inventory, Payment, PriceReason, User } from '../../contract/widget-api.ts'
import type { Proposal } from './pick.ts'
import type { Dialogs, FlowState, OfferedPicks, OpenPicks, Refusal, Sort } from './state.ts'

/** Everything that can happen to the deposit page. `atMs` is monotonic. */
export type FlowEvent =
  | { kind: 'paymentLoaded'; payment: Payment; atMs: number }
  /** The flow started, perhaps on a payment that came with the page. */
  | { kind: 'opened' }
  /** The payment was requested, and is still the same. */
  | { kind: 'paymentUnchanged' }
  | { kind: 'paymentFailed'; refusal: Refusal }
  /** The shopper presses Try again, after the page could not be opened or a link could not be checked. */
  | { kind: 'retryPressed' }
  /** The page became visible, went online, woke from sleep or was restored from the browser's memory. */
  | { kind: 'returned' }
  | { kind: 'linkTyped'; text: string }
  /** The shopper agrees to pay this deposit with the trade link of an earlier visit. */
  | { kind: 'storedLinkConfirmed' }
  /** The pause after the last letter of a link has passed. */
  | { kind: 'typingEnded' }
  | { kind: 'userResolved'; request: number; user: User }
  | { kind: 'userFailed'; request: number; refusal: Refusal }
  | { kind: 'gameChosen'; game: Game }
  | { kind: 'languageChosen'; language: Language }
  | { kind: 'inventoryLoaded'; request: number; inventory: Inventory }
  | { kind: 'inventoryFailed'; request: number; code?: string | null }
  /** The shopper asks Steam for the inventory again, or presses Try again after it failed to load. */
  | { kind: 'reloadPressed' }
  | { kind: 'itemToggled'; id: string }
  /** Adds items to the picks, up to the most that one offer may have. */
  | { kind: 'itemsAdded'; ids: readonly string[] }
  | { kind: 'selectionCleared' }
  | { kind: 'clearUndone' }
  /** Asks for items worth this amount, to replace the picks. */
  | { kind: 'amountAsked'; amount: number }
  | { kind: 'itemsProposed'; request: number; proposal: Proposal }
  /** The shopper asks why an item has its price. */
  | { kind: 'priceQuestioned'; id: string }
  | { kind: 'priceExplained'; request: number; reason: PriceReason | 'unknown' }
  | { kind: 'priceExplanationClosed' }
  | { kind: 'searchTyped'; text: string }
  | { kind: 'sortChosen'; sort: Sort }
  | { kind: 'payPressed' }
  /** The server says that the offer is open. */
  | { kind: 'tradeActive'; attempt: number }
  /** The answer was lost, or leaves open whether the offer exists. The same call is repeated. */
  | { kind: 'tradeUnknown'; attempt: number }
  | { kind: 'tradeRefused'; attempt: number; refusal: Refusal }
  /** The offer is taking long to create. */
  | { kind: 'patienceEnded' }
  | { kind: 'confirmationLeft' }
  | { kind: 'confirmationReopened' }
  | { kind: 'creationErrorClosed' }
  /** The code of the dialogs is loading, has failed to load, or has loaded. */
  | { kind: 'dialogsChanged'; to: Dialogs['kind'] }
  | { kind: 'connectionChanged'; isOnline: boolean }
  /** Another deposit was read. Its offer is open (`deposit`), or it is not (`isGone`). Without an answer: neither. */
  | { kind: 'otherOfferRead'; deposit: Payment | null; isGone: boolean; atMs: number }

/** Side effects that run once, at a transition. */
export type Effect =
  | { kind: 'toast'; toast: ToastText }
  /** Removes the toast with this meaning if it is still on the page. */
  | { kind: 'removeToast'; text: ToastText['text'] }
  | { kind: 'storeLink'; link: string }
  | { kind: 'storeLanguage'; language: Language }
  /** Remembers this deposit's open offer for the pages of later deposits. */
  | { kind: 'storeOffer'; hash: string }
  | { kind: 'forgetOffer'; hash: string }
  /** Remembers the picks of a requested offer, so they return if the offer fails. */
  | { kind: 'storePicks'; picks: OfferedPicks }
  | { kind: 'forgetPicks' }
  /** Remembers the picks for the next page of this deposit in this tab. Null forgets them. */
  | { kind: 'storeOpenPicks'; picks: OpenPicks | null }
  /** `afterMs`: a delay, so the shopper can read the page first. */
  | { kind: 'redirect'; url: string; afterMs: number }

/** A toast by its meaning; the page adds the text in its language. */
export type ToastText =
  | { text: 'depositFailed'; detail: string | null }
  | { text: 'tooManyItems' }
  | { text: 'connectionBack' }

export type Step = { state: FlowState; effects: Effect[] }
