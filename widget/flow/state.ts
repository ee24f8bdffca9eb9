/** The deposit page as one value. */
import type { Game } from '../../contract/games.ts'
import type { Language } from '../../contract/languages.ts'
import type { FinalDepositStatus, InventoryErrorType } from '../../contract/statuses.ts'
import type { Inventory, Item, Payment, PriceReason, User } from '../../contract/widget-api.ts'
import type { Proposal } from './pick.ts'

/** A refused or lost call: the gateway's code and text, each null if it sent none. */
export type Refusal = {
  code: string | null
  detail: string | null
  /** Seconds until the same call may succeed, if the server said so. */
  retryAfterS?: number
  /** When the next offer may be sent, ISO 8601, if the server said so. */
  until?: string
  /** Steam's own reason, if it gave one. */
  cause?: string
  /** Set if something other than the gateway answered, for example a proxy whose server is down. */
  isFromProxy?: true
}

/**
 * The trade-link field. `idle`: empty. `stored` waits for the shopper's consent, because a deposit link sent by somebody
 * else must not reveal the shopper's account; `debouncing` waits for the end of typing, `checking` for the server.
 * `invalid`: not a trade link. `failed`: the server refused the link, or did not answer. `resolved`: the account is
 * known.
 */
export type LinkState =
  | { status: 'idle'; text: string }
  | { status: 'stored'; text: string }
  | { status: 'invalid'; text: string }
  | { status: 'debouncing'; text: string }
  | { status: 'checking'; text: string; request: number }
  | { status: 'failed'; text: string; refusal: Refusal }
  | { status: 'resolved'; text: string }

/**
 * The server sends `accountRestricted` as the cause of a failure, next to its type. The last two stand for refused
 * calls: `tooManyLooks` for too many calls, `gameNotAccepted` for a store that takes no items of the game.
 */
export type InventoryFailure = InventoryErrorType | 'accountRestricted' | 'tooManyLooks' | 'gameNotAccepted'

/**
 * `kept`: the last inventory, shown while a new one of the same game and user loads. `keptFailure`: a failure, shown
 * while a quiet look checks whether the shopper has solved it. `isReload`: ask Steam again.
 */
export type InventoryState =
  | {
      status: 'loading'
      request: number
      kept: Inventory | null
      isReload: boolean
      keptFailure?: InventoryFailure
    }
  | { status: 'ready'; inventory: Inventory }
  | { status: 'error'; type: InventoryFailure }

export const SORTS = ['default', 'priceDown', 'priceUp'] as const

/** `default` is the order of the server's answer, newest first. But a stand begins with `priceDown`. */
export type Sort = (typeof SORTS)[number]

/**
 * The amount for which the page proposes items, and the latest answer. `target` is the payable amount that is nearest to
 * the one that the shopper `asked` for. In minor units.
 */
export type Aim = {
  asked: number
  target: number
  search: { status: 'searching'; request: number } | { status: 'done'; proposal: Proposal }
}

/** The item whose price the shopper asks about. `reason` is null until the answer arrives. */
export type PriceQuestion = { id: string; request: number; reason: PriceReason | 'unknown' | null }

export type Stand = {
  user: User
  game: Game
  inventory: InventoryState
  /** Asset ids in the order they were picked. */
  selection: readonly string[]
  /** The picks that were just cleared, until anything else is picked or the game changes. */
  cleared: readonly string[]
  /** Picks that have no inventory yet, such as after a failed reload. The next inventory restores those it contains. */
  setAside: readonly string[]
  /** The picks in the other games: they come back with their game. */
  elsewhere: Partial<Record<Game, readonly string[]>>
  /** Number of usable items of each game when this page last loaded the game's inventory. */
  counts: Partial<Record<Game, number>>
  search: string
  sort: Sort
  /** Null until an amount is asked for, and after the picks are cleared, the game changes or a search is aborted. */
  aim: Aim | null
  question: PriceQuestion | null
  /**
   * Number of quiet looks: requests for the inventory that no press caused, to check whether the failure is solved.
   * Set to 0 by a press on Try again, a loaded inventory or a change of game.
   */
  quietLooks: number
}

/** The picks of this tab's last offer. If it fails, the account's next deposit at the store begins with them. */
export type OfferedPicks = {
  storeName: string
  /** The shopper's link without its token. */
  tradeUrl: string
  game: Game
  items: readonly Item[]
}

/** The picks of a deposit without an offer. The account's next stand of the deposit in this tab begins with them. */
export type OpenPicks = {
  hash: string
  /** The shopper's link without its token. */
  tradeUrl: string
  /** The game on the page. */
  game: Game
  byGame: Partial<Record<Game, readonly string[]>>
}

/** `none`: the payment is not loaded yet. `failed`: it could not be loaded. The other stages show it. */
export type Page =
  | { stage: 'none' }
  | { stage: 'failed'; refusal: Refusal }
  | { stage: 'wait-for-trade-url-input'; link: LinkState }
  | { stage: 'wait-for-select-items'; link: LinkState; stand: Stand }

