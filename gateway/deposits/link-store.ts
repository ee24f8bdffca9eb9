/** Trade links that a deposit was given of late. */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { deleteBefore } from '../db/sweep-store.ts'
import type { Partner } from '../steam/steam.ts'

type Given = { depositId: bigint; partner: Partner; at: Date }

/** Writes the link down, and resolves to when the links given since then were given, oldest first; this one is the last. */
export async function noteLink(tx: Tx, { depositId, partner, at }: Given, since: Date): Promise<Date[]> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`links ${depositId}`}, 0))`.execute(tx)
  const { steamId, token } = partner
  const values = {
    deposit_id: depositId,
    link_sha256: createHash('sha256').update(`${steamId} ${token}`).digest(),
    given_at: at,
  }
  await tx
    .insertInto('deposit_link')
    .values(values)
    .onConflict((conflict) => conflict.columns(['deposit_id', 'link_sha256']).doUpdateSet({ given_at: at }))
    .execute()
  const rows = await tx
    .selectFrom('deposit_link')
    .select('given_at')
    .where('deposit_id', '=', depositId)
    .where('given_at', '>', since)
    .orderBy('given_at')
    .execute()
  return rows.map((row) => row.given_at)
}

export const forgetLinks = (db: Db, before: Date): Promise<void> =>
  deleteBefore(db, { table: 'deposit_link', column: 'given_at' }, before)
