import { sql } from 'kysely'
import { heldItems } from '../bots/held-item-store.ts'
import { historyOf } from '../bots/history-store.ts'
import { LEASABLE_STATES } from '../bots/store.ts'
import type { Db } from '../db/client.ts'
import { isFar, notAfter } from '../db/far-time.ts'
import { OPEN_TRADE_STATES } from '../db/trade-tables.ts'
import { inTransaction } from '../db/transaction.ts'
import { keyOf } from '../departures/departure.ts'
import { CHECKED_DAYS } from '../departures/returns-store.ts'
import type { OwnItem } from '../steam/steam.ts'
import { type Custody, type KnownFinding, nameKey } from './drift.ts'
import type { DriftState, DriftStore, Writer } from './watch.ts'

/** At most this many foreign items are stored for one bot. An account that was in use before the till can have many. */
const MOST_FOREIGN = 1_000

export function createDriftStore(db: Db): DriftStore {
  return {
    stateOf: (botId) => stateOf(db, botId),
    custodyOf: (botId, shown) => custodyOf(db, botId, shown),
    async historyFrom(botId) {
      const { rows } = await sql`select from custody_entry where bot_id = ${botId} limit 1`.execute(db)
      return rows.length === 0 ? undefined : (await historyOf(db, botId)).knownUntil
    },
    learnAssetIds: (botId, { leaseEpoch, now }, learnt) =>
      learnAssetIds(db, { botId, leaseEpoch, now, learnt }),
    saveLook: (botId, { leaseEpoch, now }, saved) => saveLook(db, { botId, leaseEpoch, now }, saved),
    takeDue: (options) => takeDue(db, options),
  }
}

async function stateOf(db: Db, botId: bigint): Promise<DriftState> {
  const look = await db
    .selectFrom('custody_look')
    .select(['looked_at', 'whole_at', 'asked_at'])
    .where('bot_id', '=', botId)
    .executeTakeFirst()
  const rows = await db.selectFrom('custody_drift').selectAll().where('bot_id', '=', botId).execute()
  const noted = rows.map(
    (row): KnownFinding => ({
      kind: row.kind,
      appId: row.app_id,
      item: row.trade_id === null ? null : `${row.trade_id}-${row.given_asset_id}`,
      assetId: row.asset_id,
      marketHashName: row.market_hash_name,
      firstSeenAt: row.first_seen_at,
      seenAt: row.seen_at,
      looks: row.looks,
      isSure: row.is_sure,
    }),
  )
  const { looked_at: lookedAt = null, whole_at: wholeAt = null, asked_at: askedAt = null } = look ?? {}
  return { noted, lookedAt, wholeAt, askedAt }
}

async function custodyOf(db: Db, botId: bigint, shown: readonly OwnItem[]): Promise<Custody> {
  const held = await heldItems(db, { botId })
  // Departures first seen more than `CHECKED_DAYS` ago do not count: nobody asks Steam about them again, so they would
  // hide forever that their items are missing.
  const { rows: leaving } = await sql<{ appId: number; assetId: string }>`
    select app_id as "appId", asset_id as "assetId" from departure
    join departed_item item on item.departure_id = departure.id
    where bot_id = ${botId} and stage = 'under_way' and seen_at > till_now() - make_interval(days => ${CHECKED_DAYS})
    union all
    select app_id, asset_id from departed_item item
    join departure on departure.id = item.departure_id
    where bot_id = ${botId} and stage = 'gone' and not is_booked and not is_back
      and seen_at > till_now() - make_interval(days => ${CHECKED_DAYS})`.execute(db)
  const { rows: coming } = await sql<{ appId: number; marketHashName: string; items: number }>`
    select app_id as "appId", market_hash_name as "marketHashName", count(*)::int as items
    from trade join trade_item on trade_item.trade_id = trade.id
    where bot_id = ${botId} and (state in (${sql.join(OPEN_TRADE_STATES)}) or due_at is not null)
      and delivered_at is null group by 1, 2`.execute(db)
  const ids = shown.map(({ assetId }) => assetId)
  const { rows: entered } = await sql<{ appId: number; assetId: string }>`
    select distinct item.app_id as "appId", named.asset_id as "assetId"
    from (
      select received_asset_id as asset_id, trade_id, asset_id as given_asset_id from custody_entry
      where bot_id = ${botId} and moved = 'in' and received_asset_id = any(${ids}::text[])
      union all
      select learnt.received_asset_id, trade_id, asset_id from learnt_asset learnt
      join custody_entry on custody_entry.id = custody_entry_id
      where bot_id = ${botId} and learnt.received_asset_id = any(${ids}::text[])
    ) named
    join trade_item item on item.trade_id = named.trade_id and item.asset_id = named.given_asset_id`.execute(
    db,
  )
  return {
    booked: held.map(({ item, appId, assetId, marketHashName, receivedAt, protectedUntil }) => {
      return { item, appId, assetId, marketHashName, receivedAt, isProtected: protectedUntil !== null }
    }),
    leaving: new Set(leaving.map(keyOf)),
    entered: new Set(entered.map(keyOf)),
    coming: new Map(coming.map((row) => [nameKey(row), row.items])),
  }
}

type BotWriter = Writer & { botId: bigint }
type Learning = BotWriter & { learnt: readonly { item: string; assetId: string }[] }

