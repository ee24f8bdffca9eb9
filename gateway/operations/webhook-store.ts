import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'

export type EndpointFilter = {
  storeId?: bigint | undefined
  endpointId?: bigint | undefined
  /** Only endpoints that are gone, or have a delivery that waits for a retry or was given up. */
  failing?: boolean | undefined
  /** Last endpoint of the previous page. */
  after?: bigint | undefined
  limit: number
}

export type EndpointRow = {
  endpointId: bigint
  storeId: bigint
  store: string
  url: string
  /** `pending`: it has not yet proved that it expects webhooks. */
  state: 'pending' | 'enabled' | 'disabled'
  /** `gone`: it answered that it no longer exists (410). */
  disabledReason: 'by_store' | 'gone' | null
  /** Failed deliveries that will be retried; `MOST_COUNTED` means that many or more. */
  retrying: number
  /** Deliveries given up; `MOST_COUNTED` means that many or more. */
  givenUp: number
  /** The lowest and highest number of a given-up event in the store's event log; null if there is none. */
  givenUpFrom: bigint | null
  givenUpTo: bigint | null
  /** When the event of the most often retried delivery occurred; null if no delivery waits for a retry. */
  failingSince: Date | null
  lastAttempt: { at: Date; status: number | null; failure: string | null } | null
}

/** Counting stops here, so a long outage of an endpoint does not slow the list down. */
export const MOST_COUNTED = 1_000

const RETRYING = sql`from webhook_delivery where endpoint_id = endpoint.id and state = 'due' and claim > 0 and attempts > 0`

const GIVEN_UP = sql`from webhook_delivery where endpoint_id = endpoint.id and state = 'failed'`

/**
 * Covers the given-up events of the `MOST_COUNTED` oldest and the `MOST_COUNTED` newest deliveries. A replay can give
 * an old event the newest delivery.
 */
const GIVEN_UP_RANGE = sql`(
  select min(sequence) as "from", max(sequence) as "to" from event where id in (
    (select event_id ${GIVEN_UP} order by webhook_delivery.id limit ${MOST_COUNTED})
    union (select event_id ${GIVEN_UP} order by webhook_delivery.id desc limit ${MOST_COUNTED})))`

/** Written as a range over one endpoint. With `=`, the planner may scan the attempts of all endpoints backwards. */
const LAST_ATTEMPT = sql`(
  select json_build_object('at', at, 'status', status, 'failure', failure) from webhook_attempt
  where endpoint_id between endpoint.id and endpoint.id order by endpoint_id, id desc limit 1)`

/** Returns endpoints in the order of their numbers. */
export async function selectEndpoints(
  db: Db,
  { storeId, endpointId, failing = false, after, limit }: EndpointFilter,
): Promise<EndpointRow[]> {
  const { rows } = await sql<EndpointRow>`
    select endpoint.id as "endpointId", store.id as "storeId", store.name as store, url, endpoint.state,
      disabled_reason as "disabledReason",
      (select count(*)::int from (select ${RETRYING} limit ${MOST_COUNTED}) counted) as retrying,
      (select count(*)::int from (select ${GIVEN_UP} limit ${MOST_COUNTED}) counted) as "givenUp",
      given_up."from" as "givenUpFrom", given_up."to" as "givenUpTo",
      (select event.created_at from event where event.id = (
        select event_id ${RETRYING} and attempts = (select max(attempts) ${RETRYING})
        order by due_at limit 1)) as "failingSince",
      ${LAST_ATTEMPT} as "lastAttempt"
    from (
      select * from webhook_endpoint endpoint
      where removed_at is null and (${after ?? null}::bigint is null or id > ${after ?? null})
        and (${storeId ?? null}::bigint is null or store_id = ${storeId ?? null})
        and (${endpointId ?? null}::bigint is null or id = ${endpointId ?? null})
        and (not ${failing} or disabled_reason = 'gone' or exists (select ${RETRYING}) or exists (select ${GIVEN_UP}))
      order by id limit ${limit}
    ) endpoint join store on store.id = endpoint.store_id
    cross join lateral ${GIVEN_UP_RANGE} given_up
    order by "endpointId" limit ${limit}`.execute(db)
  return rows.map((row) => ({
    ...row,
    lastAttempt: row.lastAttempt && { ...row.lastAttempt, at: new Date(row.lastAttempt.at) },
  }))
}

/** Returns the store and the URL of an endpoint; undefined if there is no such endpoint. */
export function storeOfEndpoint(db: Db | Tx, endpointId: bigint) {
  return db
    .selectFrom('webhook_endpoint')
    .select(['store_id as storeId', 'url'])
    .where('id', '=', endpointId)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
}
