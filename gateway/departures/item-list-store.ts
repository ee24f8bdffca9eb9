/** The life of items: from which deposit they came, at what cost, and where they are. */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Db } from '../db/client.ts'
import type { ItemState } from './item.ts'

export type ItemFilter = {
  /** The number of the bot that has it, or had it last, or its Steam id. */
  bot?: string | undefined
  state?: ItemState | undefined
  /** What a bot or its shopper calls it, or its number in the lists. */
  asset?: string | undefined
  /** Only items with a smaller place: the next page. */
  before?: bigint | undefined
  limit: number
}

export type ListedItem = {
  /** Where it stands in the list. */
  place: bigint
  item: string
  storeId: bigint
  depositId: bigint
  tradeId: bigint
  bot: string
  botSteamId: string
  appId: number
  /** As the bot has it, or had it last. */
  assetId: string | null
  /** As its shopper had it. */
  givenAssetId: string
  marketHashName: string
  state: ItemState
  /** Its credit, in minor units of `currency`. `gross`: its worth, without the commission. */
  price: bigint
  gross: bigint
  currency: Currency
  receivedAt: Date
  protectedUntil: Date | null
  leftAt: Date | null
  /** The departure by which it left, or came back. */
  departureId: bigint | null
}

/** Newest first. */
export async function selectItems(
  db: Db,
  { bot, state, asset, before, limit }: ItemFilter,
): Promise<ListedItem[]> {
  const { rows } = await sql<ListedItem>`
    select * from (
      select first.id as place, first.trade_id || '-' || first.asset_id as item, deposit.store_id as "storeId",
        deposit.id as "depositId", trade.id as "tradeId", bot.name as bot, bot.steam_id as "botSteamId",
        item.app_id as "appId", coalesce(last.received_asset_id, (
          select received_asset_id from learnt_asset where custody_entry_id = last.id), first.received_asset_id) as "assetId",
        first.asset_id as "givenAssetId", item.market_hash_name as "marketHashName",
        case when last.moved = 'in' then case trade.state when 'held' then 'protected' else 'held' end
          when last.moved = 'back' then 'back' when last.departure_id is null then 'moved' else 'departed' end as state,
        item.price, item.gross, trade.currency, first.created_at as "receivedAt",
        case when last.moved = 'in' and trade.state = 'held' then trade.settles_at end as "protectedUntil",
        case when last.moved <> 'in' then last.created_at end as "leftAt", last.departure_id as "departureId"
      from custody_entry first
      join lateral (select * from custody_entry entry where entry.trade_id = first.trade_id
        and entry.asset_id = first.asset_id order by entry.id desc limit 1) last on true
      join trade on trade.id = first.trade_id
      join deposit on deposit.id = trade.deposit_id
      join trade_item item on item.trade_id = first.trade_id and item.asset_id = first.asset_id
      join bot on bot.id = last.bot_id
      where first.moved = 'in' and first.departure_id is null
        and (${before ?? null}::bigint is null or first.id < ${before ?? null})
        and (${bot ?? null}::text is null or bot.id::text = ${bot ?? null} or bot.steam_id = ${bot ?? null})
        and (${asset ?? null}::text is null or first.asset_id = ${asset ?? null}
          or first.trade_id || '-' || first.asset_id = ${asset ?? null}
          or exists (select from custody_entry named where named.trade_id = first.trade_id
            and named.asset_id = first.asset_id and ${asset ?? null} in (named.received_asset_id, (
              select received_asset_id from learnt_asset where custody_entry_id = named.id))))
    ) listed
    where ${state ?? null}::text is null or state = ${state ?? null}
    order by place desc limit ${limit}`.execute(db)
  return rows
}

export type ItemMove = {
  moved: 'in' | 'back' | 'out'
  at: Date
  bot: string
  assetId: string | null
  departureId: bigint | null
  /** The account that it came from, or went to; null where only the operator knows. */
  partnerSteamId: string | null
}

/** Every change of its hands, in order. */
export async function movesOf(
  db: Db,
  { tradeId, givenAssetId }: Pick<ListedItem, 'tradeId' | 'givenAssetId'>,
): Promise<ItemMove[]> {
  const { rows } = await sql<ItemMove>`
    select moved, entry.created_at as at, bot.name as bot, received_asset_id as "assetId",
      departure_id as "departureId", case when departure_id is not null then departure.partner_steam_id
        when moved <> 'out' then trade.partner_steam_id end as "partnerSteamId"
    from custody_entry entry join bot on bot.id = entry.bot_id join trade on trade.id = entry.trade_id
    left join departure on departure.id = entry.departure_id
    where entry.trade_id = ${tradeId} and entry.asset_id = ${givenAssetId} order by entry.id`.execute(db)
  return rows
}
