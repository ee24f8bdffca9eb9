/** An event of a store's log: one for each transition of a deposit, and for each later change of what it brought. */
import type { StoreDeposit } from '../../contract/store-api.ts'
import { type EventType, type WebhookEvent, webhookSchema } from '../../contract/webhooks.ts'

export type NewEvent = {
  id: string
  storeId: bigint
  depositId: bigint
  /** For an event that may happen once for each trade of a deposit. */
  tradeId?: bigint
  /** For an event that may happen more than once to a trade: 0, 1, 2 … */
  part?: number
  type: EventType
  data: StoreDeposit
  at: Date
}

/** An event that has got its number. Numbers are dense, and each store has its own. */
export type NumberedEvent = { id: string; storeId: bigint; sequence: bigint; type: EventType }

const payloadSchema = webhookSchema.omit({ id: true, sequence: true })

/** The payload of a row: all but the id and the number, which have columns. */
export const payloadOf = ({ type, at, data }: NewEvent) => ({ type, timestamp: at.toISOString(), data })

export type EventRow = { id: string; sequence: bigint | null; payload: object }

/** The event as the log and every webhook show it. */
export function toWebhookEvent({ id, sequence, payload }: EventRow): WebhookEvent {
  const { data, ...rest } = payloadSchema.parse(payload)
  const number = Number(sequence)
  return { id, ...rest, sequence: number, data: { ...data, sequence: number } }
}
