/** The single transition function of the deposit page: pure, and defined for every event in every state. */
import type { ErrorCode } from '../../contract/errors.ts'
import { isBefore, isFinal } from '../../contract/statuses.ts'
import { parseTradeLink } from '../../contract/trade-link.ts'
import type { Payment, User } from '../../contract/widget-api.ts'
import type { Effect, FlowEvent, Step } from './events.ts'
import {
  checkLink,
  deadlineOf,
  fieldStep,
  linkOf,
  linkOfUser,
  openPage,
  withPayment,
  withUser,
} from './first-steps.ts'
import { withOpenPicks } from './open-picks.ts'
import { lookQuietly, reduceStand, reloadInventory, returnSetAside } from './reduce-stand.ts'
import { reduceTrade } from './reduce-trade.ts'
import { awaitsStore, isPolling, isTemporary } from './selectors.ts'
import { needsReading } from './split.ts'
import type { FlowState, Refusal, Stand } from './state.ts'

export function reduce(before: FlowState, event: FlowEvent): Step {
  const { state, effects } = withOpenPicks(stepOf(before, event), event)
  // A poll asks at once, so drop a due check: it would ask again after the shopper has left the dialog.
  return state.isCheckDue && isPolling(state)
    ? { state: { ...state, isCheckDue: false }, effects }
    : { state, effects }
}

function stepOf(state: FlowState, event: FlowEvent): Step {
  switch (event.kind) {
    case 'paymentLoaded':
      return paymentLoaded(withNextCheck(state), event.payment, event.atMs)
    case 'opened':
      return opened(state)
    case 'paymentUnchanged':
      return withoutEffects(withNextCheck(state.isPollFailing ? { ...state, isPollFailing: false } : state))
    case 'paymentFailed':
      return paymentFailed(withNextCheck(state), event.refusal)
    case 'returned':
      return withoutEffects(returned(state))
    case 'retryPressed':
      return withoutEffects(retryPressed(state))
    case 'linkTyped':
    case 'storedLinkConfirmed':
      return withoutEffects(fieldStep(state, event) ?? state)
    case 'typingEnded':
      return withoutEffects(typingEnded(state))
    case 'userResolved':
      return userResolved(state, event.request, event.user)
    case 'userFailed':
      return withoutEffects(userFailed(state, event.request, event.refusal))
    case 'connectionChanged':
      return connectionChanged(state, event.isOnline)
    case 'otherOfferRead':
      return otherOfferRead(state, event)
    case 'gameChosen':
    case 'languageChosen':
    case 'inventoryLoaded':
    case 'inventoryFailed':
    case 'reloadPressed':
    case 'itemToggled':
    case 'itemsAdded':
    case 'selectionCleared':
    case 'clearUndone':
    case 'amountAsked':
    case 'itemsProposed':
    case 'searchTyped':
    case 'sortChosen':
      return withoutWaitingPress(reduceStand(state, event))
    case 'priceQuestioned':
    case 'priceExplained':
    case 'priceExplanationClosed':
      return reduceStand(state, event)
    case 'payPressed':
    case 'tradeActive':
    case 'tradeUnknown':
    case 'tradeRefused':
    case 'patienceEnded':
    case 'confirmationLeft':
    case 'confirmationReopened':
    case 'creationErrorClosed':
    case 'dialogsChanged':
      return reduceTrade(state, event)
    default:
      return event satisfies never
  }
}

/** Cancels a waiting press on Add funds once the items change: the press was for the items shown at the time. */
function withoutWaitingPress(step: Step): Step {
  const { dialogs } = step.state
  if (dialogs.kind !== 'loading' || !dialogs.isPayPressed) return step
  return { ...step, state: { ...step.state, dialogs: { kind: 'loading', isPayPressed: false } } }
}

/**
 * Restarts the wait for the next check after an answer. Does nothing while the page polls. Once the deposit has ended,
 * does so only if an immediate check (`isCheckDue`) was due, or the store has yet to accept the webhook of the success.
 */
function withNextCheck(state: FlowState): FlowState {
  const awaits = awaitsStore(state)
  const hasEnded = state.modal.kind === 'completed' && !state.isCheckDue && !awaits
  if (isPolling(state) || hasEnded) return state
  return {
    ...state,
    checks: state.checks + 1,
    storeChecks: state.storeChecks + Number(awaits),
    isCheckDue: false,
  }
}

/**
 * A page that could not be opened tries again if that may help. A page that shows a deposit repeats what failed, and
 * checks whether the deposit has changed, unless it polls. Even a success changes if its items are taken back.
 */
function returned(state: FlowState): FlowState {
  const { page, payment } = state
  if (page.stage === 'failed' && isTemporary(page.refusal)) return { ...state, page: { stage: 'none' } }
  const withLook = lookQuietly(repeatFailed(state))
  return payment === null ? withLook : { ...withLook, isCheckDue: true }
}

