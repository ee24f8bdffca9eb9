/**
 * Accounts that reversed a trade. Their deliveries are credited on release, whatever the store's setting is, until an
 * operator trusts the account again.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'

/**
 * SQL condition: whether the account is credited on release because it reversed a trade. The table `careful_shopper`
 * has an older name for shoppers on release. Does not use `exists`: the planner may read the whole table for it.
 */
export const isOnReleaseSql = (steamId: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`coalesce((select true from careful_shopper where steam_id = ${steamId}), false)`

/** Resolves to null if the store decides. */
export async function creditModeOf(db: Db | Tx, steamId: string): Promise<'on_release' | null> {
  const { rows } = await sql<{ isOnRelease: boolean }>`
    select ${isOnReleaseSql(sql`${steamId}`)} as "isOnRelease"`.execute(db)
  return rows[0]?.isOnRelease === true ? 'on_release' : null
}

/** Records that a trade of the account was reversed, fully or in part. */
export async function putOnRelease(
  tx: Db | Tx,
  { steamId, tradeId, at }: { steamId: string; tradeId: bigint; at: Date },
): Promise<void> {
  await sql`
    insert into careful_shopper as shopper (steam_id, since, trade_id, last_at)
    values (${steamId}, ${at}, ${tradeId}, ${at})
    on conflict (steam_id) do update set trade_id = excluded.trade_id, last_at = excluded.last_at,
      reversals = shopper.reversals + 1`.execute(tx)
}

export type OnReleaseShopper = {
  steamId: string
  since: Date
  /** The last reversed trade; `lastAt` is when the till noticed the reversal. */
  tradeId: bigint
  lastAt: Date
  /** Number of reversals since `since`. A trade that is reversed in parts counts several times. */
  reversals: number
}

/** Lists accounts, latest reversals first, or reads one. */
export function onReleaseShoppers(
  db: Db | Tx,
  { steamId, limit }: { steamId?: string; limit: number },
): Promise<OnReleaseShopper[]> {
  return db
    .selectFrom('careful_shopper')
    .select(['steam_id as steamId', 'since', 'trade_id as tradeId', 'last_at as lastAt', 'reversals'])
    .$if(steamId !== undefined, (query) => query.where('steam_id', '=', steamId ?? ''))
    .orderBy('last_at', 'desc')
    .orderBy('steam_id')
    .limit(limit)
    .execute()
}

/** Lets stores decide again how the account is credited. Returns false if they did already. */
export async function endOnRelease(tx: Tx, steamId: string): Promise<boolean> {
  const deleted = await tx.deleteFrom('careful_shopper').where('steam_id', '=', steamId).executeTakeFirst()
  return deleted.numDeletedRows > 0n
}
