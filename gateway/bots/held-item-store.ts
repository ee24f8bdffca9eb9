import { type RawBuilder, sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Db, Tx } from '../db/client.ts'
import { settledId } from '../db/settled-store.ts'
import { inTransaction } from '../db/transaction.ts'

export type HeldItem = {
  /** The trade's number and the shopper's asset id, in the form that `moveItem` accepts. */
  item: string
  botId: bigint
  bot: string
  botSteamId: string
  appId: number
  /** The asset id in the bot's inventory; null if Steam did not report it. */
  assetId: string | null
  marketHashName: string
  /** The credit for it, in minor units of `currency`. */
  price: bigint
  currency: Currency
  /** When it was booked to the bot: by its delivery, or by taking back the record of a move. */
  receivedAt: Date
  /**
   * Until then the sender can take the item back, and the bot cannot trade it; null if its trade is not `held`. It is in
   * the past for a trade that stays `held` because no bot can ask Steam.
   */
  protectedUntil: Date | null
}

type Filter = { botId?: bigint; item?: { tradeId: bigint; assetId: string } }

/**
 * Lists every item that a bot received and still has, oldest first. Reads the rows of held_item, and the entries of
 * custody after held_items_mark, which these rows do not cover yet. The range of entries has an upper end, because
 * otherwise the planner would read all of custody.
 */
export async function heldItems(db: Db | Tx, { botId, item }: Filter = {}): Promise<HeldItem[]> {
  const matches = (row: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql.join(
      [
        sql`true`,
        ...(botId === undefined ? [] : [sql`${row}.bot_id = ${botId}`]),
        ...(item === undefined
          ? []
          : [sql`${row}.trade_id = ${item.tradeId} and ${row}.asset_id = ${item.assetId}`]),
      ],
      sql` and `,
    )
  const { rows } = await sql<HeldItem>`
    with mark as materialized (select coalesce(max(counted_to), 0) as counted_to from held_items_mark),
    came as materialized (
      select custody_entry_id as id from held_item known where ${matches(sql`known`)}
      union all
      select entry.id from custody_entry entry
      where ${newerThan(sql`(select counted_to from mark)`)} and entry.moved = 'in' and ${matches(sql`entry`)}
    )
    select entry.trade_id || '-' || entry.asset_id as item, bot.id as "botId", bot.name as bot, bot.steam_id as "botSteamId",
      item.app_id as "appId", coalesce(entry.received_asset_id, learnt.received_asset_id) as "assetId", item.market_hash_name as "marketHashName",
      item.price, trade.currency, entry.created_at as "receivedAt",
      case when trade.state = 'held' then trade.settles_at end as "protectedUntil"
    from came
    -- PostgreSQL underestimates the items of a trade. The offset makes it begin with the few held items, not with the
    -- whole history.
    cross join lateral (select * from custody_entry where custody_entry.id = came.id offset 0) entry
    join trade on trade.id = entry.trade_id
    join trade_item item on item.trade_id = entry.trade_id and item.asset_id = entry.asset_id
    join bot on bot.id = entry.bot_id
    left join learnt_asset learnt on learnt.custody_entry_id = entry.id
    where not exists (select from custody_entry later where later.trade_id = entry.trade_id
      and later.asset_id = entry.asset_id and later.id > entry.id)
    order by entry.id`.execute(db)
  return rows
}

/** The largest bigint, so the upper end excludes no entry. */
const LARGEST_ID = '9223372036854775807'
const newerThan = (mark: RawBuilder<unknown>) => sql`entry.id > ${mark} and entry.id <= ${LARGEST_ID}::bigint`

/** One pass applies at most this many entries. The first pass after an upgrade finds all of history. */
const MOST_ENTRIES = 20_000

/**
 * Applies up to `most` of the next entries to held_item. Stops where a running transaction can still commit an entry
 * with a smaller id. Several processes can do this at the same time: each waits for the previous one, and continues
 * where that one stopped.
 */
export async function updateHeldItems(db: Db | Tx, most = MOST_ENTRIES): Promise<void> {
  const settledEntryId = await settledId((statement) => sql.raw(statement).execute(db), 'custody_entry')
  if (settledEntryId === undefined) return
  await sql`insert into held_items_mark default values on conflict do nothing`.execute(db)
  await inTransaction(db, async (tx) => {
    // A separate statement, because the next one must see the rows that the previous process wrote.
    await sql`select from held_items_mark for update`.execute(tx)
    await sql`
      with entries as materialized (
        select entry.id, entry.bot_id, entry.trade_id, entry.asset_id, entry.moved from custody_entry entry
        where entry.id > (select counted_to from held_items_mark) and entry.id <= ${settledEntryId}
        order by entry.id limit ${most}
      ),
      last as materialized (
        select distinct on (trade_id, asset_id) * from entries order by trade_id, asset_id, id desc
      ),
      gone as (
        delete from held_item using last
        where held_item.trade_id = last.trade_id and held_item.asset_id = last.asset_id and last.moved <> 'in'
      ),
      came as (
        insert into held_item (custody_entry_id, bot_id, trade_id, asset_id)
        select id, bot_id, trade_id, asset_id from last where moved = 'in'
        on conflict (trade_id, asset_id)
          do update set custody_entry_id = excluded.custody_entry_id, bot_id = excluded.bot_id
      )
      update held_items_mark set counted_to = news.id from (select max(id) as id from entries) news
      where news.id is not null`.execute(tx)
  })
}