/** Stores asset ids for items that the bot still has and whose asset id Steam never gave. */
async function learnAssetIds(db: Db, { botId, leaseEpoch, now, learnt }: Learning): Promise<void> {
  if (learnt.length === 0) return
  await sql`
    insert into learnt_asset (custody_entry_id, received_asset_id, learnt_at)
    select entry.id, learnt.received, ${now}::timestamptz
    from unnest(${learnt.map(({ item }) => item)}::text[], ${learnt.map(({ assetId }) => assetId)}::text[])
      learnt (item, received)
    join lateral (
      select * from custody_entry where trade_id = split_part(learnt.item, '-', 1)::bigint
        and asset_id = split_part(learnt.item, '-', 2) order by id desc limit 1
    ) entry on entry.moved = 'in' and entry.bot_id = ${botId} and entry.received_asset_id is null
    where exists (select from bot where id = ${botId} and lease_epoch = ${leaseEpoch})
    on conflict (custody_entry_id) do nothing`.execute(db)
}

type SavedLook = Parameters<DriftStore['saveLook']>[2]

function saveLook(db: Db, { botId, leaseEpoch, now }: BotWriter, saved: SavedLook): Promise<boolean> {
  const { noted, lookedAt, wholeAt, dueAt } = saved
  const foreign = noted.filter(({ kind }) => kind === 'foreign')
  const rows = [...noted.filter(({ kind }) => kind !== 'foreign'), ...foreign.slice(0, MOST_FOREIGN)]
  const leftOut = Math.max(0, foreign.length - MOST_FOREIGN)
  return inTransaction(db, async (tx) => {
    const { rows: written } = await sql`
      insert into custody_look as look (bot_id, due_at, looked_at, whole_at, left_out)
      select id, ${dueAt}::timestamptz, ${lookedAt}::timestamptz, ${wholeAt}::timestamptz, ${leftOut}::int
      from bot where id = ${botId} and lease_epoch = ${leaseEpoch}
      on conflict (bot_id) do update set
        -- An operator may have asked again meanwhile.
        due_at = case when look.asked_at > excluded.looked_at then ${now}::timestamptz else excluded.due_at end,
        looked_at = excluded.looked_at, whole_at = excluded.whole_at, left_out = excluded.left_out
      returning bot_id`.execute(tx)
    if (written.length === 0) return false
    await tx.deleteFrom('custody_drift').where('bot_id', '=', botId).execute()
    if (rows.length > 0) await insertDrift(tx, botId, rows)
    return true
  })
}

async function insertDrift(tx: Db, botId: bigint, rows: readonly KnownFinding[]): Promise<void> {
  const column = <T>(read: (row: KnownFinding) => T) => rows.map(read)
  await sql`
    insert into custody_drift (bot_id, kind, app_id, trade_id, given_asset_id, asset_id, market_hash_name, first_seen_at,
      seen_at, looks, is_sure)
    select ${botId}::bigint, kind, app_id, nullif(split_part(item, '-', 1), '')::bigint,
      nullif(split_part(item, '-', 2), ''), asset_id, name, first_seen_at, seen_at, looks, is_sure
    from unnest(${column(({ kind }) => kind)}::text[], ${column(({ appId }) => appId)}::int[],
      ${column(({ item }) => item)}::text[], ${column(({ assetId }) => assetId)}::text[],
      ${column(({ marketHashName }) => marketHashName)}::text[],
      ${column(({ firstSeenAt }) => firstSeenAt)}::timestamptz[], ${column(({ seenAt }) => seenAt)}::timestamptz[],
      ${column(({ looks }) => looks)}::int[], ${column(({ isSure }) => isSure)}::boolean[])
      drift (kind, app_id, item, asset_id, name, first_seen_at, seen_at, looks, is_sure)`.execute(tx)
}

type Due = Parameters<DriftStore['takeDue']>[0]

/**
 * The golden ratio's fractional part. Its multiples spread the first looks of consecutive bots evenly over a day.
 */
const GOLDEN_FRACTION = 0.618_033_988_749_895

async function takeDue(db: Db, { now, nextAt, limit }: Due): Promise<bigint[]> {
  const states = [...LEASABLE_STATES]
  await sql`
    insert into custody_look (bot_id, due_at)
    select id, ${now}::timestamptz + interval '1 day' * mod((id * ${GOLDEN_FRACTION}::float8)::numeric, 1)::float8
    from bot where state = any(${states}::text[]) and not exists (select from custody_look where bot_id = bot.id)
    on conflict do nothing`.execute(db)
  const { rows } = await sql<{ botId: bigint }>`
    update custody_look set due_at = ${nextAt}
    where bot_id = any(array(
      select bot_id from custody_look join bot on bot.id = bot_id
      where due_at <= ${now} and bot.state = any(${states}::text[])
      order by due_at limit ${limit} for update of custody_look skip locked))
    returning bot_id as "botId"`.execute(db)
  return rows.map(({ botId }) => botId)
}

/**
 * Makes looks due now whose times a clock that was ahead has written, and returns their number. A look is due within a
 * day of the last one.
 */
export async function bringLooksForward(db: Db, now: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update custody_look set due_at = ${now}, looked_at = null, whole_at = null,
      asked_at = ${notAfter('asked_at', now)}
    where ${isFar(sql`greatest(due_at - interval '1 day', looked_at, asked_at)`, now)}`.execute(db)
  return Number(numAffectedRows)
}
