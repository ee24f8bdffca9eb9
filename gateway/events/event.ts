/**
 * An event of a store's log: one for each transition of a deposit, for each later change of its credit, and for each
 * new epoch.
 */
import { z } from 'zod'
import type { DepositEventType, EventType } from '../../contract/event-types.ts'
import type { StoreDeposit } from '../../contract/store-api.ts'
import {
  type DepositEvent,
  depositEventSchema,
  type WebhookEvent,
  webhookSchema,
} from '../../contract/webhooks.ts'

export type NewEvent = {
  id: string
  storeId: bigint
  depositId: bigint
  /** The trade that caused the event; undefined for a change of the deposit's status. */
  tradeId?: bigint
  /** Counts a trade's events of one type: 0, 1, 2 … */
  part?: number
  type: DepositEventType
  data: StoreDeposit
  at: Date
}

/** A numbered event. Each store has its own numbers, without gaps within an epoch. */
export type NumberedEvent = { id: string; storeId: bigint; sequence: bigint; type: EventType }

/** The payload of a row: the event as a webhook shows it, without its id and number. */
export const payloadOf = ({ type, at, data }: NewEvent) => ({ type, timestamp: at.toISOString(), data })

export type EventRow = { id: string; sequence: bigint | null; payload: object }

const storedSchema = z.looseObject({ data: z.looseObject({}) })

/**
 * Adds id and number to the payload, and the number to the deposit in its data. The data of an event about an epoch is
 * not a deposit, and its schema drops the number.
 */
function withNumber({ id, sequence, payload }: EventRow) {
  const { data, ...rest } = storedSchema.parse(payload)
  const number = Number(sequence)
  return { ...rest, id, sequence: number, data: { ...data, sequence: number } }
}

/** Returns the event as the log and every webhook show it. */
export const toWebhookEvent = (row: EventRow): WebhookEvent => webhookSchema.parse(withNumber(row))

export const toDepositEvent = (row: EventRow): DepositEvent => depositEventSchema.parse(withNumber(row))
