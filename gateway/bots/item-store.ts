/** The items of the bots, by the entries of custody. */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Db, Tx } from '../db/client.ts'
import { settledId } from '../db/settled-store.ts'

export type HeldItem = {
  /** The trade's number and the shopper's asset id, as `moveItem` takes it. */
  item: string
  botId: bigint
  bot: string
  botSteamId: string
  appId: number
  /** The asset id in the bot's inventory; null if Steam did not tell it. */
  assetId: string | null
  marketHashName: string
  /** Its credit, in minor units of `currency`. */
  price: bigint
  currency: Currency
  receivedAt: Date
  /** Until then the sender can take it back and Steam blocks it; null if it is free. */
  protectedUntil: Date | null
}

type Filter = { botId?: bigint; item?: { tradeId: bigint; assetId: string } }

/** Every item that came to a bot and has not left, oldest first. */
export async function heldItems(db: Db | Tx, { botId, item }: Filter = {}): Promise<HeldItem[]> {
  const { rows } = await sql<HeldItem>`
    select entry.trade_id || '-' || entry.asset_id as item, bot.id as "botId", bot.name as bot, bot.steam_id as "botSteamId",
      item.app_id as "appId", coalesce(entry.received_asset_id, learnt.received_asset_id) as "assetId", item.market_hash_name as "marketHashName",
      item.price, trade.currency, entry.created_at as "receivedAt",
      case when trade.state = 'held' then trade.settles_at end as "protectedUntil"
    from custody_entry entry
    join trade on trade.id = entry.trade_id
    join trade_item item on item.trade_id = entry.trade_id and item.asset_id = entry.asset_id
    join bot on bot.id = entry.bot_id
    left join learnt_asset learnt on learnt.custody_entry_id = entry.id
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

/**
 * Adds the entries since the last count to each bot's number of items, up to where no earlier entry can appear. Readers
 * add the few newer ones, so a delivery neither writes the bot's row nor waits for it. Several processes may count at
 * once: one writes, and the others find a newer count.
 */
export async function countItems(db: Db | Tx): Promise<void> {
  const settled = await settledId((statement) => sql.raw(statement).execute(db), 'custody_entry')
  // The next count begins where this one would have.
  if (settled === undefined) return
  await sql`
    with last as (select ${settled}::bigint as id)
    update bot set items_held = greatest(0, bot.items_held + news.items), items_counted_to = last.id
    from last, (
      -- Bot by bot: a join may read every entry before the last. Compared as pairs, because only the index of both holds
      -- them: by the id alone, a bot without news would be looked for in all of history.
      select bot.id, bot.items_counted_to as since, counted.items
      from bot, lateral (
        select sum(case entry.moved when 'in' then 1 else -1 end)::int as items from custody_entry entry
        where (entry.bot_id, entry.id) > (bot.id, bot.items_counted_to)
          and (entry.bot_id, entry.id) <= (bot.id, (select id from last))
      ) counted
      where counted.items is not null
    ) news
    where bot.id = news.id and bot.items_counted_to = news.since`.execute(db)
}
