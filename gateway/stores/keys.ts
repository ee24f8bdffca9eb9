/** A store's API keys: created, rotated, revoked, and checked at every call. */
import type { Scope } from '../../contract/scopes.ts'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { CallingStore } from '../http/call.ts'
import type { Clock } from '../kit/clock.ts'
import { createApiKey, type Mode, type ParsedApiKey, sameSecret } from './api-key.ts'
import { changeKey, findKey, insertKey, keysOf, lockKey } from './store.ts'

const USED_EVERY_MS = 60_000
const HOUR_MS = 3_600_000

export type NewKey = { storeId: bigint; name: string; scopes: readonly Scope[] }

/** Creates a key and returns it. It is shown this once. */
export async function addKey(
  tx: Tx,
  { mode, clock }: { mode: Mode; clock: Clock },
  { storeId, name, scopes }: NewKey,
): Promise<string> {
  const { key, id, secretSha256 } = createApiKey(mode)
  await insertKey(tx, {
    id,
    store_id: storeId,
    secret_sha256: secretSha256,
    name,
    scopes: [...scopes],
    created_at: clock.now(),
    revoked_at: null,
  })
  return key
}

/** The store of an API key. Undefined if the key is unknown, wrong, revoked or expired. */
export async function findStoreByKey(
  { db, clock }: { db: Db; clock: Clock },
  key: ParsedApiKey,
): Promise<CallingStore | undefined> {
  const now = clock.now()
  const row = await findKey(db, key.id)
  if (row === undefined || !sameSecret(row.secret_sha256, key.secretSha256)) return undefined
  if (row.expires_at !== null && row.expires_at <= now) return undefined
  if (row.last_used_at === null || now.getTime() - row.last_used_at.getTime() >= USED_EVERY_MS) {
    await changeKey(db, key.id, { last_used_at: now })
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

export const listKeys = (db: Db, storeId: bigint): Promise<KeyFacts[]> => keysOf(db, storeId)

/** Creates a key with the rights of this one, which works for `overlapHours` more. Undefined if it has ended. */
export async function rotateKey(
  deps: { db: Db | Tx; mode: Mode; clock: Clock },
  id: string,
  overlapHours: number,
): Promise<string | undefined> {
  return inTransaction(deps.db, async (tx) => {
    const row = await lockKey(tx, id)
    const now = deps.clock.now()
    if (row === undefined || (row.expires_at !== null && row.expires_at <= now)) return undefined
    const end = new Date(now.getTime() + overlapHours * HOUR_MS)
    const expiresAt = row.expires_at !== null && row.expires_at < end ? row.expires_at : end
    await changeKey(tx, id, { expires_at: expiresAt })
    return addKey(tx, deps, { storeId: row.store_id, name: row.name, scopes: row.scopes })
  })
}

/** Ends a key at once. False if there is no such key, or if it had ended. */
export const revokeKey = ({ db, clock }: { db: Db | Tx; clock: Clock }, id: string): Promise<boolean> =>
  changeKey(db, id, { revoked_at: clock.now() })
