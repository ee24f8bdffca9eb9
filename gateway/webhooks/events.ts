/** The event log: written with its cause, numbered by the publisher, read by the store. */
import type { StoreDeposit } from '../../contract/store-api.ts'
import {
  type EventList,
  type EventQuery,
  type EventType,
  type WebhookEvent,
  webhookSchema,
} from '../../contract/webhooks.ts'
import type { Db, Tx } from '../db/client.ts'
import type { Queue } from '../db/queue.ts'

export const PUBLISH_QUEUE = 'events.publish'

export type NewEvent = {
  id: string
  storeId: bigint
  depositId: bigint
  /** For what may happen once for each trade of a deposit. */
  tradeId?: bigint
  /** For what may happen more than once to a trade: 0, 1, 2 … */
  part?: number
  type: EventType
  data: StoreDeposit
  at: Date
}

/** Writes an event in the transaction of its cause. It gets its position, and is sent, after the commit. */
export async function recordEvent(tx: Tx, queue: Queue, event: NewEvent): Promise<void> {
  await tx
    .insertInto('event')
    .values({
      id: event.id,
      store_id: event.storeId,
      deposit_id: event.depositId,
      trade_id: event.tradeId ?? null,
      part: event.part ?? 0,
      type: event.type,
      payload: JSON.stringify({ type: event.type, timestamp: event.at.toISOString(), data: event.data }),
      created_at: event.at,
    })
    .execute()
  // Without a key: a shared one would make concurrent transactions wait for each other, and drop the wake-up of
  // the one that commits last.
  await queue.send(tx, PUBLISH_QUEUE, {})
}

const payloadSchema = webhookSchema.omit({ id: true, sequence: true })

type Row = { id: string; sequence: bigint | null; payload: object }

/** An event as the log and every webhook tell it. */
export function tellEvent({ id, sequence, payload }: Row): WebhookEvent {
  return { id, ...payloadSchema.parse(payload), sequence: Number(sequence) }
}

/** The store's events after a position, in their order and without gaps. */
export async function readEvents(db: Db, storeId: bigint, { after, limit }: EventQuery): Promise<EventList> {
  const rows = await db
    .selectFrom('event')
    .select(['id', 'sequence', 'payload'])
    .where('store_id', '=', storeId)
    .where('sequence', '>', BigInt(after))
    .orderBy('sequence')
    .limit(limit + 1)
    .execute()
  const events = rows.slice(0, limit).map(tellEvent)
  return { events, next: events.at(-1)?.sequence ?? after, hasMore: rows.length > limit }
}

/** What happened to one deposit; the caller knows that it is the store's. */
export async function readDepositEvents(db: Db, depositId: bigint): Promise<WebhookEvent[]> {
  const rows = await db
    .selectFrom('event')
    .select(['id', 'sequence', 'payload'])
    .where('deposit_id', '=', depositId)
    .where('sequence', 'is not', null)
    .orderBy('sequence')
    .limit(100)
    .execute()
  return rows.map(tellEvent)
}
