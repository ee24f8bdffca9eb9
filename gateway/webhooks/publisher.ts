/** Gives committed events their dense positions, store by store, and starts their delivery. */
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import type { Queue } from '../db/queue.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import { DELIVER_QUEUE } from './events.ts'

type Deps = { db: Db; queue: Queue; clock: Clock }

const MOST_AT_ONCE = 200

/** Publishes until nothing is left. Only one process numbers at a time. */
export async function publishEvents(deps: Deps): Promise<void> {
  let published = MOST_AT_ONCE
  while (published === MOST_AT_ONCE) published = await inTransaction(deps.db, (tx) => publishSome(deps, tx))
}

async function publishSome({ queue, clock }: Deps, tx: Tx): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtext('publish events'))`.execute(tx)
  const events = await tx
    .selectFrom('event')
    .innerJoin('store', 'store.id', 'event.store_id')
    .select(['event.id', 'event.store_id', 'store.webhook_url'])
    .where('event.sequence', 'is', null)
    .orderBy('event.inserted')
    .limit(MOST_AT_ONCE)
    .execute()
  const byStore = Map.groupBy(events, (event) => event.store_id)
  for (const [storeId, own] of byStore) {
    const { last_sequence: last } = await tx
      .updateTable('store')
      .set((eb) => ({ last_sequence: eb('last_sequence', '+', BigInt(own.length)) }))
      .where('id', '=', storeId)
      .returning('last_sequence')
      .executeTakeFirstOrThrow()
    const first = last - BigInt(own.length) + 1n
    for (const [index, event] of own.entries()) {
      await tx
        .updateTable('event')
        .set({ sequence: first + BigInt(index) })
        .where('id', '=', event.id)
        .execute()
      if (event.webhook_url === null) continue
      await tx.insertInto('webhook_delivery').values({ event_id: event.id, due_at: clock.now() }).execute()
      await queue.send(tx, DELIVER_QUEUE, { eventId: event.id }, { singletonKey: event.id })
    }
  }
  return events.length
}
