import type { DepositStatus } from './statuses.ts'

export const DEPOSIT_EVENT_TYPES = [
  'deposit.pending',
  'deposit.succeeded',
  /** The items of another offer of the deposit arrived too. */
  'deposit.amount_increased',
  'deposit.payment_timeout',
  'deposit.trade_timeout',
  'deposit.trade_declined',
  'deposit.trade_countered',
  'deposit.trade_has_invalid_items',
  /** Held credit became available. */
  'deposit.funds_available',
  /** Items went back to the shopper, as Steam or an operator reported. */
  'deposit.reversed',
] as const

/** Sent after the till's database was restored, or replaced by a copy. Sequences then continue much higher. */
export const EPOCH_TYPE = 'epoch.started'

export const EVENT_TYPES = [...DEPOSIT_EVENT_TYPES, EPOCH_TYPE] as const

export type DepositEventType = (typeof DEPOSIT_EVENT_TYPES)[number]
export type EventType = (typeof EVENT_TYPES)[number]

/** The event for each new status of a deposit. The store itself creates deposits, so creation has no event. */
export const EVENT_OF_STATUS: Record<Exclude<DepositStatus, 'created'>, DepositEventType> = {
  pending: 'deposit.pending',
  succeeded: 'deposit.succeeded',
  paymentTimeout: 'deposit.payment_timeout',
  tradeTimeout: 'deposit.trade_timeout',
  tradeDeclined: 'deposit.trade_declined',
  tradeCountered: 'deposit.trade_countered',
  tradeHasInvalidItems: 'deposit.trade_has_invalid_items',
}