/** The items that the shopper asked a bot to collect. */
export type TradeRequest = { game: Game; items: readonly string[]; quoteId: string | null }

export type Modal =
  | { kind: 'none' }
  /** This page's POST is under way, and repeated while its outcome is unknown. `isSlow`: the shopper may step back. */
  | { kind: 'creating'; request: TradeRequest; attempt: number; isSlow: boolean }
  /** An offer is being created, but this page has no POST under way: for example, the page was reloaded. */
  | { kind: 'joining'; isSlow: boolean }
  /** The offer is open, or was a moment ago. */
  | { kind: 'confirming' }
  /** `hasAlarm`: a sound warns the shopper that the offer ended suspiciously. */
  | { kind: 'completed'; outcome: FinalDepositStatus; hasAlarm: boolean }
  | { kind: 'creationError'; refusal: Refusal }

/** The code of the dialogs, which loads after the page. Paying waits for it. */
export type Dialogs =
  /** `isPayPressed`: Add funds was pressed, and takes effect when the code has loaded. */
  | { kind: 'loading'; isPayPressed: boolean }
  /** `isPayPressed`: Add funds was pressed, and had no effect. */
  | { kind: 'failed'; isPayPressed: boolean }
  | { kind: 'ready' }

/** An offer of an earlier deposit, which may still be open. */
export type OtherOffer = {
  /** The hash of that deposit. */
  hash: string
  /** The deposit as last read with an open offer; null until then. */
  deposit: Payment | null
  /** Monotonic milliseconds at which the offer ends; null when unknown. */
  deadlineMs: number | null
  /** Number of reads so far, and the pause before the next one. */
  reads: number
  delayMs: number
}

export type FlowState = {
  hash: string
  language: Language
  /** True once the shopper chose a language here; the choice survives reloads of the page. */
  isLanguageChosen: boolean
  /** The trade link that this browser has stored; null if it has none. */
  storedLink: string | null
  /** The picks of this tab's last offer, perhaps for an earlier deposit; null if there are none. */
  offeredPicks: OfferedPicks | null
  /** The picks that this tab keeps for the next stand of this deposit; null if there are none. */
  openPicks: OpenPicks | null
  /** True once a stand has opened: only the first stand gets the picks of another deposit's offer. */
  hasOpenedStand: boolean
  payment: Payment | null
  /** Monotonic milliseconds at which the shopper's time ends; null when unknown. */
  deadlineMs: number | null
  /**
   * The last known `deadlineMs`, kept when the deadline becomes unknown. Once it has passed, the page asks for the
   * deposit now and then, even while it does not poll. Null if none was known.
   */
  checksFromMs: number | null
  page: Page
  modal: Modal
  dialogs: Dialogs
  /** True if the shopper stepped back from an offer being created. The offer may still open. */
  hasLeftOffer: boolean
  /** Only this browser knows of it: the server must not lead one deposit's page to another's secret code. */
  otherOffer: OtherOffer | null
  /** True if the last call for the deposit failed. A toast reports only the first of several failures in a row. */
  isPollFailing: boolean
  isOnline: boolean
  /** Number of answers about the deposit while it is not polled. Each restarts the wait for the next check. */
  checks: number
  /** True if the page may be out of date and must ask the server at once, for example when the shopper comes back. */
  isCheckDue: boolean
  /** Number of answers since the page began to wait for the store to accept the webhook of a success. */
  storeChecks: number
  /** Number of the next request, to recognise late answers. */
  nextRequest: number
}

/** `language`: as this browser stored it. `chosenLanguage`: chosen for this deposit in this tab. */
export type Stored = {
  language: Language | null
  link: string | null
  chosenLanguage?: Language | null
  /** The hash of the last deposit that this browser saw with an open offer. */
  offer?: string | null
  picks?: OfferedPicks | null
  openPicks?: OpenPicks | null
}

export function initialState(hash: string, stored: Stored): FlowState {
  const chosen = stored.chosenLanguage ?? null
  const offer = stored.offer ?? hash
  return {
    hash,
    language: chosen ?? stored.language ?? 'en',
    isLanguageChosen: chosen !== null,
    storedLink: stored.link,
    offeredPicks: stored.picks ?? null,
    openPicks: stored.openPicks ?? null,
    hasOpenedStand: false,
    payment: null,
    deadlineMs: null,
    checksFromMs: null,
    page: { stage: 'none' },
    modal: { kind: 'none' },
    dialogs: { kind: 'loading', isPayPressed: false },
    hasLeftOffer: false,
    otherOffer:
      offer === hash ? null : { hash: offer, deposit: null, deadlineMs: null, reads: 0, delayMs: 0 },
    isPollFailing: false,
    isOnline: true,
    checks: 0,
    storeChecks: 0,
    isCheckDue: false,
    nextRequest: 1,
  }
}
