import type { RefusalCause } from '../../contract/errors.ts'
import type { FlowEvent, Step } from './events.ts'
import { reloadInventory, returnSetAside, withFailure } from './reduce-stand.ts'
import { payBlock, selectedItems } from './selectors.ts'
import type { Dialogs, FlowState, Modal, OfferedPicks, Refusal } from './state.ts'

type TradeEvent = Extract<
  FlowEvent,
  {
    kind:
      | 'payPressed'
      | 'tradeActive'
      | 'tradeUnknown'
      | 'tradeRefused'
      | 'patienceEnded'
      | 'confirmationLeft'
      | 'confirmationReopened'
      | 'creationErrorClosed'
      | 'dialogsChanged'
  }
>

export function reduceTrade(before: FlowState, event: TradeEvent): Step {
  const state = { ...before, ...changeAfter(before, event) }
  const isRequested = state.modal.kind === 'creating' && before.modal.kind !== 'creating'
  const picks = isRequested ? picksOf(state) : null
  return picks === null
    ? { state, effects: [] }
    : { state: { ...state, offeredPicks: picks }, effects: [{ kind: 'storePicks', picks }] }
}

function picksOf({ page, payment }: FlowState): OfferedPicks | null {
  if (page.stage !== 'wait-for-select-items' || payment === null) return null
  const { user, game } = page.stand
  return { storeName: payment.storeName, tradeUrl: user.tradeUrl, game, items: selectedItems(page.stand) }
}

function changeAfter(state: FlowState, event: TradeEvent): Partial<FlowState> {
  const { modal } = state
  switch (event.kind) {
    case 'payPressed':
      return pay(state)
    case 'tradeActive':
      return isCurrent(modal, event.attempt) ? { modal: { kind: 'confirming' } } : {}
    case 'tradeUnknown':
      return isCurrent(modal, event.attempt) ? { modal: { ...modal, attempt: event.attempt + 1 } } : {}
    case 'tradeRefused':
      return isCurrent(modal, event.attempt) ? tradeRefused(state, event.refusal) : {}
    case 'confirmationLeft':
      return confirmationLeft(modal)
    case 'patienceEnded':
      return modal.kind === 'creating' || modal.kind === 'joining'
        ? { modal: { ...modal, isSlow: true } }
        : {}
    case 'confirmationReopened':
      return modal.kind === 'none' ? confirmationReopened(state) : {}
    case 'creationErrorClosed':
      return modal.kind === 'creationError' ? { modal: { kind: 'none' } } : {}
    case 'dialogsChanged':
      return dialogsChanged(state, event.to)
    default:
      return event satisfies never
  }
}

/** A press on Add funds waits while the dialogs' code loads. If the load fails, the shopper must press again. */
function dialogsChanged(state: FlowState, to: Dialogs['kind']): Partial<FlowState> {
  const { dialogs } = state
  if (dialogs.kind === 'ready' || dialogs.kind === to) return {}
  if (to !== 'ready') return { dialogs: { kind: to, isPayPressed: to === 'failed' && dialogs.isPayPressed } }
  const ready: FlowState = { ...state, dialogs: { kind: 'ready' } }
  return dialogs.kind === 'loading' && dialogs.isPayPressed
    ? { dialogs: ready.dialogs, ...pay(ready) }
    : { dialogs: ready.dialogs }
}

/**
 * The shopper can always close the dialog of an open offer. While an offer is being created, the dialog can be closed
 * only if the creation takes long. The page then keeps checking whether the offer is open.
 */
function confirmationLeft(modal: Modal): Partial<FlowState> {
  if (modal.kind === 'confirming') return { modal: { kind: 'none' } }
  const isSlow = (modal.kind === 'creating' || modal.kind === 'joining') && modal.isSlow
  return isSlow ? { modal: { kind: 'none' }, hasLeftOffer: true, isCheckDue: true } : {}
}

function confirmationReopened({ payment }: FlowState): Partial<FlowState> {
  if (payment?.status === 'pending') return { modal: { kind: 'confirming' } }
  return payment?.creating === true ? { modal: { kind: 'joining', isSlow: false }, hasLeftOffer: false } : {}
}

function isCurrent(modal: Modal, attempt: number): modal is Extract<Modal, { kind: 'creating' }> {
  return modal.kind === 'creating' && modal.attempt === attempt
}

/** Requests an offer for a payable selection, once, and only if the code of the dialogs is loaded. */
function pay(state: FlowState): Partial<FlowState> {
  const { page, payment, modal, dialogs } = state
  if (modal.kind !== 'none' || page.stage !== 'wait-for-select-items') return {}
  if (payment?.status !== 'created' || payBlock(page.stand, payment) !== null) return {}
  if (dialogs.kind !== 'ready') return { dialogs: { ...dialogs, isPayPressed: true } }
  // One trade at a time: show the trade being created.
  if (payment.creating) return confirmationReopened(state)
  const { inventory, selection, game } = page.stand
  const quoteId = inventory.status === 'ready' ? inventory.inventory.quoteId : null
  const request = { game, items: selection, quoteId }
  return { modal: { kind: 'creating', request, attempt: 1, isSlow: false }, hasLeftOffer: false }
}

/** Shows the error. Behind its dialog, updates what the refusal proves to be outdated. */
function tradeRefused(state: FlowState, refusal: Refusal): Partial<FlowState> {
  const isStale = refusal.code === 'price_changed' || refusal.code === 'items_unavailable'
  const modal: Modal = { kind: 'creationError', refusal }
  if (refusal.code === 'technical_works' && state.payment !== null) {
    return { modal, payment: { ...state.payment, technicalWorks: true, timeLeft: null }, deadlineMs: null }
  }
  if (isStale) return { ...reloadInventory(state, {}, true), modal }
  if (refusal.cause === ('link_expired' satisfies RefusalCause))
    return { ...withFailure(state, 'invalidPartner'), modal }
  // A lost call or another tab may have begun a trade, which may be over by now: check the deposit.
  const hasChangedElsewhere = refusal.code === 'deposit_closed' || refusal.code === 'trade_in_progress'
  const returned = { ...returnSetAside(state), modal }
  return hasChangedElsewhere ? { ...returned, isCheckDue: true } : returned
}
