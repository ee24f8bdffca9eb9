/** Counts the bots' items from the entries of custody. */
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { settledId } from '../db/settled-store.ts'

/**
 * By how much an entry of custody, called `entry`, changes the number of its bot's items. An item can leave a bot and
 * then be taken back by its shopper. It is counted off once, when it leaves.
 */
export const countChange = sql<number>`case entry.moved when 'in' then 1 when 'out' then -1 else (
  select case earlier.moved when 'in' then -1 else 0 end from custody_entry earlier
  where earlier.trade_id = entry.trade_id and earlier.asset_id = entry.asset_id and earlier.id < entry.id
  order by earlier.id desc limit 1) end`

/** Locks a trade, so no reversal of it can be written at the same moment. */
export function lockTradeOfItem(tx: Tx, tradeId: bigint) {
  return tx.selectFrom('trade').select('state').where('id', '=', tradeId).forUpdate().executeTakeFirst()
}

/**
 * Adds new entries to each bot's number of items. Stops where a running transaction can still commit an entry with a
 * smaller id. Readers add the few entries that are newer, so a delivery neither writes the bot's row nor waits for it.
 * Several processes can count at the same time: one writes, and the others find a newer count.
 */
export async function countItems(db: Db | Tx): Promise<void> {
  const settledEntryId = await settledId((statement) => sql.raw(statement).execute(db), 'custody_entry')
  // Nothing can be counted yet. The next count begins at the same entry.
  if (settledEntryId === undefined) return
  await sql`
    with last as (select ${settledEntryId}::bigint as id)
    update bot set items_held = greatest(0, bot.items_held + news.items), items_counted_to = last.id
    from last, (
      -- Reads bot by bot, because a join can read every earlier entry. Compares pairs, to use the index on both columns.
      -- If it compared only ids, the search for a bot without new entries would read all of history.
      select bot.id, bot.items_counted_to as since, counted.items
      from bot, lateral (
        select sum(${countChange})::int as items from custody_entry entry
        where (entry.bot_id, entry.id) > (bot.id, bot.items_counted_to)
          and (entry.bot_id, entry.id) <= (bot.id, (select id from last))
      ) counted
      where counted.items is not null
    ) news
    where bot.id = news.id and bot.items_counted_to = news.since`.execute(db)
}

/** The most entries of a bot that one pass counts. The first pass after an upgrade finds all of its history. */
const MOST_ENTRIES = 5_000

/** Counts like `countItems`, but by game. */
export async function countItemsByGame(db: Db | Tx, most = MOST_ENTRIES): Promise<void> {
  const settledEntryId = await settledId((statement) => sql.raw(statement).execute(db), 'custody_entry')
  if (settledEntryId === undefined) return
  await sql`
    insert into bot_games (bot_id) select id from bot where not exists (select from bot_games where bot_id = bot.id)
    on conflict do nothing`.execute(db)
  await sql`
    update bot_games set items = news.items, counted_to = news.counted_to
    from (
      select known.bot_id, known.counted_to as since, taken.counted_to, taken.items
      from bot_games known, lateral (
        with entries as materialized (
          select entry.id, entry.trade_id, entry.asset_id, entry.moved from custody_entry entry
          where (entry.bot_id, entry.id) > (known.bot_id, known.counted_to)
            and (entry.bot_id, entry.id) <= (known.bot_id, ${settledEntryId})
          order by entry.bot_id, entry.id limit ${most}
        )
        select (select max(id) from entries) as counted_to, (
          select coalesce(jsonb_object_agg(app_id, items), '{}') from (
            select app_id, sum(items) as items from (${gamesOf(sql`known.items`, sql`entries`)}) each
            where app_id is not null group by app_id having sum(items) <> 0
          ) sums
        ) as items
      ) taken
      where taken.counted_to is not null
    ) news
    where bot_games.bot_id = news.bot_id and bot_games.counted_to = news.since`.execute(db)
}

/**
 * The stored counts and the changes by later entries, as rows to add up. Uses a subquery per entry, because a join
 * can read every item.
 */
const gamesOf = (counted: RawBuilder<unknown>, entries: RawBuilder<unknown>) => sql`
  select key::int as app_id, value::int as items from jsonb_each_text(${counted})
  union all
  select (select app_id from trade_item item where item.trade_id = entry.trade_id and item.asset_id = entry.asset_id),
    ${countChange} from ${entries} entry`

/** `held`: items that the bot has. `protected`: how many of them their senders can still take back. */
export type HeldCount = { appId: number; held: number; protected: number }

/**
 * Numbers of the bot's items by game, up to date. Reads the protected trades, and the entries since the last count.
 * 9223372036854775807 is the largest bigint, so no entry of the bot comes after the pair (bot, 9223372036854775807).
 */
export async function heldByGame(db: Db, botId: bigint): Promise<HeldCount[]> {
  const { rows } = await sql<HeldCount>`
    with known as materialized (
      select coalesce(max(counted_to), 0) as counted_to, coalesce((array_agg(items))[1], '{}') as items
      from bot_games where bot_id = ${botId}
    ),
    news as materialized (
      select entry.id, entry.trade_id, entry.asset_id, entry.moved from custody_entry entry
      where (entry.bot_id, entry.id) > (${botId}, (select counted_to from known))
        and (entry.bot_id, entry.id) <= (${botId}, 9223372036854775807)
    ),
    held as (
      select app_id, sum(items)::int as held
      from (${gamesOf(sql`(select items from known)`, sql`news`)}) each group by app_id
    ),
    -- A protected item cannot be traded on, so it is still with the bot that received it.
    protected as (
      select item.app_id, count(*)::int as items from trade
      join trade_item item on item.trade_id = trade.id
      where trade.bot_id = ${botId} and trade.state = 'held' and (
        select sum(${countChange}) from custody_entry entry
        where entry.trade_id = item.trade_id and entry.asset_id = item.asset_id and entry.bot_id = ${botId}) > 0
      group by item.app_id
    )
    select app_id as "appId", held, coalesce(protected.items, 0) as protected
    from held left join protected using (app_id) where held > 0 and app_id is not null order by app_id`.execute(
    db,
  )
  return rows
}

/** Numbers of items by app id, for each bot, as of the last count. */
export async function countedByGame(db: Db): Promise<ReadonlyMap<bigint, ReadonlyMap<number, number>>> {
  const rows = await db.selectFrom('bot_games').select(['bot_id', 'items']).execute()
  return new Map(
    rows.map(({ bot_id, items }) => [
      bot_id,
      new Map(Object.entries(items).map(([appId, count]) => [Number(appId), count])),
    ]),
  )
}
