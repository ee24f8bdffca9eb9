/** Endpoints of all stores, and what became of their deliveries. */
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'

export type EndpointFilter = {
  storeId?: bigint | undefined
  /** Only those that take nothing now, or that gave something up. */
  failing?: boolean | undefined
  /** Only endpoints after this one: the next page. */
  after?: bigint | undefined
  limit: number
}

export type EndpointRow = {
  endpointId: bigint
  storeId: bigint
  store: string
  url: string
  state: 'pending' | 'enabled' | 'disabled'
  disabledReason: 'by_store' | 'gone' | null
  /** Deliveries that failed and come again; `MOST_COUNTED` stands for so many or more. */
  retrying: number
  /** Deliveries that were given up. */
  givenUp: number
  /** When the longest wait among those that come again began. */
  failingSince: Date | null
  lastAttempt: { at: Date; status: number | null; failure: string | null } | null
}

export const MOST_COUNTED = 1_000

/** In the order of their numbers. */
export async function selectEndpoints(
  db: Db,
  { storeId, failing = false, after, limit }: EndpointFilter,
): Promise<EndpointRow[]> {
  const { rows } = await sql<EndpointRow>`
    select * from (
      select endpoint.id as "endpointId", store.id as "storeId", store.name as store, url, endpoint.state,
        disabled_reason as "disabledReason",
        (select count(*)::int from (select from webhook_delivery where endpoint_id = endpoint.id and state = 'due'
          and claim > 0 and attempts > 0 limit ${MOST_COUNTED}) counted) as retrying,
        (select count(*)::int from (select from webhook_delivery where endpoint_id = endpoint.id and state = 'failed'
          limit ${MOST_COUNTED}) counted) as "givenUp",
        (select event.created_at from webhook_delivery delivery join event on event.id = delivery.event_id
          where endpoint_id = endpoint.id and delivery.state = 'due' and claim > 0 and attempts > 0
          order by attempts desc, due_at limit 1) as "failingSince",
        last.attempt as "lastAttempt"
      from webhook_endpoint endpoint join store on store.id = endpoint.store_id
      left join lateral (select json_build_object('at', at, 'status', status, 'failure', failure) as attempt
        from webhook_attempt where endpoint_id = endpoint.id order by id desc limit 1) last on true
      where removed_at is null and (${after ?? null}::bigint is null or endpoint.id > ${after ?? null})
        and (${storeId ?? null}::bigint is null or store.id = ${storeId ?? null})
    ) listed
    where not ${failing} or retrying > 0 or "givenUp" > 0 or "disabledReason" = 'gone'
    order by "endpointId" limit ${limit}`.execute(db)
  return rows.map((row) => ({
    ...row,
    lastAttempt: row.lastAttempt && { ...row.lastAttempt, at: new Date(row.lastAttempt.at) },
  }))
}

/** Whose endpoint it is; undefined if there is no such one. */
export function storeOfEndpoint(db: Db | Tx, endpointId: bigint) {
  return db
    .selectFrom('webhook_endpoint')
    .select(['store_id as storeId', 'url'])
    .where('id', '=', endpointId)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
}
