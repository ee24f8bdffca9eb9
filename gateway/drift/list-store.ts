/** Differences between custody and Steam, for operators. */
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import type { DriftKind } from './drift.ts'

export type BotLook = {
  botId: bigint
  bot: string
  botSteamId: string
  /** When the bot's inventory was last compared with custody; null if never. */
  lookedAt: Date | null
  /** When the whole inventory was last seen; null if never. */
  wholeAt: Date | null
  /** Whether an operator asked for a comparison that has not happened yet. */
  isAsked: boolean
  /** The number of foreign items that are not in the list. */
  leftOut: number
  drift: {
    kind: DriftKind
    /** The item's id in the lists of items; null for foreign items. */
    item: string | null
    appId: number
    assetId: string | null
    marketHashName: string
    firstSeenAt: Date
    seenAt: Date
    /** Whether two comparisons agree, and the bot's history does not explain the difference. */
    isSure: boolean
  }[]
}

type Row = Omit<BotLook, 'drift'> & {
  drift: (Omit<BotLook['drift'][number], 'firstSeenAt' | 'seenAt'> & {
    firstSeenMs: number
    seenMs: number
  })[]
}

/**
 * False for a finding about an item that has left the bot by the books since. Only a look deletes such a finding, and
 * bots that are out of service get no looks. True for all foreign items, because the books do not have them.
 */
const isStillDrift = sql<boolean>`(drift.trade_id is null or (
  select entry.moved = 'in' and entry.bot_id = drift.bot_id from custody_entry entry
  where entry.trade_id = drift.trade_id and entry.asset_id = drift.given_asset_id order by entry.id desc limit 1))`

/** The number of items that are certainly missing from bots. */
export const missingItems = sql<number>`(
  select count(*)::int from custody_drift drift join bot on bot.id = drift.bot_id
  where kind = 'missing' and is_sure and bot.state <> 'removed' and ${isStillDrift})`

/** `bot`: the number, Steam id or name of one bot. Without it, returns all bots. */
export async function selectDrift(db: Db | Tx, { bot }: { bot?: string | undefined }): Promise<BotLook[]> {
  const { rows } = await sql<Row>`
    select bot.id as "botId", bot.name as bot, steam_id as "botSteamId", looked_at as "lookedAt", whole_at as "wholeAt",
      coalesce(asked_at >= coalesce(looked_at, asked_at), false) as "isAsked", coalesce(left_out, 0) as "leftOut",
      (select coalesce(json_agg(json_build_object('kind', kind, 'item', trade_id || '-' || given_asset_id, 'appId', app_id,
        'assetId', asset_id, 'marketHashName', market_hash_name,
        'firstSeenMs', (extract(epoch from first_seen_at) * 1000)::bigint,
        'seenMs', (extract(epoch from seen_at) * 1000)::bigint, 'isSure', is_sure) order by kind desc, id), '[]')
        from custody_drift drift where drift.bot_id = bot.id and ${isStillDrift}) as drift
    from bot left join custody_look on custody_look.bot_id = bot.id
    where bot.state <> 'removed' and (${bot ?? null}::text is null
      or ${bot ?? null} in (bot.id::text, bot.steam_id, bot.name))
    order by bot.id`.execute(db)
  return rows.map(({ drift, ...look }) => ({
    ...look,
    drift: drift.map(({ firstSeenMs, seenMs, ...found }) => {
      return { ...found, firstSeenAt: new Date(firstSeenMs), seenAt: new Date(seenMs) }
    }),
  }))
}

/** Asks for a comparison of these bots' inventories as soon as possible. */
export async function askForLooks(tx: Tx, botIds: readonly bigint[], now: Date): Promise<void> {
  await sql`
    insert into custody_look (bot_id, due_at, asked_at)
    select id, ${now}::timestamptz, ${now}::timestamptz from unnest(${[...botIds]}::bigint[]) asked (id)
    on conflict (bot_id) do update set due_at = excluded.due_at, asked_at = excluded.asked_at`.execute(tx)
}

export type DriftCount = {
  steamId: string
  /**
   * When the whole inventory was last seen, or else when the bot began to be watched; null for a retired bot, which gets
   * no looks.
   */
  unseenSince: Date | null
  missing: number
  foreign: number
  unnamed: number
}

/** The number of certain differences, by bot. Foreign items that were left out of the list count too. */
export async function countDrift(db: Db): Promise<DriftCount[]> {
  const { rows } = await sql<DriftCount>`
    select steam_id as "steamId", case when bot.state <> 'retired' then coalesce(whole_at, watched_from) end as "unseenSince",
      (count(drift.id) filter (where kind = 'missing'))::int as missing,
      (count(drift.id) filter (where kind = 'foreign') + coalesce(max(left_out), 0))::int as foreign,
      (count(drift.id) filter (where kind = 'unnamed'))::int as unnamed
    from bot left join custody_look on custody_look.bot_id = bot.id
    left join custody_drift drift on drift.bot_id = bot.id and is_sure and ${isStillDrift}
    where bot.state <> 'removed' group by bot.id, custody_look.bot_id`.execute(db)
  return rows
}
