import type { Insertable, Updateable } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import type { ApiKeyTable, StoreTable } from '../db/schema.ts'

export async function insertStore(tx: Tx, store: Insertable<StoreTable>): Promise<bigint> {
  const { id } = await tx.insertInto('store').values(store).returning('id').executeTakeFirstOrThrow()
  return id
}

/** Returns false if there is no such store. An empty change leaves the row as it is. */
export async function changeStore(
  tx: Tx,
  id: bigint,
  change: Omit<Updateable<StoreTable>, 'id' | 'last_sequence' | 'created_at'>,
): Promise<boolean> {
  if (Object.keys(change).length === 0) {
    return (await tx.selectFrom('store').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
  }
  const { numUpdatedRows } = await tx
    .updateTable('store')
    .set(change)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function insertKey(tx: Tx, key: Insertable<ApiKeyTable>): Promise<void> {
  await tx.insertInto('api_key').values(key).execute()
}

/** Returns the store of a key, and the key's own columns, unless the key was revoked. It may have expired. */
export const findKey = (db: Db, id: string) =>
  db
    .selectFrom('api_key')
    .innerJoin('store', 'store.id', 'api_key.store_id')
    .select(['store.id as store_id', 'store.name as store_name', 'store.origins'])
    .select(['api_key.secret_sha256', 'api_key.scopes', 'api_key.last_used_at', 'api_key.expires_at'])
    .where('api_key.id', '=', id)
    .where('api_key.revoked_at', 'is', null)
    .executeTakeFirst()

/** Oldest first, including revoked and expired ones. */
export const keysOf = (db: Db, storeId: bigint) =>
  db
    .selectFrom('api_key')
    .select(['id', 'name', 'scopes', 'created_at as createdAt', 'last_used_at as lastUsedAt'])
    .select(['expires_at as expiresAt', 'revoked_at as revokedAt'])
    .where('store_id', '=', storeId)
    .orderBy('created_at')
    .execute()

/** Returns a key, unless it was revoked, and locks it until the transaction ends. */
export const lockKey = (tx: Tx, id: string) =>
  tx
    .selectFrom('api_key')
    .select(['store_id', 'name', 'scopes', 'expires_at', 'lifetime_s'])
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()

/** Returns false if there is no such key or it was revoked. */
export async function changeKey(
  db: Db | Tx,
  id: string,
  change: Pick<Updateable<ApiKeyTable>, 'last_used_at' | 'expires_at' | 'revoked_at'>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_key')
    .set(change)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