function retryPressed(state: FlowState): FlowState {
  if (state.page.stage === 'failed') return { ...state, page: { stage: 'none' } }
  const link = linkOf(state.page)
  return link?.status === 'failed' ? checkLink(state, link.text) : state
}

/** Repeats a failed link check or inventory load that may succeed now. */
function repeatFailed(state: FlowState): FlowState {
  const { page } = state
  if (page.stage === 'wait-for-select-items' && isInternalError(page.stand))
    return reloadInventory(state, {}, false)
  const link = linkOf(page)
  return link?.status === 'failed' && isTemporary(link.refusal) ? checkLink(state, link.text) : state
}

/** Checks again a link that was refused because of an offer, once that offer is over and the deposit still open. */
function repeatBlockedLink(state: FlowState): FlowState {
  const { page, payment } = state
  const link = linkOf(page)
  const isBlocked =
    link?.status === 'failed' && link.refusal.code === ('trade_in_progress' satisfies ErrorCode)
  return isBlocked && payment?.status === 'created' && !payment.creating ? checkLink(state, link.text) : state
}

const withoutEffects = (state: FlowState): Step => ({ state, effects: [] })

function paymentLoaded(before: FlowState, payment: Payment, atMs: number): Step {
  if (before.payment !== null && isBefore(payment.status, before.payment.status)) {
    return withoutEffects(before.isPollFailing ? { ...before, isPollFailing: false } : before)
  }
  const modal = modalAfter(before, payment)
  const hasFailed = modal.kind === 'creationError' && before.modal.kind !== 'creationError'
  const state: FlowState = {
    ...withPayment(before, payment, atMs),
    isPollFailing: false,
    hasLeftOffer: before.hasLeftOffer && payment.status === 'created' && !hasFailed,
  }
  const withPage =
    before.payment === null
      ? openPage(state, payment)
      : reloadAfterWorks(before, openStandForUser(before, state))
  const isNewRedirect = payment.redirectUrl !== before.payment?.redirectUrl
  return {
    state: { ...repeatBlockedLink(hasFailed ? returnSetAside(withPage) : withPage), modal },
    effects: [
      ...(payment.status === before.payment?.status ? [] : offerEffects(state, payment)),
      ...(isNewRedirect ? redirectOf(payment) : []),
    ],
  }
}

function offerEffects({ hash }: FlowState, { status }: Payment): Effect[] {
  if (status === 'created') return []
  const offerEffect: Effect = { kind: status === 'pending' ? 'storeOffer' : 'forgetOffer', hash }
  return status === 'succeeded' ? [offerEffect, { kind: 'forgetPicks' }] : [offerEffect]
}

/** Shows the modal of the payment in the page's document, and asks at once whether that payment is still current. */
function opened(state: FlowState): Step {
  const { payment } = state
  if (payment === null) return withoutEffects(state)
  const withModal = { ...state, modal: modalAfter({ ...state, payment: null }, payment) }
  const effects = [...offerEffects(withModal, payment), ...redirectOf(payment)]
  return { state: { ...withModal, isCheckDue: true }, effects }
}

const redirectOf = (payment: Payment): Effect[] =>
  payment.redirectUrl === undefined
    ? []
    : [{ kind: 'redirect', url: payment.redirectUrl, afterMs: needsReading(payment) ? READING_MS : 0 }]

/** The wait before the redirect if the page says what the shopper needs time to read. */
const READING_MS = 8000

function modalAfter(before: FlowState, payment: Payment): FlowState['modal'] {
  const { modal } = before
  const { status } = payment
  if (isFinal(status)) {
    if (modal.kind === 'completed' && modal.outcome === status) return modal
    const isSuspicious = status === 'tradeDeclined' || status === 'tradeCountered'
    const followsConfirmation = ['creating', 'joining', 'confirming'].includes(modal.kind)
    return { kind: 'completed', outcome: status, hasAlarm: isSuspicious && followsConfirmation }
  }
  if (status === 'pending') {
    const wasLeft = modal.kind === 'none' && before.payment?.status === 'pending'
    return wasLeft ? modal : { kind: 'confirming' }
  }
  if (payment.creating) {
    const isShown = modal.kind === 'creating' || modal.kind === 'joining' || before.hasLeftOffer
    return isShown ? modal : { kind: 'joining', isSlow: false }
  }
  const hasLeftCreation = modal.kind === 'none' && before.hasLeftOffer && before.payment?.creating === true
  if (modal.kind === 'joining' || hasLeftCreation) {
    return { kind: 'creationError', refusal: { code: null, detail: null } }
  }
  return modal
}

/**
 * Opens the stand once the server has looked up the link from the store, so the shopper does not have to enter one.
 * Opens a new stand if another page of the deposit has entered another account, because the offer goes to that account.
 */
