import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/client.ts'
import type { CallCount, CountedCalls } from './call-counts.ts'

/** Longer than the 24 hours that are shown. */
const KEPT_FOR = sql`interval '25 hours'`

/**
 * Adds the counts to those of the current five minutes and of the current hour. Skips accounts that are not bots.
 * Deletes old counts: all hourly ones, but five-minute ones only of the bots in `counts`.
 */
export async function saveCalls(db: Db, counts: readonly CountedCalls[]): Promise<void> {
  if (counts.length === 0) return
  const counted = sql`
    select bot.id as bot_id, counted.* from jsonb_to_recordset(${JSON.stringify(counts)}::jsonb) as counted (account text,
      method text, asked int, limited int, failed int, "heldBack" int, "totalMs" bigint, "longestMs" int)
    left join bot on bot.steam_id = counted.account where account is null or bot.id is not null`
  await sql`
    insert into bot_calls (bot_id, since, asked, limited, failed, held_back)
    select bot_id, date_bin('5 minutes', now(), 'epoch'), sum(asked), sum(limited), sum(failed), sum("heldBack")
    from (${counted}) counted where bot_id is not null group by bot_id
    order by bot_id
    on conflict (bot_id, since) do update set asked = bot_calls.asked + excluded.asked,
      limited = bot_calls.limited + excluded.limited, failed = bot_calls.failed + excluded.failed,
      held_back = bot_calls.held_back + excluded.held_back`.execute(db)
  await sql`
    insert into steam_calls as known (hour, method, bot_id, asked, limited, failed, held_back, total_ms, longest_ms)
    select date_trunc('hour', now()), method, bot_id, asked, limited, failed, "heldBack", "totalMs", "longestMs"
    from (${counted}) counted order by method, bot_id
    on conflict (bot_id, method, hour) do update set asked = known.asked + excluded.asked,
      limited = known.limited + excluded.limited, failed = known.failed + excluded.failed,
      held_back = known.held_back + excluded.held_back, total_ms = known.total_ms + excluded.total_ms,
      longest_ms = greatest(known.longest_ms, excluded.longest_ms)`.execute(db)
  const accounts = counts.flatMap(({ account }) => (account === null ? [] : [account]))
  await sql`
    delete from bot_calls using bot
    where bot.id = bot_calls.bot_id and bot.steam_id = any(${accounts}::text[])
      and since < now() - ${KEPT_FOR}`.execute(db)
  await sql`delete from steam_calls where hour < now() - ${KEPT_FOR}`.execute(db)
}

/** `averageMs`, `longestMs`: null if no call was sent. */
export type MethodCalls = CallCount & { averageMs: number | null; longestMs: number | null }

const SUMS = sql`
  sum(asked)::int as asked, sum(limited)::int as limited, sum(failed)::int as failed, sum(held_back)::int as "heldBack",
  round(sum(total_ms)::numeric / nullif(sum(asked), 0))::int as "averageMs",
  case when sum(asked) > 0 then max(longest_ms) end as "longestMs"`

/** The current hour and the 23 before it. */
const RECENT: RawBuilder<boolean> = sql`hour >= date_trunc('hour', now()) - interval '23 hours'`

/** Most used first. `botId`: null counts all bots and public pages. */
export async function callsByMethod(
  db: Db,
  botId: bigint | null,
): Promise<(MethodCalls & { method: string })[]> {
  const { rows } = await sql<MethodCalls & { method: string }>`
    select method, ${SUMS} from steam_calls where ${RECENT} and (${botId}::bigint is null or bot_id = ${botId})
    group by method order by sum(asked) desc, method`.execute(db)
  return rows
}

export type CallsOfBot = MethodCalls & { botId: bigint | null; bot: string | null }

/** By bot, first those that Steam limited most. The bot is null for public pages. */
export async function callsOfMethod(db: Db, method: string): Promise<CallsOfBot[]> {
  const { rows } = await sql<CallsOfBot>`
    select steam_calls.bot_id as "botId", bot.name as bot, ${SUMS}
    from steam_calls left join bot on bot.id = steam_calls.bot_id where ${RECENT} and method = ${method}
    group by steam_calls.bot_id, bot.name order by sum(limited) desc, sum(asked) desc, 1`.execute(db)
  return rows
}

/** The bot's counts in the periods of five minutes that began in the last hour. */
export async function callsOf(db: Db, botId: bigint): Promise<CallCount> {
  const { rows } = await sql<CallCount>`
    select coalesce(sum(asked), 0)::int as asked, coalesce(sum(limited), 0)::int as limited,
      coalesce(sum(failed), 0)::int as failed, coalesce(sum(held_back), 0)::int as "heldBack"
    from bot_calls where bot_id = ${botId} and since > now() - interval '1 hour'`.execute(db)
  return rows[0] ?? { asked: 0, limited: 0, failed: 0, heldBack: 0 }
}

export type HourOfCalls = CallCount & { at: Date }

/** The counts of all bots in the current hour and in each of the 23 before it, oldest first. */
export async function callsByHour(db: Db): Promise<HourOfCalls[]> {
  const { rows } = await sql<HourOfCalls>`
    with last as (select date_trunc('hour', now()) as hour),
    counted as (
      select date_trunc('hour', since) as at, sum(asked) as asked, sum(limited) as limited, sum(failed) as failed,
        sum(held_back) as held_back
      from bot_calls where since >= (select hour from last) - interval '23 hours' group by 1
    )
    select at, coalesce(asked, 0)::int as asked, coalesce(limited, 0)::int as limited,
      coalesce(failed, 0)::int as failed, coalesce(held_back, 0)::int as "heldBack"
    from last, generate_series(last.hour - interval '23 hours', last.hour, interval '1 hour') at
    left join counted using (at) order by at`.execute(db)
  return rows
}
