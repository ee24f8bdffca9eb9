import { sql } from 'kysely'
import type { Game } from '../../contract/games.ts'
import type { Db } from '../db/client.ts'
import { OPEN_TRADE_STATES, type Refusal, type TradeStateColumn } from '../db/trade-tables.ts'

/** `idOrSteamId`: the bot's number or its 64-bit Steam id, as decimal digits. */
export function findBot(db: Db, idOrSteamId: string) {
  return db
    .selectFrom('bot')
    .select(['id', 'profile_url', 'offers_failing_since', 'inventories_failing_since'])
    .where((eb) => eb.or([eb(sql`id::text`, '=', idOrSteamId), eb('steam_id', '=', idOrSteamId)]))
    .where('state', '!=', 'removed')
    .executeTakeFirst()
}

export type OpenOffer = {
  tradeId: bigint
  depositId: bigint
  state: TradeStateColumn
  game: Game
  partnerSteamId: string
  offerId: string | null
  items: number
  deadline: Date | null
  createdAt: Date
}

/**
 * Lists the trades whose offers are still to be sent, or may be open on Steam, newest first. Steam allows a bot 30 open
 * offers, so the query's own limit is only a guard.
 */
export async function openOffersOf(db: Db, botId: bigint): Promise<OpenOffer[]> {
  const { rows } = await sql<OpenOffer>`
    select id as "tradeId", deposit_id as "depositId", state, game, partner_steam_id as "partnerSteamId",
      steam_offer_id as "offerId", (select count(*)::int from trade_item where trade_id = trade.id) as items,
      deadline, created_at as "createdAt"
    from trade where bot_id = ${botId} and state in (${sql.join(OPEN_TRADE_STATES)})
    order by id desc limit 100`.execute(db)
  return rows
}

export type RefusalCount = { refusal: Refusal; game: Game; times: number; lastAt: Date }

/** Counts the bot's trades since `since` that Steam refused or the till did not send, by reason and game. */
export async function refusalsOf(db: Db, botId: bigint, since: Date): Promise<RefusalCount[]> {
  const { rows } = await sql<RefusalCount>`
    select refusal, game, count(*)::int as times, max(created_at) as "lastAt"
    from trade where bot_id = ${botId} and created_at > ${since} and refusal is not null
    group by refusal, game order by times desc, refusal, game`.execute(db)
  return rows
}
