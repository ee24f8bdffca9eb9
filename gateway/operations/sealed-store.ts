/** All values of the database that are sealed with a master key. */
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'

export type SealedColumn = {
  table: string
  column: string
  /** Columns of the table's primary key. */
  primaryKey: readonly string[]
  /** The row and column to which the value is bound, in the form that the sealing code uses. */
  place: RawBuilder<string>
}

/** For both secrets of an endpoint: a rotation copies the sealed `secret` to `previous_secret` as it is. */
const endpointPlace = sql<string>`'webhook_endpoint:' || id || ':secret'`

export const SEALED: readonly SealedColumn[] = [
  {
    table: 'bot',
    column: 'refresh_token',
    primaryKey: ['id'],
    place: sql<string>`'bot:' || steam_id || ':refresh_token'`,
  },
  { table: 'webhook_endpoint', column: 'secret', primaryKey: ['id'], place: endpointPlace },
  { table: 'webhook_endpoint', column: 'previous_secret', primaryKey: ['id'], place: endpointPlace },
  {
    table: 'idempotency_key',
    column: 'answer',
    primaryKey: ['store_id', 'key'],
    place: sql<string>`'idempotency_key:' || store_id || ':' || key || ':answer'`,
  },
  {
    table: 'deposit',
    column: 'user_token_sealed',
    primaryKey: ['id'],
    place: sql<string>`'deposit:' || hash || ':user_token_sealed'`,
  },
  {
    table: 'trade',
    column: 'partner_token_sealed',
    primaryKey: ['id'],
    place: sql<string>`'trade:' || secret_code || ':partner_token_sealed'`,
  },
  {
    table: 'inventory_request',
    column: 'token_sealed',
    primaryKey: ['id'],
    place: sql<string>`'inventory_request:' || steam_id || ':token_sealed'`,
  },
]

/** `at`: the row's primary key. `place`: the row and column to which the value is bound. */
export type SealedValue = { at: string[]; place: string; sealed: Buffer }

/**
 * Returns values that do not begin with `mark`, in the order of their rows, starting after the row `after`. Sealed
 * values begin with the mark of their key.
 */
export async function valuesWithout(
  db: Db,
  { table, column, primaryKey, place }: SealedColumn,
  { mark, after, limit }: { mark: Buffer; after: readonly string[] | undefined; limit: number },
): Promise<SealedValue[]> {
  const columns = sql.join(primaryKey.map((name) => sql.ref(name)))
  const texts = sql.join(primaryKey.map((name) => sql`${sql.ref(name)}::text`))
  const beyond = after === undefined ? sql`` : sql`and (${columns}) > (${sql.join([...after])})`
  const { rows } = await sql<SealedValue>`
    select array[${texts}] as at, ${place} as place, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where length(${sql.ref(column)}) > 0 and not ${startsWith(column, mark)} ${beyond}
    order by ${columns} limit ${limit}`.execute(db)
  return rows
}

/** Returns false if the value has changed since it was read. */
export async function replaceValue(
  db: Db,
  { table, column, primaryKey }: SealedColumn,
  { at, sealed, fresh }: Pick<SealedValue, 'at' | 'sealed'> & { fresh: Buffer },
): Promise<boolean> {
  const columns = sql.join(primaryKey.map((name) => sql.ref(name)))
  const { numAffectedRows } = await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = ${fresh}
    where (${columns}) = (${sql.join([...at])}) and ${sql.ref(column)} = ${sealed}`.execute(db)
  return numAffectedRows === 1n
}

/** Counts all sealed values, and those that begin with `mark`. */
export async function countValues(db: Db | Tx, mark: Buffer): Promise<{ values: number; marked: number }> {
  const parts = SEALED.map(
    ({ table, column }) => sql`
      select count(*) as values, count(*) filter (where ${startsWith(column, mark)}) as marked
      from ${sql.table(table)} where length(${sql.ref(column)}) > 0`,
  )
  const { rows } = await sql<{ values: number; marked: number }>`
    select sum(values)::integer as values, sum(marked)::integer as marked
    from (${sql.join(parts, sql` union all `)}) as counted`.execute(db)
  return rows[0] ?? { values: 0, marked: 0 }
}

/** Forgets the old keys. Returns false if there are none, or if another gateway has introduced a newer key. */
export async function forgetOldKeys(tx: Tx, keyFingerprint: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('till_identity')
    .set({ old_fingerprints: [] })
    .where('key_fingerprint', '=', keyFingerprint)
    .where(sql`cardinality(old_fingerprints)`, '>', 0)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/**
 * Removes all sealed values, some with their rows, and makes another key the database's key. Also deletes the keyed
 * hashes of trade links, which are useless without the former key.
 */
export async function eraseSealed(
  tx: Tx,
  keyFingerprint: string,
): Promise<{ bots: number; endpoints: number }> {
  const bots = await sql`update bot set refresh_token = '' where refresh_token <> ''`.execute(tx)
  const endpoints = await sql`
    update webhook_endpoint set secret = '', previous_secret = null, previous_until = null where secret <> ''`.execute(
    tx,
  )
  await sql`delete from idempotency_key`.execute(tx)
  await sql`delete from inventory_request`.execute(tx)
  await sql`delete from deposit_link`.execute(tx)
  await sql`update deposit set user_token_sealed = null where user_token_sealed is not null`.execute(tx)
  await sql`update trade set partner_token_sealed = null where partner_token_sealed is not null`.execute(tx)
  await sql`update till_identity set key_fingerprint = ${keyFingerprint}, old_fingerprints = '{}'`.execute(tx)
  return { bots: Number(bots.numAffectedRows ?? 0), endpoints: Number(endpoints.numAffectedRows ?? 0) }
}

export const findIdentity = (db: Db | Tx) =>
  db
    .selectFrom('till_identity')
    .select(['key_fingerprint as keyFingerprint', 'old_fingerprints as oldFingerprints'])
    .executeTakeFirstOrThrow()

const startsWith = (column: string, mark: Buffer): RawBuilder<boolean> =>
  sql<boolean>`substring(${sql.ref(column)} from 1 for ${mark.length}) = ${mark}`
