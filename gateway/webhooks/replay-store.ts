/** Records a store's replays, and counts their deliveries. */
import { sql } from 'kysely'
import { MOST_REPLAYED } from '../../contract/limits.ts'
import type { Tx } from '../db/client.ts'

export type ReplayChoice = { eventId: string } | { fromSequence: number; toSequence: number }

/**
 * SQL condition for the events of a replay: a single event, whatever its type, or the events of a range whose types the
 * endpoint wants.
 */
export const chosenEvents = (choice: ReplayChoice, eventTypes: readonly string[] | null) =>
  sql`${eventsAt(choice)} and ${areWanted(choice, eventTypes)}`

const eventsAt = (choice: ReplayChoice) =>
  'eventId' in choice
    ? sql`id = ${choice.eventId}::uuid and sequence is not null`
    : sql`sequence between ${choice.fromSequence} and ${choice.toSequence}`

const areWanted = (choice: ReplayChoice, eventTypes: readonly string[] | null) =>
  'eventId' in choice
    ? sql<boolean>`true`
    : sql<boolean>`(${eventTypes}::text[] is null or type = any(${eventTypes}::text[]))`

type ReplayQuery = { storeId: bigint; eventTypes: readonly string[] | null; choice: ReplayChoice }

/**
 * `all`: the events of the range, whatever their types. Counting stops above `MOST_REPLAYED`, so a range of years costs
 * no more than one that is too long by one event. `chosen`: those of them that the replay sends.
 */
export async function countChosen(
  tx: Tx,
  { storeId, eventTypes, choice }: ReplayQuery,
): Promise<{ all: number; chosen: number }> {
  const { rows } = await sql<{ all: number; chosen: number }>`
    select count(*)::int as all, (count(*) filter (where ${areWanted(choice, eventTypes)}))::int as chosen
    from (select type from event where store_id = ${storeId} and ${eventsAt(choice)}
      limit ${MOST_REPLAYED + 1}) counted`.execute(tx)
  return rows[0] ?? { all: 0, chosen: 0 }
}

/** Locks the store's replays until the transaction ends. */
export async function lockReplays(tx: Tx, storeId: bigint): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`replays of store ${storeId}`}, 0))`.execute(tx)
}

/**
 * True while replayed deliveries of the store wait for their first attempt. A replayed delivery has a claim but no
 * attempt yet, and a new delivery has neither. A delivery whose sender was stopped or killed during its first
 * attempt looks like a replay, and is soon sent too.
 */
export async function isReplaying(tx: Tx, storeId: bigint, now: Date): Promise<boolean> {
  const { rows } = await sql`
    select from webhook_endpoint endpoint where endpoint.store_id = ${storeId} and endpoint.state = 'enabled'
      and exists (
        select from webhook_delivery where endpoint_id = endpoint.id and state = 'due' and claim > 0
          and attempts = 0 and due_at <= ${now})`.execute(tx)
  return rows.length > 0
}

/** Counts the store's replayed deliveries after `since`. */
export async function countReplayedSince(tx: Tx, storeId: bigint, since: Date): Promise<number> {
  const { total } = await tx
    .selectFrom('webhook_replay')
    .select(({ fn }) => fn.sum<string | null>('deliveries').as('total'))
    .where('store_id', '=', storeId)
    .where('at', '>', since)
    .executeTakeFirstOrThrow()
  return Number(total ?? 0)
}

/** Records a replay, and deletes the records of the store's replays up to `since`. */
export async function noteReplay(
  tx: Tx,
  { storeId, at, deliveries, since }: { storeId: bigint; at: Date; deliveries: number; since: Date },
): Promise<void> {
  await tx.deleteFrom('webhook_replay').where('store_id', '=', storeId).where('at', '<=', since).execute()
  await tx.insertInto('webhook_replay').values({ store_id: storeId, at, deliveries }).execute()
}