function openStandForUser(before: FlowState, state: FlowState): FlowState {
  const { page } = state
  const user = state.payment?.user ?? null
  if (page.stage === 'wait-for-select-items') {
    const isSame = user === null || user.tradeUrl === page.stand.user.tradeUrl
    return isSame ? state : withUser(state, user, linkOfUser(state, user))
  }
  const link = linkOf(page)
  const isAsking = link?.status === 'idle' || link?.status === 'stored'
  if (before.payment?.user !== null || user === null || !isAsking) return state
  return withUser(state, user, linkOfUser(state, user))
}

/** Reloads an inventory that technical works prevented, once they are over. */
function reloadAfterWorks(before: FlowState, state: FlowState): FlowState {
  const { page } = state
  const isOver = before.payment?.technicalWorks === true && state.payment?.technicalWorks === false
  if (!isOver || page.stage !== 'wait-for-select-items') return state
  const { inventory } = page.stand
  const isWaiting = inventory.status === 'error' && inventory.type === 'engineeringWorks'
  return isWaiting ? reloadInventory(state, {}, true) : state
}

function paymentFailed(state: FlowState, refusal: Refusal): Step {
  const toast: Effect = { kind: 'toast', toast: { text: 'depositFailed', detail: refusal.detail } }
  if (state.payment === null) {
    const wasReported = state.page.stage === 'failed'
    return { state: { ...state, page: { stage: 'failed', refusal } }, effects: wasReported ? [] : [toast] }
  }
  if (isFinal(state.payment.status)) return withoutEffects(state)
  return { state: { ...state, isPollFailing: true }, effects: state.isPollFailing ? [] : [toast] }
}

/** The longest pause between two reads of another deposit's open offer. */
const OTHER_OFFER_PAUSE_S = 30

function otherOfferRead(
  state: FlowState,
  { deposit, isGone, atMs }: Extract<FlowEvent, { kind: 'otherOfferRead' }>,
): Step {
  const { otherOffer: before } = state
  if (before === null) return withoutEffects(state)
  if (isGone) {
    return { state: { ...state, otherOffer: null }, effects: [{ kind: 'forgetOffer', hash: before.hash }] }
  }
  // The offer ends with the shopper's time: read it a second after that at the latest.
  const delayS = Math.min(OTHER_OFFER_PAUSE_S, 1 + (deposit?.timeLeft ?? OTHER_OFFER_PAUSE_S))
  const otherOffer = {
    ...before,
    deposit: deposit ?? before.deposit,
    // Without an answer, the last known deadline still holds.
    deadlineMs: deposit === null ? before.deadlineMs : deadlineOf(deposit, atMs),
    reads: before.reads + 1,
    delayMs: 1000 * delayS,
  }
  return withoutEffects({ ...state, otherOffer })
}

function connectionChanged(state: FlowState, isOnline: boolean): Step {
  if (state.isOnline === isOnline) return withoutEffects(state)
  return {
    state: { ...(isOnline ? repeatFailed(state) : state), isOnline },
    effects: [
      isOnline
        ? { kind: 'toast', toast: { text: 'connectionBack' } }
        : { kind: 'removeToast', text: 'connectionBack' },
    ],
  }
}

/** True if the inventory failed without a specific reason, for example because the page was offline. */
function isInternalError({ inventory }: Stand): boolean {
  return inventory.status === 'error' && inventory.type === 'internal'
}

function typingEnded(state: FlowState): FlowState {
  const link = linkOf(state.page)
  return link?.status === 'debouncing' ? checkLink(state, link.text) : state
}

function userResolved(state: FlowState, request: number, user: User): Step {
  const link = linkOf(state.page)
  if (link?.status !== 'checking' || link.request !== request) return withoutEffects(state)
  const url = parseTradeLink(link.text)?.url ?? user.tradeUrl
  const payment = state.payment && { ...state.payment, user, userPending: false }
  return {
    state: withUser({ ...state, payment, storedLink: url }, user, url),
    effects: [{ kind: 'storeLink', link: url }],
  }
}

/** Refusals caused by something that this page did not notice, such as another tab or the deadline. */
const CHANGED_ELSEWHERE: readonly (string | null)[] = [
  'trade_in_progress',
  'deposit_closed',
] satisfies ErrorCode[]

function userFailed(state: FlowState, request: number, refusal: Refusal): FlowState {
  const link = linkOf(state.page)
  if (link?.status !== 'checking' || link.request !== request) return state
  return {
    ...state,
    page: { stage: 'wait-for-trade-url-input', link: { status: 'failed', text: link.text, refusal } },
    isCheckDue: state.isCheckDue || CHANGED_ELSEWHERE.includes(refusal.code),
  }
}
