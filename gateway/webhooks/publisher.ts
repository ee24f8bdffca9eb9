/** Gives committed events their dense positions, store by store, and writes down to which endpoints they go. */
import { sql } from 'kysely'
import type { EventType } from '../../contract/webhooks.ts'
import type { Db, Tx } from '../db/client.ts'
import type { Signals } from '../db/signals.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'

export type PublisherDeps = {
  db: Db
  signals: Pick<Signals, 'notify'>
  clock: Clock
  /** Told of every event once its position is committed. */
  onPublished?(type: EventType): void
}

/** Told when there are new deliveries. */
export const DELIVERIES_TOPIC = 'webhooks'

const MOST_AT_ONCE = 500

/** Publishes until nothing is left. Only one process numbers at a time. */
export async function publishEvents(deps: PublisherDeps): Promise<void> {
  for (;;) {
    const types = await inTransaction(deps.db, (tx) => publishSome(deps, tx))
    for (const type of types) deps.onPublished?.(type)
    if (types.length < MOST_AT_ONCE) return
  }
}

/**
 * Identity numbers are taken before the commit, so that they say nothing of what a reader has seen. Positions are
 * taken by one writer at a time and of committed rows only: who has read up to one has read all before it.
 * The endpoints are locked: one that is disabled at the same moment gets nothing, or gives up what it has got.
 */
async function publishSome({ signals, clock }: PublisherDeps, tx: Tx): Promise<EventType[]> {
  await sql`select pg_advisory_xact_lock(hashtext('publish events'))`.execute(tx)
  const { rows } = await sql<{ type: EventType; deliveries: number }>`
    with fresh as (
      select id, store_id, type, row_number() over (partition by store_id order by inserted) as nth
      from (select * from event where sequence is null order by inserted limit ${MOST_AT_ONCE}) oldest
    ),
    position as (
      update store set last_sequence = last_sequence + own.count
      from (select store_id, count(*) from fresh group by store_id) own
      where store.id = own.store_id
      returning store.id as store_id, last_sequence - own.count as before
    ),
    published as (
      update event set sequence = position.before + fresh.nth
      from fresh join position using (store_id) where event.id = fresh.id
      returning event.id
    ),
    endpoint as (
      select id, store_id, event_types from webhook_endpoint
      where state = 'enabled' and store_id in (select store_id from fresh)
      order by id for share
    ),
    delivery as (
      insert into webhook_delivery (event_id, endpoint_id, due_at)
      select fresh.id, endpoint.id, ${clock.now()}
      from fresh join published on published.id = fresh.id
      join endpoint on endpoint.store_id = fresh.store_id
      where endpoint.event_types is null or fresh.type = any(endpoint.event_types)
      order by endpoint.id, fresh.nth
      returning id
    )
    select type, (select count(*)::int from delivery) as deliveries from fresh`.execute(tx)
  if ((rows[0]?.deliveries ?? 0) > 0) await signals.notify(tx, DELIVERIES_TOPIC)
  return rows.map(({ type }) => type)
}
