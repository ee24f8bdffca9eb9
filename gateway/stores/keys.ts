/** A store's API keys: made, rotated, revoked, and asked for at every call. */
import type { Scope } from '../../contract/scopes.ts'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { CallingStore } from '../http/call.ts'
import type { Clock } from '../kit/clock.ts'
import { createApiKey, type Mode, type ParsedApiKey, sameSecret } from './api-key.ts'

const USED_EVERY_MS = 60_000
const HOUR_MS = 3_600_000

export type NewKey = { storeId: bigint; name: string; scopes: readonly Scope[] }

/** Makes a key; what it returns is shown this once. */
export async function addKey(
  tx: Tx,
  { mode, clock }: { mode: Mode; clock: Clock },
  { storeId, name, scopes }: NewKey,
): Promise<string> {
  const { key, id, secretSha256 } = createApiKey(mode)
  await tx
    .insertInto('api_key')
    .values({
      id,
      store_id: storeId,
      secret_sha256: secretSha256,
      name,
      scopes: [...scopes],
      created_at: clock.now(),
      revoked_at: null,
    })
    .execute()
  return key
}

/** The store of an API key; undefined if the key is unknown, wrong, revoked or over. */
export async function findStoreByKey(
  { db, clock }: { db: Db; clock: Clock },
  key: ParsedApiKey,
): Promise<CallingStore | undefined> {
  const now = clock.now()
  const row = await db
    .selectFrom('api_key')
    .innerJoin('store', 'store.id', 'api_key.store_id')
    .select(['store.id', 'store.name', 'store.origins', 'api_key.secret_sha256', 'api_key.scopes'])
    .select(['api_key.last_used_at', 'api_key.expires_at'])
    .where('api_key.id', '=', key.id)
    .where('api_key.revoked_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined || !sameSecret(row.secret_sha256, key.secretSha256)) return undefined
  if (row.expires_at !== null && row.expires_at <= now) return undefined
  if (row.last_used_at === null || now.getTime() - row.last_used_at.getTime() >= USED_EVERY_MS) {
    await db.updateTable('api_key').set({ last_used_at: now }).where('id', '=', key.id).execute()
  }
  return { id: row.id, name: row.name, origins: row.origins, keyId: key.id, scopes: row.scopes }
}

export type KeyFacts = {
  id: string
  name: string
  scopes: readonly Scope[]
  createdAt: Date
  lastUsedAt: Date | null
  expiresAt: Date | null
  revokedAt: Date | null
}

export async function listKeys(db: Db, storeId: bigint): Promise<KeyFacts[]> {
  return db
    .selectFrom('api_key')
    .select(['id', 'name', 'scopes', 'created_at as createdAt', 'last_used_at as lastUsedAt'])
    .select(['expires_at as expiresAt', 'revoked_at as revokedAt'])
    .where('store_id', '=', storeId)
    .orderBy('created_at')
    .execute()
}

/** Makes a key with the rights of this one, which works for `overlapHours` more. Undefined if it does not work now. */
export async function rotateKey(
  deps: { db: Db | Tx; mode: Mode; clock: Clock },
  id: string,
  overlapHours: number,
): Promise<string | undefined> {
  return inTransaction(deps.db, async (tx) => {
    const row = await tx
      .selectFrom('api_key')
      .select(['store_id', 'name', 'scopes', 'expires_at'])
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .forUpdate()
      .executeTakeFirst()
    const now = deps.clock.now()
    if (row === undefined || (row.expires_at !== null && row.expires_at <= now)) return undefined
    const end = new Date(now.getTime() + overlapHours * HOUR_MS)
    const expiresAt = row.expires_at !== null && row.expires_at < end ? row.expires_at : end
    await tx.updateTable('api_key').set({ expires_at: expiresAt }).where('id', '=', id).execute()
    return addKey(tx, deps, { storeId: row.store_id, name: row.name, scopes: row.scopes })
  })
}

/** Ends a key at once; false if there is none. */
export async function revokeKey({ db, clock }: { db: Db | Tx; clock: Clock }, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_key')
    .set({ revoked_at: clock.now() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
