import type { EventType } from '../../contract/event-types.ts'
import type { Db, Tx } from '../db/client.ts'
import type { Queue } from '../db/queue.ts'
import { inTransaction } from '../db/transaction.ts'
import type { NewEvent, NumberedEvent } from './event.ts'
import { insertEvent, numberEvents } from './store.ts'

export const PUBLISH_QUEUE = 'events.publish'

/** Appends an event in the transaction of its cause. It is numbered and delivered after the commit. */
export async function appendEvent(tx: Tx, queue: Pick<Queue, 'send'>, event: NewEvent): Promise<void> {
  await insertEvent(tx, event)
  // The job has no key. With a shared key, concurrent transactions would wait for each other, and the last one to
  // commit would lose its wake-up.
  await queue.send(tx, { queue: PUBLISH_QUEUE, data: {} })
}

export type PublisherDeps = {
  db: Db
  /** Writes the deliveries of the events, in the transaction that numbers them. */
  addDeliveries(tx: Tx, events: readonly NumberedEvent[]): Promise<void>
  /** False from a restore until the next epoch, because a number could be used twice. */
  mayPublish?(): boolean
  /** Called for every event once its number is committed. */
  onPublished?(type: EventType): void
}

/** One transaction publishes at most this many events. */
const MOST_AT_ONCE = 500

/** Publishes events until none is left. Only one process numbers at a time. */
export async function publishEvents(deps: PublisherDeps): Promise<void> {
  const { db, addDeliveries, mayPublish = () => true, onPublished } = deps
  if (!mayPublish()) return
  for (;;) {
    const events = await inTransaction(db, async (tx) => {
      const numbered = await numberEvents(tx, MOST_AT_ONCE)
      if (numbered.length > 0) await addDeliveries(tx, numbered)
      return numbered
    })
    for (const { type } of events) onPublished?.(type)
    if (events.length < MOST_AT_ONCE) return
  }
}
