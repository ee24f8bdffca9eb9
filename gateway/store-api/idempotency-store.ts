/** The rows of Idempotency-Keys. */
import type { Db, Tx } from '../db/client.ts'
import { deleteBefore } from '../db/sweep-store.ts'

export type StoreKey = { storeId: bigint; key: string }

/** A call that begins now. */
export type Begun = { requestSha256: Buffer; at: Date; lockedUntil: Date }

const rowOf = ({ requestSha256, at, lockedUntil }: Begun) => ({
  request_sha256: requestSha256,
  created_at: at,
  locked_until: lockedUntil,
  status: null,
  answer: null,
})

/** False if the key is taken. */
export async function insertKey(tx: Tx, { storeId, key }: StoreKey, begun: Begun): Promise<boolean> {
  const inserted = await tx
    .insertInto('idempotency_key')
    .values({ store_id: storeId, key, ...rowOf(begun) })
    .onConflict((conflict) => conflict.columns(['store_id', 'key']).doNothing())
    .returning('key')
    .executeTakeFirst()
  return inserted !== undefined
}

export const lockKey = (tx: Tx, { storeId, key }: StoreKey) =>
  tx
    .selectFrom('idempotency_key')
    .selectAll()
    .where('store_id', '=', storeId)
    .where('key', '=', key)
    .forUpdate()
    .executeTakeFirst()

export async function takeKey(tx: Tx, { storeId, key }: StoreKey, begun: Begun): Promise<void> {
  await tx
    .updateTable('idempotency_key')
    .set(rowOf(begun))
    .where('store_id', '=', storeId)
    .where('key', '=', key)
    .execute()
}

export async function keepAnswer(
  db: Db,
  { storeId, key }: StoreKey,
  answered: { status: number; answer: Buffer },
): Promise<void> {
  await db
    .updateTable('idempotency_key')
    .set({ ...answered, locked_until: null })
    .where('store_id', '=', storeId)
    .where('key', '=', key)
    .execute()
}

export async function deleteKey(db: Db, { storeId, key }: StoreKey): Promise<void> {
  await db.deleteFrom('idempotency_key').where('store_id', '=', storeId).where('key', '=', key).execute()
}

export const deleteKeysBefore = (db: Db, before: Date): Promise<void> =>
  deleteBefore(db, { table: 'idempotency_key', column: 'created_at' }, before)
