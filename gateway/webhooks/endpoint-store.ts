import { type Selectable, sql, type Updateable } from 'kysely'
import type { EventType } from '../../contract/event-types.ts'
import type { Db, Tx } from '../db/client.ts'
import type { WebhookEndpointTable } from '../db/webhook-tables.ts'

export type EndpointRow = Selectable<WebhookEndpointTable>

type NewRow = {
  storeId: bigint
  url: string
  eventTypes: readonly EventType[] | null
  proved: boolean
  createdAt: Date
}

/**
 * Writes the row without its secret. The secret is written afterwards, because its encryption includes the row's id.
 */
export const insertEndpoint = (
  tx: Tx,
  { storeId, url, eventTypes, proved, createdAt }: NewRow,
): Promise<EndpointRow> =>
  tx
    .insertInto('webhook_endpoint')
    .values({
      store_id: storeId,
      url,
      secret: Buffer.alloc(0),
      event_types: eventTypes === null ? null : [...eventTypes],
      state: proved ? 'enabled' : 'pending',
      proved,
      created_at: createdAt,
    })
    .returningAll()
    .executeTakeFirstOrThrow()

/**
 * Returns how many endpoints the store has. Other calls that create an endpoint for it wait until the transaction ends.
 */
export async function lockAndCountEndpoints(tx: Tx, storeId: bigint): Promise<number> {
  await tx.selectFrom('store').select('id').where('id', '=', storeId).forUpdate().execute()
  return (await endpointsOf(tx, storeId)).length
}

/** Oldest first. */
export const endpointsOf = (db: Db | Tx, storeId: bigint): Promise<EndpointRow[]> =>
  db
    .selectFrom('webhook_endpoint')
    .selectAll()
    .where('store_id', '=', storeId)
    .where('removed_at', 'is', null)
    .orderBy('id')
    .execute()

const ownedBy = (db: Db | Tx, storeId: bigint, id: bigint) =>
  db
    .selectFrom('webhook_endpoint')
    .selectAll()
    .where('id', '=', id)
    .where('store_id', '=', storeId)
    .where('removed_at', 'is', null)

export const findEndpoint = (db: Db | Tx, storeId: bigint, id: bigint): Promise<EndpointRow | undefined> =>
  ownedBy(db, storeId, id).executeTakeFirst()

export const lockEndpoint = (
  tx: Tx,
  storeId: bigint,
  { id, as }: { id: bigint; as: 'share' | 'no key update' },
): Promise<EndpointRow | undefined> => {
  const query = ownedBy(tx, storeId, id)
  return (as === 'share' ? query.forShare() : query.forNoKeyUpdate()).executeTakeFirst()
}

type Change = Pick<
  Updateable<WebhookEndpointTable>,
  'url' | 'event_types' | 'state' | 'disabled_reason' | 'secret' | 'previous_secret' | 'previous_until'
>

/** Resolves to undefined if the store has no such endpoint. */
export const changeEndpoint = (
  db: Db | Tx,
  storeId: bigint,
  { id, change }: { id: bigint; change: Change },
): Promise<EndpointRow | undefined> =>
  db
    .updateTable('webhook_endpoint')
    .set(change)
    .where('id', '=', id)
    .where('store_id', '=', storeId)
    .where('removed_at', 'is', null)
    .returningAll()
    .executeTakeFirst()

/**
 * Disables an endpoint and gives up its first `MOST_GIVEN_UP` waiting deliveries. `sweepDisabledEndpoints` gives up the
 * rest. Locks the endpoint before its deliveries, as every transaction that locks both must.
 */
export async function disableEndpoint(tx: Tx, id: bigint, reason: 'by_store' | 'gone'): Promise<EndpointRow> {
  const row = await tx
    .updateTable('webhook_endpoint')
    .set({ state: 'disabled', disabled_reason: reason })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await giveUpDeliveries(tx, id)
  return row
}

/** The most deliveries that one transaction gives up, because it keeps the endpoint locked. */
export const MOST_GIVEN_UP = 500

/**
 * Gives up waiting deliveries of a locked, disabled endpoint, and returns their number. If it is `MOST_GIVEN_UP`, more
 * may be left.
 */
export async function giveUpDeliveries(tx: Tx, id: bigint): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update webhook_delivery set state = 'failed', due_at = null, last_result = (
      select case when removed_at is null then 'the endpoint was disabled' else 'the endpoint was removed' end
      from webhook_endpoint where id = ${id})
    where id = any(array(
      select id from webhook_delivery where endpoint_id = ${id} and state = 'due'
      order by due_at limit ${MOST_GIVEN_UP} for update))`.execute(tx)
  return Number(numAffectedRows)
}

/** Like `giveUpDeliveries`, but locks the endpoint, and returns 0 if it is not disabled. */
export async function giveUpIfDisabled(tx: Tx, id: bigint): Promise<number> {
  const endpoint = await tx
    .selectFrom('webhook_endpoint')
    .select('id')
    .where('id', '=', id)
    .where('state', '=', 'disabled')
    .forShare()
    .executeTakeFirst()
  return endpoint === undefined ? 0 : giveUpDeliveries(tx, id)
}

/** Up to `limit` endpoints, removed ones too, whose deliveries were not all given up when they were disabled. */
export async function disabledEndpointsWithDue(db: Db, limit: number): Promise<bigint[]> {
  const rows = await db
    .selectFrom('webhook_endpoint')
    .select('id')
    .where('state', '=', 'disabled')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('webhook_delivery')
          .select('webhook_delivery.id')
          .whereRef('webhook_delivery.endpoint_id', '=', 'webhook_endpoint.id')
          .where('webhook_delivery.state', '=', 'due'),
      ),
    )
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/**
 * Removes a locked endpoint, and gives up deliveries as `disableEndpoint` does. If deliveries refer to its row, the row
 * stays without its secrets.
 */
export async function removeEndpoint(tx: Tx, id: bigint, now: Date): Promise<void> {
  const { numDeletedRows } = await tx
    .deleteFrom('webhook_endpoint')
    .where('id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('webhook_delivery').select('id').where('endpoint_id', '=', id))),
    )
    .executeTakeFirstOrThrow()
  if (numDeletedRows > 0n) return
  await tx
    .updateTable('webhook_endpoint')
    .set({ state: 'disabled', disabled_reason: 'by_store', removed_at: now })
    .set({ secret: Buffer.alloc(0), previous_secret: null, previous_until: null })
    .where('id', '=', id)
    .execute()
  await giveUpDeliveries(tx, id)
}

/**
 * Enables an endpoint whose URL the operator entered, which is proof enough. If it was disabled, first gives up the
 * deliveries that the sweep has not reached, because they would be sent.
 */
export async function enableByOperator(tx: Tx, id: bigint): Promise<void> {
  let givenUp = MOST_GIVEN_UP
  while (givenUp === MOST_GIVEN_UP) givenUp = await giveUpIfDisabled(tx, id)
  await tx
    .updateTable('webhook_endpoint')
    .set({ proved: true, state: 'enabled', disabled_reason: null })
    .where('id', '=', id)
    .execute()
}

/**
 * Enables an endpoint that has proved `url`. Resolves to false if its URL has changed, or if it was not waiting for
 * its proof.
 */
export async function proveEndpoint(db: Db, id: bigint, url: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_endpoint')
    .set({ state: 'enabled', proved: true })
    .where('id', '=', id)
    .where('url', '=', url)
    .where('state', '=', 'pending')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
