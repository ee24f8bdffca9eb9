/** The rows of trade links recently given to a deposit. */
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { deleteBefore } from '../db/sweep-store.ts'

/** `hmacs`: the link's HMACs, one for each key of the key ring. */
type GivenLink = { depositId: bigint; hmacs: readonly [Buffer, ...Buffer[]]; at: Date }

/**
 * Records the link. Resolves to the times of the deposit's links after `since`, oldest first; this link is the last.
 */
export async function noteLink(tx: Tx, { depositId, hmacs, at }: GivenLink, since: Date): Promise<Date[]> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`links ${depositId}`}, 0))`.execute(tx)
  const [link_hmac, ...ofOldKeys] = hmacs
  const values = {
    deposit_id: depositId,
    link_hmac,
    given_at: at,
  }
  if (ofOldKeys.length > 0) {
    await tx
      .deleteFrom('deposit_link')
      .where('deposit_id', '=', depositId)
      .where('link_hmac', 'in', ofOldKeys)
      .execute()
  }
  await tx
    .insertInto('deposit_link')
    .values(values)
    .onConflict((conflict) => conflict.columns(['deposit_id', 'link_hmac']).doUpdateSet({ given_at: at }))
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
