/** The list of items: the deposit that brought each, its cost, and where it is now. */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Db } from '../db/client.ts'
import type { ItemState } from './item.ts'

export type ItemFilter = {
  /** The number or Steam id of the bot that has the item, or had it last. */
  bot?: string | undefined
  state?: ItemState | undefined
  /** The item's asset id in the inventory of a bot or of the shopper, or its `item` id. */
  asset?: string | undefined
  /** Only items with a smaller `place`, for the next page. */
  before?: bigint | undefined
  limit: number
}

export type ListedItem = {
  /** Its place in the list. */
  place: bigint
  /** Its id in the lists: the trade's id and the shopper's asset id, such as `12-345`. */
  item: string
  storeId: bigint
  depositId: bigint
  tradeId: bigint
  bot: string
  botSteamId: string
  appId: number
  /** Its asset id in the bot's inventory, or its last asset id there. */
  assetId: string | null
  /** Its asset id in the shopper's inventory. */
  givenAssetId: string
  marketHashName: string
  state: ItemState
  /** Its credit, in minor units of `currency`. `gross`: its worth, before the commission. */
  price: bigint
  gross: bigint
  currency: Currency
  receivedAt: Date
  protectedUntil: Date | null
  leftAt: Date | null
  /** The departure that its last move belongs to; null if that was a delivery, a reversal or a move by hand. */
  departureId: bigint | null
}

/** One query looks through at most this many items, so a filter with few matches stays cheap. */
const MOST_LOOKED_AT = 500

/** `fits`: whether the item matches the filter. */
export type ItemPlace = { place: bigint; fits: boolean }

/**
 * How many items to look through. Without a filter for bot or state, every item fits. Then the items of one page are
 * enough, and one more, which shows whether another page follows.
 */
export const mostItemsToLookAt = ({ bot, state, limit }: ItemFilter): number =>
  bot === undefined && state === undefined ? limit + 1 : MOST_LOOKED_AT

const LAST = sql`join lateral (select * from custody_entry entry where entry.trade_id = first.trade_id
  and entry.asset_id = first.asset_id order by entry.id desc limit 1) last on true
  join trade on trade.id = first.trade_id`

/** While a trade is `held`, its items are `protected`. An item is `held` once its trade no longer is. */
const STATE = sql<ItemState>`case when last.moved = 'in' then case trade.state when 'held' then 'protected' else 'held' end
  when last.moved = 'back' then 'back' when last.departure_id is null then 'moved' else 'departed' end`

/** The next items of the list, newest first. The query reads the table of bots once, not for each item. */
export async function lookThroughItems(db: Db, filter: ItemFilter): Promise<ItemPlace[]> {
  const { bot = null, state = null, asset, before = null } = filter
  const condition = asset === undefined ? sql`true` : sql`id in (${placesOf(asset)})`
  const { rows } = await sql<ItemPlace>`
    select first.id as place, (${bot}::text is null or last.bot_id = any(array(
        select id from bot where id::text = ${bot} or steam_id = ${bot}))) and (${state}::text is null or ${STATE} = ${state}) as fits
    from (
      select id, trade_id, asset_id from custody_entry where moved = 'in' and departure_id is null and undoes is null
        and ${before === null ? sql`true` : sql`id < ${before}`} and ${condition}
      order by id desc limit ${mostItemsToLookAt(filter)}
    ) first ${LAST}
    order by first.id desc`.execute(db)
  return rows
}

/**
 * Finds the places of the items with this id. It is an asset id in the inventory of a bot or of the shopper, or an
 * `item` id.
 */
function placesOf(asset: string) {
  const [, trade = null, assetId = null] = /^(\d{1,18})-(.+)$/.exec(asset) ?? []
  return sql`
    select first.id from (
      select trade_id, asset_id from trade_item where asset_id = ${asset}
      union select trade_id, asset_id from custody_entry where received_asset_id = ${asset} and moved = 'in'
      union select trade_id, asset_id from custody_entry
        join learnt_asset learnt on learnt.custody_entry_id = custody_entry.id where learnt.received_asset_id = ${asset}
      union select ${trade}::bigint, ${assetId}::text where ${trade}::bigint is not null
    ) named join custody_entry first using (trade_id, asset_id)`
}

/** Returns the items at these places, in the order of the list. */
export async function selectItems(db: Db, places: readonly bigint[]): Promise<ListedItem[]> {
  if (places.length === 0) return []
  const { rows } = await sql<ListedItem>`
    select first.id as place, first.trade_id || '-' || first.asset_id as item, deposit.store_id as "storeId",
      deposit.id as "depositId", trade.id as "tradeId", bot.name as bot, bot.steam_id as "botSteamId",
      item.app_id as "appId", coalesce(last.received_asset_id, (
        select received_asset_id from learnt_asset where custody_entry_id = last.id), first.received_asset_id) as "assetId",
      first.asset_id as "givenAssetId", item.market_hash_name as "marketHashName", ${STATE} as state,
      item.price, item.gross, trade.currency, first.created_at as "receivedAt",
      case when last.moved = 'in' and trade.state = 'held' then trade.settles_at end as "protectedUntil",
      case when last.moved <> 'in' then last.created_at end as "leftAt", last.departure_id as "departureId"
    from custody_entry first ${LAST}
    join bot on bot.id = last.bot_id
    join deposit on deposit.id = trade.deposit_id
    join trade_item item on item.trade_id = first.trade_id and item.asset_id = first.asset_id
    where first.id = any(${places.map(String)}::bigint[])
    order by first.id desc`.execute(db)
  return rows
}

export type ItemMove = {
  /** `in`: the bot got it. `back`: its shopper took it back. `out`: it left the bot in another way. */
  moved: 'in' | 'back' | 'out'
  at: Date
  bot: string
  assetId: string | null
  departureId: bigint | null
  /** The account that it came from or went to; null if an operator recorded the move, or took such a record back. */
  partnerSteamId: string | null
}

/** Every change of custody of the item, in order. */
export async function movesOf(
  db: Db,
  { tradeId, givenAssetId }: Pick<ListedItem, 'tradeId' | 'givenAssetId'>,
): Promise<ItemMove[]> {
  const { rows } = await sql<ItemMove>`
    select moved, entry.created_at as at, bot.name as bot, received_asset_id as "assetId",
      departure_id as "departureId", case when departure.partner_steam_id = bot.steam_id then giver.steam_id
        when departure_id is not null then departure.partner_steam_id
        when moved <> 'out' and undoes is null then trade.partner_steam_id end as "partnerSteamId"
    from custody_entry entry join bot on bot.id = entry.bot_id join trade on trade.id = entry.trade_id
    left join departure on departure.id = entry.departure_id left join bot giver on giver.id = departure.bot_id
    where entry.trade_id = ${tradeId} and entry.asset_id = ${givenAssetId} order by entry.id`.execute(db)
  return rows
}
