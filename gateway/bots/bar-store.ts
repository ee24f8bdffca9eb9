import { type RawBuilder, sql } from 'kysely'
import type { Game } from '../../contract/games.ts'
import type { Db, Tx } from '../db/client.ts'
import { isFar } from '../db/far-time.ts'
import {
  type Bar,
  type BarReason,
  type BarState,
  DOUBTS_BEFORE_BAR,
  DOUBTS_WITHIN_MS,
  nextBar,
  scopeOf,
} from './bar.ts'

type BarRequest = { botId: bigint; reason: BarReason; game: Game; now: Date }

/** Bars a bot, unless a current bar already covers this refusal. */
export async function barBot(tx: Tx, { botId, reason, game, now }: BarRequest): Promise<void> {
  const scope = scopeOf(reason, game)
  const row = await tx
    .selectFrom('bot_bar')
    .select(['scope', 'reason', 'until', 'times'])
    .where('bot_id', '=', botId)
    .where('scope', '=', scope)
    .forUpdate()
    .executeTakeFirst()
  const bar = nextBar(row, { reason, game, now })
  if (bar === row) return
  const { until, times } = bar
  const values = { bot_id: botId, scope, reason: bar.reason, barred_at: now, until, times }
  await tx
    .insertInto('bot_bar')
    .values(values)
    .onConflict((conflict) => conflict.columns(['bot_id', 'scope']).doUpdateSet(values))
    .execute()
}

/** Clears the bars that cover a game, and all doubts about the bot: Steam took its offer for items of that game. */
export async function trustBot(tx: Tx, botId: bigint, game: Game): Promise<void> {
  await tx.deleteFrom('bot_bar').where('bot_id', '=', botId).where('scope', 'in', ['all', game]).execute()
  await tx.deleteFrom('bot_doubt').where('bot_id', '=', botId).execute()
}

/**
 * Ends the current bars of a bot whose account an operator has put in order. The next bar is as long as if they had run
 * to their end. Returns false if there are none.
 */
export async function endBars(tx: Tx, botId: bigint): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('bot_bar')
    .set({ until: sql<Date>`till_now()` })
    .where('bot_id', '=', botId)
    .where('until', '>', sql<Date>`till_now()`)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Ends the bars that a clock that was ahead began, and returns their number. If Steam refuses again, a bar begins. */
export async function endFarBars(db: Db, now: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update bot_bar set until = ${now}
    where until > ${now} and ${isFar(sql`barred_at`, now)}`.execute(db)
  return Number(numAffectedRows)
}

type Doubt = { botId: bigint; partnerSteamId: string; game: Game; now: Date }

/**
 * Records that Steam refused this bot's offer to a partner but took the same offer from another bot. Several such
 * partners within an hour bar the bot as `doubted`.
 */
export async function doubtBot(tx: Tx, { botId, partnerSteamId, game, now }: Doubt): Promise<void> {
  const values = { bot_id: botId, partner_steam_id: partnerSteamId, doubted_at: now }
  await tx
    .insertInto('bot_doubt')
    .values(values)
    .onConflict((conflict) => conflict.columns(['bot_id', 'partner_steam_id']).doUpdateSet(values))
    .execute()
  const { partners } = await tx
    .selectFrom('bot_doubt')
    .select((eb) => eb.fn.countAll<bigint>().as('partners'))
    .where('bot_id', '=', botId)
    .where('doubted_at', '>', new Date(now.getTime() - DOUBTS_WITHIN_MS))
    .executeTakeFirstOrThrow()
  if (partners >= DOUBTS_BEFORE_BAR) await barBot(tx, { botId, reason: 'doubted', game, now })
}

/**
 * The state of the bot's bars for an offer of the game, as an SQL expression over the row `bot`. The rule is
 * `barStateOf` in bar.ts.
 */
export function barStateFor(game: Game): RawBuilder<BarState> {
  return sql<BarState>`(select case
    when bool_or(bar.reason <> 'doubted') then 'barred' when count(*) > 0 then 'doubted' else 'free' end
    from bot_bar bar
    where bar.bot_id = bot.id and bar.scope in ('all', ${game}) and bar.until > (select till_now()))`
}

export type BotBar = Bar & { botId: bigint; barredAt: Date }

/** All current bars. */
export async function listBars(db: Db): Promise<BotBar[]> {
  const rows = await db
    .selectFrom('bot_bar')
    .selectAll()
    .where('until', '>', sql<Date>`till_now()`)
    .orderBy('bot_id')
    .orderBy('scope')
    .execute()
  return rows.map(({ bot_id: botId, barred_at: barredAt, scope, reason, until, times }) => ({
    botId,
    barredAt,
    scope,
    reason,
    until,
    times,
  }))
}
