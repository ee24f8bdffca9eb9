import type { StoreDeposit } from '../../contract/store-api.ts'
import type { EventType } from '../../contract/webhooks.ts'
import type { Tx } from '../db/client.ts'
import type { Queue } from '../db/queue.ts'

export const PUBLISH_QUEUE = 'events.publish'
export const DELIVER_QUEUE = 'webhooks.deliver'

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
