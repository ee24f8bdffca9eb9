/** The items in the bots' hands, as the entries of their custody say. */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Db, Tx } from '../db/client.ts'

export type HeldItem = {
  /** The trade's number and the asset id that the shopper gave, as `moveItem` takes it. */
  item: string
  botId: bigint
  bot: string
  botSteamId: string
  appId: number
  /** The asset id in the bot's inventory; null where Steam did not tell it. */
  assetId: string | null
  marketHashName: string
  /** Its credit, in minor units of `currency`. */
  price: bigint
  currency: Currency
  receivedAt: Date
  /** Until then its sender may take it back and Steam lets nobody have it; null where it is free. */
  protectedUntil: Date | null
}

type Filter = { botId?: bigint; item?: { tradeId: bigint; assetId: string } }

/** Every item that came to a bot and has not left it, oldest first. */
export async function heldItems(db: Db | Tx, { botId, item }: Filter = {}): Promise<HeldItem[]> {
  const { rows } = await sql<HeldItem>`
    select entry.trade_id || '-' || entry.asset_id as item, bot.id as "botId", bot.name as bot, bot.steam_id as "botSteamId",
      item.app_id as "appId", entry.received_asset_id as "assetId", item.market_hash_name as "marketHashName",
      item.price, trade.currency, entry.created_at as "receivedAt",
      case when trade.state = 'held' then trade.settles_at end as "protectedUntil"
    from custody_entry entry
    join trade on trade.id = entry.trade_id
    join trade_item item on item.trade_id = entry.trade_id and item.asset_id = entry.asset_id
    join bot on bot.id = entry.bot_id
    where entry.moved = 'in'
      and (${botId ?? null}::bigint is null or entry.bot_id = ${botId ?? null})
      and (${item?.tradeId ?? null}::bigint is null or entry.trade_id = ${item?.tradeId ?? null})
      and (${item?.assetId ?? null}::text is null or entry.asset_id = ${item?.assetId ?? null})
      and not exists (select from custody_entry later where later.trade_id = entry.trade_id
        and later.asset_id = entry.asset_id and later.id > entry.id)
    order by entry.id`.execute(db)
  return rows
}

/** Locks a trade against a reversal that is written at the same moment. */
export function lockTradeOfItem(tx: Tx, tradeId: bigint) {
  return tx.selectFrom('trade').select('state').where('id', '=', tradeId).forUpdate().executeTakeFirst()
}

/** Older than any transaction that may still be open: no entry will appear before such a one. */
const SETTLED_MS = 5 * 60_000

/**
 * Adds the entries since the last count to the items that each bot holds, up to where no earlier entry can appear.
 * Readers add the few that are newer. So a delivery neither writes the bot's row nor waits for it. Several processes may
 * count at once: one writes, and the others find the bot counted further already.
 */
export async function countItems(db: Db | Tx, now: Date): Promise<void> {
  const settled = new Date(now.getTime() - SETTLED_MS)
  await sql`
    with last as (
      select coalesce((select id from custody_entry where created_at < ${settled} order by id desc limit 1), 0) as id
    )
    update bot set items_held = greatest(0, bot.items_held + news.items), items_counted_to = last.id
    from last, (
      -- Bot by bot: a join may read every entry before the last.
      select bot.id, bot.items_counted_to as since, counted.items
      from bot, lateral (
        select sum(case entry.moved when 'in' then 1 else -1 end)::int as items from custody_entry entry
        where entry.bot_id = bot.id and entry.id > bot.items_counted_to and entry.id <= (select id from last)
      ) counted
      where counted.items is not null
    ) news
    where bot.id = news.id and bot.items_counted_to = news.since`.execute(db)
}
