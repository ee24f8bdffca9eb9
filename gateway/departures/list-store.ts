/** Departures as an operator sees them. */
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { arrivalsOf } from './books-store.ts'
import type { Explanation, Stage } from './departure.ts'

export type DepartureFilter = {
  /** The bot's number or Steam id. */
  bot?: string | undefined
  /** Only unexplained departures, except those that were called off or whose items all came back. */
  unexplained?: boolean | undefined
  /** Only departures with a smaller number, for the next page. */
  before?: bigint | undefined
  limit: number
}

export type ListedDeparture = {
  departureId: bigint
  botId: bigint
  bot: string
  steamTradeId: string
  partnerSteamId: string
  begunAt: Date
  seenAt: Date
  stage: Stage
  explanation: Explanation['kind'] | null
  destination: string | null
  items: {
    appId: number
    assetId: string
    newAssetId: string | null
    /** Null if the item was never in the till's custody. */
    marketHashName: string | null
    isBack: boolean
  }[]
}

/** Newest first. */
export async function selectDepartures(
  db: Db,
  { bot, unexplained = false, before, limit }: DepartureFilter,
): Promise<ListedDeparture[]> {
  const { rows } = await sql<ListedDeparture>`
    select departure.id as "departureId", bot.id as "botId", bot.name as bot, steam_trade_id as "steamTradeId",
      partner_steam_id as "partnerSteamId", begun_at as "begunAt", seen_at as "seenAt", stage, explanation, destination,
      (select json_agg(json_build_object('appId', item.app_id, 'assetId', item.asset_id, 'newAssetId', item.new_asset_id,
        'marketHashName', (
          select known.market_hash_name
          from ${arrivalsOf({ assetId: sql`item.asset_id`, botId: sql`departure.bot_id` })} entry
          join trade_item known on known.trade_id = entry.trade_id and known.asset_id = entry.asset_id
          where known.app_id = item.app_id limit 1),
        'isBack', is_back) order by app_id, asset_id)
        from departed_item item where departure_id = departure.id) as items
    from departure join bot on bot.id = departure.bot_id
    where (${bot ?? null}::text is null or bot.id::text = ${bot ?? null} or bot.steam_id = ${bot ?? null})
      and (not ${unexplained} or (explanation is null and stage in ('under_way', 'gone')))
      and (${before ?? null}::bigint is null or departure.id < ${before ?? null})
    order by departure.id desc limit ${limit}`.execute(db)
  return rows
}

/**
 * How many departures of each bot have no explanation, except those that were called off or whose items all came back.
 * Each such departure raises an alert.
 */
export async function countUnexplained(db: Db): Promise<{ steamId: string; departures: number }[]> {
  const { rows } = await sql<{ steamId: string; departures: number }>`
    select steam_id as "steamId", count(departure.id)::int as departures
    from bot left join departure on departure.bot_id = bot.id and explanation is null and stage in ('under_way', 'gone')
    where bot.state <> 'removed' or departure.id is not null group by steam_id`.execute(db)
  return rows
}

export async function countVaultNeeds(db: Db): Promise<{ kind: string; count: number }[]> {
  const { rows } = await sql<{ kind: string; count: number }>`
    select kind, count(*)::int as count from vault_need group by kind`.execute(db)
  return rows
}

/** Locks the departure, so two explanations of it wait for each other. */
export async function lockDeparture(tx: Tx, id: bigint) {
  return tx
    .selectFrom('departure')
    .innerJoin('bot', 'bot.id', 'departure.bot_id')
    .select(['departure.id as departureId', 'bot.name as bot', 'steam_trade_id as steamTradeId'])
    .select(['partner_steam_id as partnerSteamId', 'explanation'])
    .where('departure.id', '=', id)
    .forUpdate('departure')
    .executeTakeFirst()
}

export async function explainByOperator(tx: Tx, id: bigint): Promise<void> {
  await tx.updateTable('departure').set({ explanation: 'operator' }).where('id', '=', id).execute()
}
