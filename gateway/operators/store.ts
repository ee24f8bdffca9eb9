import { type SqlBool, sql } from 'kysely'
import type { OperatorRole } from '../../contract/operators.ts'
import type { Db, Tx } from '../db/client.ts'
import { endsOf, latestOf } from './session.ts'

export type Operator = { operatorId: bigint; name: string; role: OperatorRole }

const sameName = (name: string) => sql<SqlBool>`lower(name) = lower(${name})`

/** Returns undefined if an operator with that name exists. */
export async function insertOperator(
  tx: Tx,
  { name, role, userHandle }: { name: string; role: OperatorRole; userHandle: Buffer },
): Promise<bigint | undefined> {
  const row = await tx
    .insertInto('operator')
    .values({ name, role, user_handle: userHandle })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

export function findOperator(db: Db | Tx, name: string): Promise<Operator | undefined> {
  return db
    .selectFrom('operator')
    .select(['id as operatorId', 'name', 'role'])
    .where(sameName(name))
    .where('removed_at', 'is', null)
    .executeTakeFirst()
}

/**
 * Locks an operator until the transaction ends, so no other transaction removes the operator meanwhile. Returns false if
 * the operator was removed.
 */
export async function lockOperator(tx: Tx, operatorId: bigint): Promise<boolean> {
  const row = await tx
    .selectFrom('operator')
    .select('id')
    .where('id', '=', operatorId)
    .where('removed_at', 'is', null)
    .forShare()
    .executeTakeFirst()
  return row !== undefined
}

/** No link and no challenge is made for longer than this. */
export const LONGEST_LIFE_MS = 10 * 60_000

/** A link or challenge with a later end comes from a clock that was ahead. */
const latestEndOf = (now: Date): Date => new Date(latestOf(now).getTime() + LONGEST_LIFE_MS)

/** Whether a session has ended: the opposite of `isAlive`, in SQL. */
export function hasEnded(now: Date) {
  const { idleSince, begunBefore, latest } = endsOf(now)
  return sql<boolean>`(used_at <= ${idleSince} or begun_at <= ${begunBefore}
    or used_at > ${latest} or begun_at > ${latest})`
}

export type ListedOperator = Operator & {
  createdAt: Date
  passkeys: number
  sessions: number
}

/** Returns operators, oldest first. Sessions that have ended do not count. `now`: by the machine's clock. */
export async function selectOperators(db: Db, now: Date): Promise<ListedOperator[]> {
  const { rows } = await sql<ListedOperator>`
    select id as "operatorId", name, role, created_at as "createdAt",
      (select count(*) from operator_passkey where operator_id = operator.id)::int as passkeys,
      (select count(*) from operator_session where operator_id = operator.id
        and not ${hasEnded(now)})::int as sessions
    from operator where removed_at is null order by id limit 1000`.execute(db)
  return rows
}

/** Removes the operator and every way to sign in. */
export async function removeOperator(
  tx: Tx,
  { operatorId, at }: { operatorId: bigint; at: Date },
): Promise<void> {
  await tx.updateTable('operator').set({ removed_at: at }).where('id', '=', operatorId).execute()
  for (const table of ['operator_link', 'operator_passkey', 'operator_session'] as const) {
    await tx.deleteFrom(table).where('operator_id', '=', operatorId).execute()
  }
}

export async function replaceLink(
  tx: Tx,
  link: { operatorId: bigint; secretSha256: Buffer; expiresAt: Date },
): Promise<void> {
  const values = { secret_sha256: link.secretSha256, expires_at: link.expiresAt }
  await tx
    .insertInto('operator_link')
    .values({ operator_id: link.operatorId, ...values })
    .onConflict((conflict) => conflict.column('operator_id').doUpdateSet(values))
    .execute()
}

export type LinkedOperator = Operator & { userHandle: Buffer }

/** Returns the operator of a link, unless the link was used or has expired. */
export function operatorOfLink(
  db: Db | Tx,
  secretSha256: Buffer,
  now: Date,
): Promise<LinkedOperator | undefined> {
  return db
    .selectFrom('operator_link as link')
    .innerJoin('operator', 'operator.id', 'link.operator_id')
    .select(['operator.id as operatorId', 'name', 'role', 'user_handle as userHandle'])
    .where('secret_sha256', '=', secretSha256)
    .where('expires_at', '>', now)
    .where('expires_at', '<=', latestEndOf(now))
    .where('removed_at', 'is', null)
    .executeTakeFirst()
}

/** Uses up a link. Returns false if it was used before or has expired. */
export async function spendLink(tx: Tx, secretSha256: Buffer, now: Date): Promise<boolean> {
  const spent = await tx
    .deleteFrom('operator_link')
    .where('secret_sha256', '=', secretSha256)
    .where('expires_at', '>', now)
    .where('expires_at', '<=', latestEndOf(now))
    .returning('operator_id')
    .executeTakeFirst()
  return spent !== undefined
}

export type Passkey = { credentialId: string; publicKey: Buffer; counter: bigint; transports: string[] }

/** Returns false if the passkey already belongs to an operator. */
export async function insertPasskey(tx: Tx, operatorId: bigint, passkey: Passkey): Promise<boolean> {
  const row = await tx
    .insertInto('operator_passkey')
    .values({
      credential_id: passkey.credentialId,
      operator_id: operatorId,
      public_key: passkey.publicKey,
      counter: passkey.counter,
      transports: passkey.transports,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('credential_id')
    .executeTakeFirst()
  return row !== undefined
}

export function passkeysOf(
  db: Db,
  operatorId: bigint,
): Promise<Pick<Passkey, 'credentialId' | 'transports'>[]> {
  return db
    .selectFrom('operator_passkey')
    .select(['credential_id as credentialId', 'transports'])
    .where('operator_id', '=', operatorId)
    .orderBy('created_at')
    .limit(50)
    .execute()
}

export function findPasskey(tx: Tx, credentialId: string): Promise<(Passkey & Operator) | undefined> {
  return tx
    .selectFrom('operator_passkey as passkey')
    .innerJoin('operator', 'operator.id', 'passkey.operator_id')
    .select(['credential_id as credentialId', 'public_key as publicKey', 'counter', 'transports'])
    .select(['operator.id as operatorId', 'name', 'role'])
    .where('credential_id', '=', credentialId)
    .where('removed_at', 'is', null)
    .forUpdate('passkey')
    .executeTakeFirst()
}

/** Stores the passkey's latest count of its own signatures. */
export async function saveCounter(tx: Tx, credentialId: string, counter: bigint): Promise<void> {
  await tx
    .updateTable('operator_passkey')
    .set({ counter })
    .where('credential_id', '=', credentialId)
    .execute()
}

export type Challenge = {
  challenge: Buffer
  /** `register`: to add a passkey; `step_up`: to confirm an act with a passkey. */
  purpose: 'register' | 'sign_in' | 'step_up'
  /** Hash of the link or cookie that it was made for; null for a sign-in. */
  askedBy: Buffer | null
}

const MOST_SWEPT = 100

/** Inserts a challenge. Also deletes some expired ones, because no job does. */
export async function insertChallenge(
  db: Db,
  { challenge, purpose, askedBy }: Challenge,
  { now, expiresAt }: { now: Date; expiresAt: Date },
): Promise<void> {
  await sql`delete from operator_challenge where challenge in
    (select challenge from operator_challenge
      where expires_at <= ${now} or expires_at > ${latestEndOf(now)} limit ${MOST_SWEPT})`.execute(db)
  await db
    .insertInto('operator_challenge')
    .values({ challenge, purpose, asked_by: askedBy, expires_at: expiresAt })
    .execute()
}

/** Uses up a challenge. Returns false if it was used, has expired, or has another purpose or caller. */
export async function takeChallenge(
  tx: Tx,
  { challenge, purpose, askedBy }: Challenge,
  now: Date,
): Promise<boolean> {
  const taken = await tx
    .deleteFrom('operator_challenge')
    .where('challenge', '=', challenge)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .where('expires_at', '<=', latestEndOf(now))
    .where('asked_by', 'is not distinct from', askedBy)
    .returning('challenge')
    .executeTakeFirst()
  return taken !== undefined
}
