import type { Scope } from '../../contract/scopes.ts'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { CallingStore } from '../http/call.ts'
import type { Clock } from '../kit/clock.ts'
import { DAY_MS, HOUR_MS } from '../kit/duration.ts'
import type { Log } from '../kit/log.ts'
import { isSameBytes } from '../kit/same-bytes.ts'
import { createApiKey, type Mode, type ParsedApiKey } from './api-key.ts'
import { changeKey, findKey, insertKey, keysOf, lockKey } from './store.ts'

/** The least time between two updates of a key's last use. */
const LAST_USE_EVERY_MS = 60_000
const UNUSED_DAYS = 30
const SOON_DAYS = 14
const EXPIRED = 'expired API key was used and refused'

export type NewKey = {
  storeId: bigint
  name: string
  scopes: readonly Scope[]
  /** Lifetime in seconds; null means until it is revoked. */
  lifetimeS: number | null
}

/** Returns the new key, which is stored only as a hash. */
export async function addKey(
  tx: Tx,
  { mode, clock }: { mode: Mode; clock: Clock },
  { storeId, name, scopes, lifetimeS }: NewKey,
): Promise<string> {
  const { key, id, secretSha256 } = createApiKey(mode)
  const now = clock.now()
  await insertKey(tx, {
    id,
    store_id: storeId,
    secret_sha256: secretSha256,
    name,
    scopes: [...scopes],
    created_at: now,
    revoked_at: null,
    lifetime_s: lifetimeS,
    expires_at: lifetimeS === null ? null : new Date(now.getTime() + lifetimeS * 1_000),
  })
  return key
}

/**
 * Returns the store of an API key; undefined if the key is unknown, wrong, revoked or expired. The use of an expired
 * key is logged, at most once a minute, because the program that uses it needs a new one.
 */
export async function findStoreByKey(
  { db, clock, log }: { db: Db; clock: Clock; log?: Log | undefined },
  key: ParsedApiKey,
): Promise<CallingStore | undefined> {
  const now = clock.now()
  const row = await findKey(db, key.id)
  if (row === undefined || !isSameBytes(row.secret_sha256, key.secretSha256)) return undefined
  const hasExpired = row.expires_at !== null && row.expires_at <= now
  // Without a log, do not update an expired key's last use, or the next call with a log would write no line.
  if (hasExpired && log === undefined) return undefined
  if (row.last_used_at === null || now.getTime() - row.last_used_at.getTime() >= LAST_USE_EVERY_MS) {
    await changeKey(db, key.id, { last_used_at: now })
    if (hasExpired) log?.warn({ store: row.store_id, key: key.id, expiredAt: row.expires_at }, EXPIRED)
  }
  if (hasExpired) return undefined
  return { id: row.store_id, name: row.store_name, origins: row.origins, keyId: key.id, scopes: row.scopes }
}

export type KeyFacts = {
  id: string
  name: string
  scopes: readonly Scope[]
  createdAt: Date
  lastUsedAt: Date | null
  expiresAt: Date | null
  revokedAt: Date | null
  /** Whether the key works but has not been used for 30 days. */
  unused: boolean
  /** Whether the key ends within 14 days. */
  endsSoon: boolean
}

export async function listKeys(db: Db, storeId: bigint, now: Date): Promise<KeyFacts[]> {
  const rows = await keysOf(db, storeId)
  return rows.map((key) => {
    const { createdAt, lastUsedAt, expiresAt, revokedAt } = key
    const isValid = revokedAt === null && (expiresAt === null || expiresAt > now)
    const untouchedMs = now.getTime() - (lastUsedAt ?? createdAt).getTime()
    const endsInMs = expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime() - now.getTime()
    return {
      ...key,
      unused: isValid && untouchedMs >= UNUSED_DAYS * DAY_MS,
      endsSoon: isValid && endsInMs <= SOON_DAYS * DAY_MS,
    }
  })
}

/**
 * Creates a key with the same scopes and lifetime. The old key works for `overlapHours` more, unless it expires
 * earlier. Returns undefined if there is no such key, or it has ended.
 */
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
    const { store_id: storeId, name, scopes, lifetime_s: lifetimeS } = row
    return addKey(tx, deps, { storeId, name, scopes, lifetimeS })
  })
}

/** Resolves to false if there is no such key, or it is already revoked. */
export const revokeKey = ({ db, clock }: { db: Db | Tx; clock: Clock }, id: string): Promise<boolean> =>
  changeKey(db, id, { revoked_at: clock.now() })
