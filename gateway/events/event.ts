/** An event of a store's log: one for each transition of a deposit, and for each later change of what it brought. */
import type { StoreDeposit } from '../../contract/store-api.ts'
import {
  type DepositEvent,
  type DepositEventType,
  depositEventSchema,
  type EventType,
  type WebhookEvent,
  webhookSchema,
} from '../../contract/webhooks.ts'

export type NewEvent = {
  id: string
  storeId: bigint
  depositId: bigint
  /** For an event that may happen once for each trade of a deposit. */
  tradeId?: bigint
  /** For an event that may happen more than once to a trade: 0, 1, 2 … */
  part?: number
  type: DepositEventType
  data: StoreDeposit
  at: Date
}

/** An event that has got its number. Numbers are dense, and each store has its own. */
export type NumberedEvent = { id: string; storeId: bigint; sequence: bigint; type: EventType }

/** The payload of a row: all but the id and the number, which have columns. */
export const payloadOf = ({ type, at, data }: NewEvent) => ({ type, timestamp: at.toISOString(), data })

export type EventRow = { id: string; sequence: bigint | null; payload: object }

/** The event as the log and every webhook show it. */
export function toWebhookEvent({ id, sequence, payload }: EventRow): WebhookEvent {
  return webhookSchema.parse({ ...payload, id, sequence: Number(sequence) })
}

export function toDepositEvent({ id, sequence, payload }: EventRow): DepositEvent {
  return depositEventSchema.parse({ ...payload, id, sequence: Number(sequence) })
}
