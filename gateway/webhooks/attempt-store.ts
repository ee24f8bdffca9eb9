/** Keeps attempts to deliver webhooks. Stores can read theirs, and the pace of an endpoint depends on them. */
import { type Insertable, sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import type { WebhookAttemptTable } from '../db/webhook-tables.ts'

/** How many of an endpoint's latest successes determine its pace. Older ones barely matter. */
const MOST_REMEMBERED = 8
/** How many attempts to look back through. After an outage, the newest attempts are all failures. */
const MOST_LOOKED_BACK = 500

export async function insertAttempt(tx: Tx, attempt: Insertable<WebhookAttemptTable>): Promise<void> {
  await tx.insertInto('webhook_attempt').values(attempt).execute()
}

/** Returns the attempts to deliver to an endpoint, newest first. */
export function readAttempts(
  db: Db,
  endpointId: bigint,
  { after, limit }: { after: bigint | undefined; limit: number },
) {
  const attempts = db
    .selectFrom('webhook_attempt')
    .innerJoin('webhook_delivery', 'webhook_delivery.id', 'webhook_attempt.delivery_id')
    .innerJoin('event', 'event.id', 'webhook_delivery.event_id')
    .select([
      'webhook_attempt.id',
      'event.id as event_id',
      'event.type',
      'event.sequence',
      'webhook_attempt.attempt',
    ])
    .select(['webhook_attempt.at', 'webhook_attempt.duration_ms', 'webhook_attempt.status'])
    .select(['webhook_attempt.failure', 'webhook_attempt.answer'])
    .where('webhook_attempt.endpoint_id', '=', endpointId)
  const page = after === undefined ? attempts : attempts.where('webhook_attempt.id', '<', after)
  return page.orderBy('webhook_attempt.id', 'desc').limit(limit).execute()
}

/**
 * Returns how long the newest successful attempts of each endpoint took, the oldest first. A lane ends when nothing
 * is due, so the pace of an endpoint must be derived again from its attempts.
 */
export async function durationsOf(
  db: Db,
  endpointIds: bigint[],
): Promise<{ id: bigint; earlierDurationsMs: number[] }[]> {
  const { rows } = await sql<{ id: bigint; earlierDurationsMs: number[] }>`
    select wanted.id, array(
      select duration_ms from (
        select taken.id, duration_ms from (
          select id, duration_ms, status from webhook_attempt
          where endpoint_id = wanted.id order by id desc limit ${MOST_LOOKED_BACK}
        ) taken
        where status between 200 and 299 order by id desc limit ${MOST_REMEMBERED}
      ) newest order by id
    ) as "earlierDurationsMs"
    from unnest(${endpointIds}::bigint[]) wanted (id)`.execute(db)
  return rows
}
