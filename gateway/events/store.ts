/** The rows of the event log. Each is written with its cause, and numbered after the commit. */
import { sql } from 'kysely'
import type { DepositEvent, EventList, EventQuery, WebhookEvent } from '../../contract/webhooks.ts'
import type { Db, Tx } from '../db/client.ts'
import {
  type EventRow,
  type NewEvent,
  type NumberedEvent,
  payloadOf,
  toDepositEvent,
  toWebhookEvent,
} from './event.ts'

const MOST_EVENTS_OF_DEPOSIT = 100

export async function insertEvent(tx: Tx, event: NewEvent): Promise<void> {
  await tx
    .insertInto('event')
    .values({
      id: event.id,
      store_id: event.storeId,
      deposit_id: event.depositId,
      trade_id: event.tradeId ?? null,
      part: event.part ?? 0,
      type: event.type,
      payload: JSON.stringify(payloadOf(event)),
      created_at: event.at,
    })
    .execute()
}

/** Lets only one publisher number events at a time, and none while an epoch begins. */
export async function lockPublishing(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('publish events'))`.execute(tx)
}

/**
 * Gives sequences to the oldest committed events, at most `most` over all stores. Each store's sequences count its own
 * events. Identity numbers (`inserted`) are taken before the commit, so a lower number can become visible after a
 * higher one. Sequences are assigned by one writer at a time, and only to committed events, so once a sequence is
 * visible, all lower ones are too.
 */
export async function numberEvents(tx: Tx, most: number): Promise<NumberedEvent[]> {
  await lockPublishing(tx)
  const { rows } = await sql<NumberedEvent>`
    with fresh as (
      select id, store_id, row_number() over (partition by store_id order by inserted) as nth
      from (select * from event where sequence is null order by inserted limit ${most}) oldest
    ),
    counter as (
      update store set last_sequence = last_sequence + added.count
      from (select store_id, count(*) from fresh group by store_id) added
      where store.id = added.store_id
      returning store.id as store_id, last_sequence - added.count as before
    )
    update event set sequence = counter.before + fresh.nth
    from fresh join counter using (store_id) where event.id = fresh.id
    returning event.id, event.store_id as "storeId", event.sequence, event.type`.execute(tx)
  return rows
}

const columns = ['id', 'sequence', 'payload'] as const satisfies (keyof EventRow)[]

/**
 * The most bytes of one page, unless its first event has more. Metadata and items can make an event of 40 KB. Pages of
 * 500 such events would keep a process busy, and never reach a store with a slow line before its client gives up.
 */
export const MOST_PAGE_BYTES = 1_024 * 1_024
/** A page of large events is full after a few rows, and the rest would be read in vain. */
const ROWS_AT_ONCE = 50

/** Returns the first events of the store after a sequence, in their order: `limit`, or fewer if they are large. */
export async function readEvents(db: Db, storeId: bigint, { after, limit }: EventQuery): Promise<EventList> {
  const events: WebhookEvent[] = []
  const page = (hasMore: boolean) => ({ events, next: events.at(-1)?.sequence ?? after, hasMore })
  let bytes = 0
  for (;;) {
    const most = Math.min(ROWS_AT_ONCE, limit + 1 - events.length)
    const rows = await eventsAfter(db, storeId, { after: page(true).next, most })
    for (const row of rows) {
      bytes += row.bytes
      if (events.length === limit || (events.length > 0 && bytes > MOST_PAGE_BYTES)) return page(true)
      events.push(toWebhookEvent(row))
    }
    if (rows.length < most) return page(false)
  }
}

const eventsAfter = (db: Db, storeId: bigint, { after, most }: { after: number; most: number }) =>
  db
    .selectFrom('event')
    .select([...columns, sql<number>`octet_length(payload::text)`.as('bytes')])
    .where('store_id', '=', storeId)
    .where('sequence', '>', BigInt(after))
    .orderBy('sequence')
    .limit(most)
    .execute()

/** Returns the sequence of the store's last event; 0 if there is none. */
export async function lastSequence(db: Db, storeId: bigint): Promise<bigint> {
  const row = await db
    .selectFrom('store')
    .select('last_sequence')
    .where('id', '=', storeId)
    .executeTakeFirst()
  return row?.last_sequence ?? 0n
}

/**
 * Returns the first 100 numbered events of one deposit. The caller must have checked that the deposit belongs to the
 * store.
 */
export async function readDepositEvents(db: Db, depositId: bigint): Promise<DepositEvent[]> {
  const rows = await db
    .selectFrom('event')
    .select(columns)
    .where('deposit_id', '=', depositId)
    .where('sequence', 'is not', null)
    .orderBy('sequence')
    .limit(MOST_EVENTS_OF_DEPOSIT)
    .execute()
  return rows.map(toDepositEvent)
}
