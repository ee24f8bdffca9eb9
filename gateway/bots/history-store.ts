import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { isFar, notAfter } from '../db/far-time.ts'
import { plus } from '../kit/clock.ts'
import { DAY_MS } from '../kit/duration.ts'
import type { HistoryPlace } from '../steam/steam.ts'
import { LEASABLE_STATES } from './store.ts'

/**
 * `begunAt`: the start of the current pass; null between passes. `after`: the Steam trade after which it continues; null
 * at the beginning. `knownUntil`: all reversals before this time are known,
 * because it is when the last complete pass began.
 */
export type HistoryPass = { begunAt: Date | null; after: HistoryPlace | null; knownUntil: Date | null }

export async function historyOf(db: Db, botId: bigint): Promise<HistoryPass> {
  const row = await db
    .selectFrom('bot_history')
    .select(['begun_at', 'after_trade_id', 'after_begun_at', 'complete_at'])
    .where('bot_id', '=', botId)
    .executeTakeFirst()
  if (row === undefined) return { begunAt: null, after: null, knownUntil: null }
  const { after_trade_id: tradeId, after_begun_at: begunAt } = row
  const after = tradeId === null || begunAt === null ? null : { tradeId, begunAt }
  return { begunAt: row.begun_at, after, knownUntil: row.complete_at }
}

type HistoryWrite = { botId: bigint; leaseEpoch: bigint; now: Date }

/** Has no effect under an old lease, whose holder may have failed to store the records that it read. */
export async function saveHistoryPass(
  db: Db,
  { botId, leaseEpoch, now }: HistoryWrite,
  pass: HistoryPass,
): Promise<void> {
  const { begunAt, after, knownUntil } = pass
  await sql`
    insert into bot_history (bot_id, turned_at, begun_at, after_trade_id, after_begun_at, complete_at)
    select id, ${now}::timestamptz, ${begunAt}::timestamptz, ${after?.tradeId ?? null}, ${after?.begunAt ?? null}::timestamptz,
      ${knownUntil}::timestamptz
    from bot where id = ${botId} and lease_epoch = ${leaseEpoch}
    on conflict (bot_id) do update set begun_at = excluded.begun_at, after_trade_id = excluded.after_trade_id,
      after_begun_at = excluded.after_begun_at, complete_at = excluded.complete_at`.execute(db)
}

/** True if the bot ever had an item: only then can a delivery be taken back or an item be stolen. */
const hadItems = sql<boolean>`exists (select from custody_entry where custody_entry.bot_id = bot.id)`

/**
 * A history is due if no sweep ever took it. It is also due if a sweep last took it before `takenBefore`, and either a
 * pass is under way, no pass was ever completed, or the last complete pass began before `passBefore`.
 */
export type DueHistories = { now: Date; takenBefore: Date; passBefore: Date }

/** Takes active and paused bots that ever had an item. Concurrent processes take different bots. */
export async function takeDueHistories(
  db: Db,
  { now, takenBefore, passBefore }: DueHistories,
): Promise<bigint[]> {
  const { rows } = await sql<{ botId: bigint }>`
    insert into bot_history (bot_id, turned_at)
    select bot.id, ${now}::timestamptz
    from bot left join bot_history on bot_history.bot_id = bot.id
    where bot.state = any(${[...LEASABLE_STATES]}::text[])
      and ${hadItems}
      and (bot_history.bot_id is null or (turned_at <= ${takenBefore}
        and (begun_at is not null or complete_at is null or complete_at <= ${passBefore})))
    on conflict (bot_id) do update set turned_at = excluded.turned_at where bot_history.turned_at <= ${takenBefore}
    returning bot_id as "botId"`.execute(db)
  return rows.map(({ botId }) => botId)
}

/**
 * How far to read back once the start of the last complete pass is lost. Nobody asks Steam about older departures
 * again. For reversals this does not matter: every pass reads back to each delivery that can still be reversed.
 */
const READ_AGAIN_MS = 30 * DAY_MS

/**
 * Makes histories due again if a clock that was ahead wrote their times, and returns their number. A pass that was
 * under way begins again: nobody knows when it really began, and it shows nothing that happened after its beginning.
 */
export async function mendFarHistories(db: Db, now: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update bot_history set turned_at = ${notAfter('turned_at', now)},
      begun_at = null, after_trade_id = null, after_begun_at = null,
      complete_at = case when ${isFar(sql`complete_at`, now)} then ${plus(now, -READ_AGAIN_MS)}::timestamptz
        else complete_at end
    where ${isFar(sql`greatest(turned_at, begun_at, complete_at)`, now)}`.execute(db)
  return Number(numAffectedRows)
}

/** For each bot that ever had an item: the start of the last complete pass; null if there was none. */
export async function lastCompletePasses(db: Db): Promise<Map<bigint, Date | null>> {
  const { rows } = await sql<{ botId: bigint; completeAt: Date | null }>`
    select bot.id as "botId", complete_at as "completeAt"
    from bot left join bot_history on bot_history.bot_id = bot.id
    where ${hadItems}`.execute(db)
  return new Map(rows.map(({ botId, completeAt }) => [botId, completeAt]))
}

/**
 * For each bot that ever had an item: the time after which its history has not been read completely, which is when the
 * last complete pass began. Before the first such pass, it is when the bot got its first item, or when the till began
 * to watch the bot if that was later.
 */
export async function unreadSince(db: Db): Promise<Map<bigint, Date>> {
  const { rows } = await sql<{ botId: bigint; since: Date }>`
    select bot.id as "botId", coalesce(complete_at, greatest(watched_from, first.created_at)) as since
    from bot left join bot_history on bot_history.bot_id = bot.id
    join lateral (select created_at from custody_entry where bot_id = bot.id order by id limit 1) first on true`.execute(
    db,
  )
  return new Map(rows.map(({ botId, since }) => [botId, since]))
}
