/** The activities of a state, such as a poll. The runner starts those that are new and aborts those that are gone. */
import type { Game } from '../../contract/games.ts'
import type { Language } from '../../contract/languages.ts'
import { isFinal } from '../../contract/statuses.ts'
import { awaitsStore, isPolling, isTemporary } from './selectors.ts'
import type { FlowState, Stand, TradeRequest } from './state.ts'

/** Pause between the last typed letter and the server's check of the link. */
export const DEBOUNCE_MS = 700
export const POLL_INTERVAL_MS = 1000
/** Pause before repeating a trade call whose outcome is unknown. */
const TRADE_REPEAT_MS = 2000
/** Pause before the next check of a page that failed, or of a deposit that is not polled but may change. */
const CHECK_PAUSE_MS = 5000
/**
 * Pause between two checks whether the store has accepted the webhook of a success. It is long because each check makes
 * the server refresh this deposit's view for ten seconds.
 */
const STORE_CHECK_PAUSE_MS = 15_000
/** How long the creation of an offer can take before the page calls it slow and lets the shopper step back. */
const PATIENCE_MS = 30_000
/** Pause between two checks while the server asks Steam for the shopper's account. */
const USER_PAUSE_MS = 2000

/** Activities with equal keys are the same activity. */
export type Activity =
  | { key: string; kind: 'loadPayment' }
  | { key: string; kind: 'poll' }
  /** One check of a deposit that is not polled: after `delayMs`, and not before `notBeforeMs` (monotonic). */
  | { key: string; kind: 'check'; delayMs: number; notBeforeMs: number }
  /** One read of another deposit, whose offer may still be open. */
  | { key: string; kind: 'readOtherOffer'; hash: string; delayMs: number }
  /** Waits until an offer that is being created counts as slow. */
  | { key: string; kind: 'patience'; forMs: number }
  | { key: string; kind: 'debounce' }
  | { key: string; kind: 'resolveUser'; request: number; tradeUrl: string }
  | {
      key: string
      kind: 'loadInventory'
      request: number
      game: Game
      language: Language
      isReload: boolean
    }
  | { key: string; kind: 'proposeItems'; request: number; target: number }
  | { key: string; kind: 'explainPrice'; request: number; item: string; quoteId: string }
  | { key: string; kind: 'createTrade'; attempt: number; trade: TradeRequest; delayMs: number }

export function activitiesOf(state: FlowState): Activity[] {
  const { page, modal } = state
  const activities: Activity[] = []
  if (page.stage === 'none') activities.push({ key: 'loadPayment', kind: 'loadPayment' })
  if (page.stage === 'wait-for-trade-url-input' || page.stage === 'wait-for-select-items') {
    const { link } = page
    if (link.status === 'debouncing') activities.push({ key: `debounce ${link.text}`, kind: 'debounce' })
    if (link.status === 'checking') {
      const { request, text } = link
      activities.push({ key: `user ${request}`, kind: 'resolveUser', request, tradeUrl: text.trim() })
    }
  }
  // Nothing can be picked for a deposit that has ended, and the server loads no inventory for it.
  const isOver = state.payment !== null && isFinal(state.payment.status)
  if (page.stage === 'wait-for-select-items' && page.stand.inventory.status === 'loading' && !isOver) {
    const { request, isReload } = page.stand.inventory
    const { game } = page.stand
    const { language } = state
    activities.push({ key: `inventory ${request}`, kind: 'loadInventory', request, game, language, isReload })
  }
  if (page.stage === 'wait-for-select-items' && page.stand.aim?.search.status === 'searching') {
    const { target, search } = page.stand.aim
    activities.push({
      key: `propose ${search.request}`,
      kind: 'proposeItems',
      request: search.request,
      target,
    })
  }
  const question = page.stage === 'wait-for-select-items' ? questionOf(page.stand) : null
  if (question !== null) activities.push(question)
  if (modal.kind === 'creating') {
    const { attempt, request: trade } = modal
    const delayMs = attempt === 1 ? 0 : TRADE_REPEAT_MS
    activities.push({
      key: `trade ${trade.items.join()} ${attempt}`,
      kind: 'createTrade',
      attempt,
      trade,
      delayMs,
    })
  }
  if ((modal.kind === 'creating' || modal.kind === 'joining') && !modal.isSlow)
    activities.push({ key: 'patience', kind: 'patience', forMs: PATIENCE_MS })
  if (isPolling(state)) activities.push({ key: 'poll', kind: 'poll' })
  const check = checkOf(state)
  if (check !== null) activities.push(check)
  const { otherOffer } = state
  if (otherOffer !== null && state.payment?.status === 'created') {
    const { hash, reads, delayMs } = otherOffer
    activities.push({ key: `other offer ${reads}`, kind: 'readOtherOffer', hash, delayMs })
  }
  return activities
}

function questionOf({ question, inventory }: Stand): Activity | null {
  const quoteId = inventory.status === 'ready' ? inventory.inventory.quoteId : null
  if (question === null || question.reason !== null || quoteId === null) return null
  const { request, id: item } = question
  return { key: `price ${request}`, kind: 'explainPrice', request, item, quoteId }
}

/**
 * Returns the next check of a deposit that is not polled. A shopper who comes back sees the current state immediately,
 * even of an ended deposit: a success may have followed, or the items may have been taken back. The other checks run
 * while the shopper does nothing. They notice that the store has accepted a webhook, that the shopper's account is
 * known, that the offer from which the shopper stepped back is open or has ended, that time is up, that technical works
 * are over, or that the server answers again. They also retry a page that could not be opened.
 */
function checkOf(state: FlowState): Activity | null {
  const { page, payment, modal, checks, checksFromMs } = state
  const check = { kind: 'check', notBeforeMs: 0 } as const
  if (page.stage === 'failed') {
    const delayMs = Math.max(CHECK_PAUSE_MS, (page.refusal.retryAfterS ?? 0) * 1000)
    return isTemporary(page.refusal) ? { ...check, key: `check ${checks} failed`, delayMs } : null
  }
  if (payment === null) return null
  if (modal.kind !== 'none' && modal.kind !== 'creationError' && modal.kind !== 'completed') return null
  if (state.isCheckDue) return { ...check, key: `check ${checks} now`, delayMs: 0 }
  if (awaitsStore(state)) return { ...check, key: `check ${checks} told`, delayMs: STORE_CHECK_PAUSE_MS }
  if (isFinal(payment.status)) return null
  const isOffered = payment.status === 'pending' || state.hasLeftOffer
  if (payment.technicalWorks || state.isPollFailing || isOffered)
    return { ...check, key: `check ${checks}`, delayMs: CHECK_PAUSE_MS }
  if (payment.userPending) return { ...check, key: `check ${checks} user`, delayMs: USER_PAUSE_MS }
  if (checksFromMs === null) return null
  return {
    ...check,
    key: `check ${checks} ${checksFromMs}`,
    delayMs: CHECK_PAUSE_MS,
    notBeforeMs: checksFromMs,
  }
}
