/** The sessions of the console. Only hashes of a session's two secrets are stored. */
import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { NOTED_EVERY_MS, type SessionTimes } from './session.ts'
import { hasEnded, type Operator } from './store.ts'

/** The operator is null if a sandbox's key signed in, which needs no passkey. `sandboxSha256`: the hash of that key. */
type Owner = { operatorId: bigint; sandboxSha256: null } | { operatorId: null; sandboxSha256: Buffer }

export type NewSession = Owner & { cookieSha256: Buffer; pageSha256: Buffer; at: Date }

const MOST_SWEPT = 100

/** Inserts a session. Also deletes some ended ones, because no job does. */
export async function insertSession(
  db: Db | Tx,
  { cookieSha256, pageSha256, operatorId, sandboxSha256, at }: NewSession,
): Promise<void> {
  await sql`delete from operator_session where cookie_sha256 in
    (select cookie_sha256 from operator_session where ${hasEnded(at)} limit ${MOST_SWEPT})`.execute(db)
  await db
    .insertInto('operator_session')
    .values({
      cookie_sha256: cookieSha256,
      page_sha256: pageSha256,
      operator_id: operatorId,
      sandbox_sha256: sandboxSha256,
      begun_at: at,
      used_at: at,
      verified_at: at,
    })
    .execute()
}

export type FoundSession = SessionTimes & {
  cookieSha256: Buffer
  pageSha256: Buffer
  sandboxSha256: Buffer | null
  /** Null if a sandbox's key signed in. */
  operator: Operator | null
}

/** Returns the session of a cookie, even an expired one, unless its operator was removed. */
export async function findSession(db: Db, cookieSha256: Buffer): Promise<FoundSession | undefined> {
  const row = await db
    .selectFrom('operator_session as session')
    .leftJoin('operator', 'operator.id', 'session.operator_id')
    .select(['begun_at as begunAt', 'used_at as usedAt', 'verified_at as verifiedAt'])
    .select(['page_sha256 as pageSha256', 'sandbox_sha256 as sandboxSha256'])
    .select(['operator.id as operatorId', 'operator.name', 'operator.role'])
    .where('cookie_sha256', '=', cookieSha256)
    .where('operator.removed_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { operatorId, name, role, ...session } = row
  const hasOperator = operatorId !== null && name !== null && role !== null
  return { ...session, cookieSha256, operator: hasOperator ? { operatorId, name, role } : null }
}

/** Updates the time of last use, but only occasionally, because an open page makes many calls. */
export async function noteUse(db: Db, { cookieSha256, usedAt }: FoundSession, now: Date): Promise<void> {
  if (now.getTime() - usedAt.getTime() < NOTED_EVERY_MS) return
  await db
    .updateTable('operator_session')
    .set({ used_at: now })
    .where('cookie_sha256', '=', cookieSha256)
    .where('used_at', '<', now)
    .execute()
}

/** Records a passkey check, which also counts as a use of the session. */
export async function noteCheck(tx: Tx, cookieSha256: Buffer, at: Date): Promise<void> {
  await tx
    .updateTable('operator_session')
    .set({ verified_at: at, used_at: at })
    .where('cookie_sha256', '=', cookieSha256)
    .execute()
}

export async function endSession(db: Db | Tx, cookieSha256: Buffer): Promise<void> {
  await db.deleteFrom('operator_session').where('cookie_sha256', '=', cookieSha256).execute()
}

/** Ends all sessions of the same operator or sandbox key. Returns their number. */
export async function endSessionsLike(db: Db, session: FoundSession): Promise<number> {
  const hasSameOwner = sql<SqlBool>`operator_id is not distinct from ${session.operator?.operatorId ?? null}
    and sandbox_sha256 is not distinct from ${session.sandboxSha256}`
  const { numDeletedRows } = await db.deleteFrom('operator_session').where(hasSameOwner).executeTakeFirst()
  return Number(numDeletedRows)
}
