/** The rows of webhook endpoints. */
import type { Selectable, Updateable } from 'kysely'
import type { EventType } from '../../contract/webhooks.ts'
import type { Db, Tx } from '../db/client.ts'
import type { WebhookEndpointTable } from '../db/schema.ts'

export type EndpointRow = Selectable<WebhookEndpointTable>

type NewRow = { storeId: bigint; url: string; eventTypes: readonly EventType[] | null; createdAt: Date }

/** Its secret is sealed with its id, so it is written afterwards. */
export const insertEndpoint = (
  tx: Tx,
  { storeId, url, eventTypes, createdAt }: NewRow,
): Promise<EndpointRow> =>
  tx
    .insertInto('webhook_endpoint')
    .values({
      store_id: storeId,
      url,
      secret: Buffer.alloc(0),
      event_types: eventTypes === null ? null : [...eventTypes],
      created_at: createdAt,
    })
    .returningAll()
    .executeTakeFirstOrThrow()

/** How many endpoints the store has. Parallel creations of one store wait here until the transaction ends. */
export async function lockedCountOfEndpoints(tx: Tx, storeId: bigint): Promise<number> {
  await tx.selectFrom('store').select('id').where('id', '=', storeId).forUpdate().execute()
  const rows = await tx.selectFrom('webhook_endpoint').select('id').where('store_id', '=', storeId).execute()
  return rows.length
}

/** The oldest first. */
export const endpointsOf = (db: Db | Tx, storeId: bigint): Promise<EndpointRow[]> =>
  db.selectFrom('webhook_endpoint').selectAll().where('store_id', '=', storeId).orderBy('id').execute()

const ownedBy = (db: Db | Tx, storeId: bigint, id: bigint) =>
  db.selectFrom('webhook_endpoint').selectAll().where('id', '=', id).where('store_id', '=', storeId)

export const findEndpoint = (db: Db | Tx, storeId: bigint, id: bigint): Promise<EndpointRow | undefined> =>
  ownedBy(db, storeId, id).executeTakeFirst()

/** Nobody changes the endpoint until the transaction ends. */
export const lockEndpoint = (
  tx: Tx,
  storeId: bigint,
  { id, as }: { id: bigint; as: 'share' | 'no key update' },
): Promise<EndpointRow | undefined> => {
  const wanted = ownedBy(tx, storeId, id)
  return (as === 'share' ? wanted.forShare() : wanted.forNoKeyUpdate()).executeTakeFirst()
}

type Change = Pick<
  Updateable<WebhookEndpointTable>,
  'url' | 'event_types' | 'state' | 'disabled_reason' | 'secret' | 'previous_secret' | 'previous_until'
>

/** Undefined if the store has no such endpoint. */
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
    .returningAll()
    .executeTakeFirst()

/**
 * Disables an endpoint and gives up its waiting deliveries. The endpoint is locked first and its deliveries after it, as
 * everywhere that both are written.
 */
export async function disableEndpoint(tx: Tx, id: bigint, reason: 'by_store' | 'gone'): Promise<EndpointRow> {
  const row = await tx
    .updateTable('webhook_endpoint')
    .set({ state: 'disabled', disabled_reason: reason })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await tx
    .updateTable('webhook_delivery')
    .set({ state: 'failed', due_at: null, last_result: 'the endpoint was disabled' })
    .where('endpoint_id', '=', id)
    .where('state', '=', 'due')
    .execute()
  return row
}
