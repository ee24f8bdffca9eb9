/** The rows of the bots' calls to Steam, counted per five minutes. */
import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import type { CallCount } from './call-counts.ts'

/** Adds the counts of this process, and deletes those older than 25 hours. Skips accounts that are not bots. */
export async function saveCalls(db: Db, counts: ReadonlyMap<string, CallCount>): Promise<void> {
  if (counts.size === 0) return
  const rows = JSON.stringify([...counts].map(([account, count]) => ({ account, ...count })))
  await sql`
    insert into bot_calls (bot_id, since, asked, limited, failed, held_back)
    select bot.id, date_bin('5 minutes', now(), 'epoch'), asked, limited, failed, "heldBack"
    from jsonb_to_recordset(${rows}::jsonb) as counted
      (account text, asked int, limited int, failed int, "heldBack" int)
    join bot on bot.steam_id = counted.account
    order by bot.id
    on conflict (bot_id, since) do update set asked = bot_calls.asked + excluded.asked,
      limited = bot_calls.limited + excluded.limited, failed = bot_calls.failed + excluded.failed,
      held_back = bot_calls.held_back + excluded.held_back`.execute(db)
  await sql`
    delete from bot_calls using bot
    where bot.id = bot_calls.bot_id and bot.steam_id = any(${[...counts.keys()]}::text[])
      and since < now() - interval '25 hours'`.execute(db)
}

/** The counts of the last hour. */
export async function callsOf(db: Db, botId: bigint): Promise<CallCount> {
  const { rows } = await sql<CallCount>`
    select coalesce(sum(asked), 0)::int as asked, coalesce(sum(limited), 0)::int as limited,
      coalesce(sum(failed), 0)::int as failed, coalesce(sum(held_back), 0)::int as "heldBack"
    from bot_calls where bot_id = ${botId} and since > now() - interval '1 hour'`.execute(db)
  return rows[0] ?? { asked: 0, limited: 0, failed: 0, heldBack: 0 }
}

export type HourOfCalls = CallCount & { at: Date }

/** Of all bots, hour by hour for the last 24, the oldest first. */
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
