/**
 * What a store receives: Standard Webhooks (headers webhook-id, webhook-timestamp, webhook-signature),
 * one event per transition of a deposit and per later change of what it brought.
 */
import { z } from 'zod'
import type { DepositStatus } from './statuses.ts'
import { storeDepositSchema } from './store-api.ts'

export const EVENT_TYPES = [
  'deposit.pending',
  'deposit.succeeded',
  'deposit.amount_increased',
  'deposit.payment_timeout',
  'deposit.trade_timeout',
  'deposit.trade_declined',
  'deposit.trade_countered',
  'deposit.trade_has_invalid_items',
  'deposit.funds_available',
  'deposit.reversed',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** The event that tells of a deposit's arrival in a status. Creation is the store's own act and has none. */
export const EVENT_OF_STATUS: Record<Exclude<DepositStatus, 'created'>, EventType> = {
  pending: 'deposit.pending',
  succeeded: 'deposit.succeeded',
  paymentTimeout: 'deposit.payment_timeout',
  tradeTimeout: 'deposit.trade_timeout',
  tradeDeclined: 'deposit.trade_declined',
  tradeCountered: 'deposit.trade_countered',
  tradeHasInvalidItems: 'deposit.trade_has_invalid_items',
}

/** @public The whole body of a webhook, for those who write a library. */
export const webhookSchema = z.object({
  type: z.enum(EVENT_TYPES),
  /** When the cause happened. */
  timestamp: z.iso.datetime(),
  /** Position in the store's event log: 1, 2, 3 … without gaps. */
  sequence: z.int().positive(),
  data: storeDepositSchema,
})
