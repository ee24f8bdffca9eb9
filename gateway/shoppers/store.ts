/** Accounts that may not pay: the till's own bots, and those that the operator denied. */
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { OPEN_TRADE_STATES } from '../db/trade-tables.ts'

/** True for an account of the till's bots. Includes retired ones, which may still have items. */
const hasBot = (steamId: string) =>
  sql<boolean>`exists (select from bot where steam_id = ${steamId} and state <> 'removed')`

export async function isOwnBot(db: Db | Tx, steamId: string): Promise<boolean> {
  const { rows } = await sql<{ isBot: boolean }>`select ${hasBot(steamId)} as "isBot"`.execute(db)
  return rows[0]?.isBot === true
}

/** Whether the account must not pay. */
export async function isRefused(db: Db | Tx, steamId: string): Promise<boolean> {
  const { rows } = await sql<{ isRefused: boolean }>`
    select exists (select from denied_shopper where steam_id = ${steamId}) or ${hasBot(steamId)} as "isRefused"`.execute(
    db,
  )
  return rows[0]?.isRefused === true
}

export type DeniedShopper = {
  steamId: string
  reason: string
  deniedAt: Date
  /** Trades whose offer is open, may be open, or is to be sent. A denial does not end them. */
  openTrades: { tradeId: bigint; depositId: bigint; botId: bigint; offerId: string | null }[]
}

/** Returns false if the account was already denied. */
export async function saveDenial(
  tx: Tx,
  { steamId, reason, at }: { steamId: string; reason: string; at: Date },
): Promise<boolean> {
  const inserted = await tx
    .insertInto('denied_shopper')
    .values({ steam_id: steamId, reason, denied_at: at })
    .onConflict((conflict) => conflict.column('steam_id').doNothing())
    .executeTakeFirst()
  return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Returns false if the account was not denied. */
export async function deleteDenial(tx: Tx, steamId: string): Promise<boolean> {
  const deleted = await tx.deleteFrom('denied_shopper').where('steam_id', '=', steamId).executeTakeFirst()
  return deleted.numDeletedRows > 0n
}

/** Lists denied accounts, the latest denial first, or only the account `steamId`. */
export async function deniedShoppers(
  db: Db | Tx,
  { steamId, limit }: { steamId?: string; limit: number },
): Promise<DeniedShopper[]> {
  const rows = await db
    .selectFrom('denied_shopper')
    .selectAll()
    .$if(steamId !== undefined, (query) => query.where('steam_id', '=', steamId ?? ''))
    .orderBy('denied_at', 'desc')
    .orderBy('steam_id')
    .limit(limit)
    .execute()
  const openTrades = await openTradesWith(
    db,
    rows.map((row) => row.steam_id),
  )
  return rows.map((row) => ({
    steamId: row.steam_id,
    reason: row.reason,
    deniedAt: row.denied_at,
    openTrades: openTrades
      .filter(({ partner }) => partner === row.steam_id)
      .map(({ partner: _, ...trade }) => trade),
  }))
}

export async function openTradesOf(db: Db | Tx, steamId: string): Promise<DeniedShopper['openTrades']> {
  const openTrades = await openTradesWith(db, [steamId])
  return openTrades.map(({ partner: _, ...trade }) => trade)
}

async function openTradesWith(db: Db | Tx, steamIds: readonly string[]) {
  if (steamIds.length === 0) return []
  return db
    .selectFrom('trade')
    .select([
      'partner_steam_id as partner',
      'id as tradeId',
      'deposit_id as depositId',
      'bot_id as botId',
      'steam_offer_id as offerId',
    ])
    .where('partner_steam_id', 'in', steamIds)
    .where('state', 'in', OPEN_TRADE_STATES)
    .orderBy('id')
    .execute()
}
