import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { deleteBefore } from '../db/sweep-store.ts'

export type StoreKey = { storeId: bigint; key: string }

export type StartingCall = { requestSha256: Buffer; at: Date }

/** End of a lock, as stored. It identifies the holder, because the next holder of the key writes a different time. */
export type KeyLock = string

/**
 * The end of a lock that nobody renews, for example because its process was killed. Uses the database's clock, because
 * the clocks of two gateways differ and an advance of the till's clock must not end the lock.
 */
const lockEnd = sql<Date>`now() + interval '30 seconds'`
const lock = sql<KeyLock>`locked_until::text`.as('lock')

const rowOf = ({ requestSha256, at }: StartingCall) => ({
  request_sha256: requestSha256,
  created_at: at,
  locked_until: lockEnd,
  status: null,
  answer: null,
  deposit_id: null,
})

/** Adds a key and locks it. Returns undefined if the store has used the key before. */
export async function insertKey(
  tx: Tx,
  { storeId, key }: StoreKey,
  starting: StartingCall,
): Promise<KeyLock | undefined> {
  const inserted = await tx
    .insertInto('idempotency_key')
    .values({ store_id: storeId, key, ...rowOf(starting) })
    .onConflict((conflict) => conflict.columns(['store_id', 'key']).doNothing())
    .returning(lock)
    .executeTakeFirst()
  return inserted?.lock
}

/** Returns the row of a key, and locks it until the transaction ends. */
export const lockKey = (tx: Tx, { storeId, key }: StoreKey) =>
  tx
    .selectFrom('idempotency_key')
    .selectAll()
    .select(sql<boolean>`coalesce(locked_until > now(), false)`.as('is_locked'))
    .where('store_id', '=', storeId)
    .where('key', '=', key)
    .forUpdate()
    .executeTakeFirst()

/** Takes over a key for a new call. */
export async function takeKey(tx: Tx, { storeId, key }: StoreKey, starting: StartingCall): Promise<KeyLock> {
  const taken = await tx
    .updateTable('idempotency_key')
    .set(rowOf(starting))
    .where('store_id', '=', storeId)
    .where('key', '=', key)
    .returning(lock)
    .executeTakeFirstOrThrow()
  return taken.lock
}

export type LockedKey = StoreKey & { lock: KeyLock }

const hasLock = ({ storeId, key, lock }: LockedKey): RawBuilder<boolean> =>
  sql`store_id = ${storeId} and key = ${key} and locked_until = ${lock}::timestamptz`

/** Extends the lock. Returns undefined if this call no longer has it. */
export async function renewKey(db: Db, key: LockedKey): Promise<KeyLock | undefined> {
  const renewed = await db
    .updateTable('idempotency_key')
    .set({ locked_until: lockEnd })
    .where(hasLock(key))
    .returning(lock)
    .executeTakeFirst()
  return renewed?.lock
}

/** Stores the answer and ends the lock. Returns false, and stores nothing, if this call no longer has the lock. */
export async function keepAnswer(
  db: Db,
  key: LockedKey,
  answered: { status: number; answer: Buffer; deposit_id: bigint | null },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('idempotency_key')
    .set({ ...answered, locked_until: null })
    .where(hasLock(key))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Returns false if this call no longer has the lock. */
export async function deleteKey(db: Db, key: LockedKey): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('idempotency_key').where(hasLock(key)).executeTakeFirst()
  return numDeletedRows > 0n
}

export const deleteKeysBefore = (db: Db, before: Date): Promise<void> =>
  deleteBefore(db, { table: 'idempotency_key', column: 'created_at' }, before)
