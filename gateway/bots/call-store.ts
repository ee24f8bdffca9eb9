/** The rows of the bots' calls to Steam, counted per five minutes. */
import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import type { CallCount } from './call-counts.ts'

/** Adds the counts of this process, and deletes those older than two hours. Skips accounts that are not bots. */
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
      and since < now() - interval '2 hours'`.execute(db)
}

/** The counts of the last hour. */
export async function callsOf(db: Db, botId: bigint): Promise<CallCount> {
  const { rows } = await sql<CallCount>`
    select coalesce(sum(asked), 0)::int as asked, coalesce(sum(limited), 0)::int as limited,
      coalesce(sum(failed), 0)::int as failed, coalesce(sum(held_back), 0)::int as "heldBack"
    from bot_calls where bot_id = ${botId} and since > now() - interval '1 hour'`.execute(db)
  return rows[0] ?? { asked: 0, limited: 0, failed: 0, heldBack: 0 }
}
