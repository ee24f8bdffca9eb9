/** The queries of the sweeps: what is due, and what no bot will end. */
import { sql } from 'kysely'
import { ASK_AGAIN_MS } from '../alerts/needs-store.ts'
import { botQueue } from '../bots/bot.ts'
import { takeDueHistories } from '../bots/history-store.ts'
import { LEASABLE_STATES } from '../bots/store.ts'
import type { Db } from '../db/client.ts'
import { isFar, notAfter } from '../db/far-time.ts'
import { OPEN_TRADE_STATES, type TradeStateColumn } from '../db/trade-tables.ts'
import type { DepositDeps } from '../deposits/service.ts'
import { plus } from '../kit/clock.ts'
import { freeExpiredLostRoom } from '../ledger/room-store.ts'
import { LAST_REVIEW_MS, LONGEST_GAP_MS } from './alarm.ts'
import { TRADE_WINDOW_MS } from './decide.ts'
import { OVERDUE_MS, WAIT_MS } from './giving-up.ts'
import type { TradeStore, TradeToEnd, WaitingTrade } from './trade-store.ts'

type Sweeps = Pick<
  TradeStore,
  | 'takeDueTrades'
  | 'staleIntents'
  | 'tradesToEnd'
  | 'takeDueHistories'
  | 'freeExpiredRoom'
  | 'expiredDeposits'
  | 'wakeBot'
>

export function sweepsOf({ db, queue }: Pick<DepositDeps, 'db' | 'queue'>): Sweeps {
  return {
    takeDueTrades: ({ now, nextAt, limit }) => {
      const due = db
        .selectFrom('trade')
        .select('id')
        .where('due_at', '<=', now)
        .where('bot_id', 'in', (bots) =>
          bots.selectFrom('bot').select('bot.id').where('state', 'in', LEASABLE_STATES),
        )
        .orderBy('due_at')
        .limit(limit)
        .forUpdate()
        .skipLocked()
      // An array, not a join: the planner then finds each row by its index, however many rows it expects.
      return db
        .updateTable('trade')
        .set({ due_at: nextAt })
        .where('id', '=', sql<bigint>`any(array(${due}))`)
        .returning(['id', 'deposit_id as depositId', 'bot_id as botId'])
        .execute()
    },
    staleIntents: (before, limit) =>
      db
        .selectFrom('trade')
        .select(['id', 'deposit_id as depositId', 'bot_id as botId'])
        .where('state', '=', 'intended')
        .where('created_at', '<=', before)
        .orderBy('id')
        .limit(limit)
        .execute(),
    tradesToEnd: (now, limit) => tradesToEnd(db, now, limit),
    takeDueHistories: (how) => takeDueHistories(db, how),
    async freeExpiredRoom(now, limit) {
      await freeExpiredLostRoom(db, now, limit)
    },
    async expiredDeposits(now, limit) {
      const rows = await db
        .selectFrom('deposit')
        .select('id')
        .where('status', '=', 'created')
        .where('expires_at', '<=', now)
        .orderBy('expires_at')
        .limit(limit)
        .execute()
      return rows.map(({ id }) => id)
    },
    async wakeBot(botId, job) {
      const name = botQueue(botId)
      await queue.ensure(name)
      const [data, singletonKey] =
        job.kind === 'trade'
          ? [{ kind: job.kind, tradeId: String(job.tradeId) }, `trade ${job.tradeId}`]
          : [job, 'history']
      await db.transaction().execute((tx) => queue.send(tx, { queue: name, data, singletonKey }))
    },
  }
}

const OPEN: readonly TradeStateColumn[] = OPEN_TRADE_STATES

async function tradesToEnd(db: Db, now: Date, limit: number): Promise<TradeToEnd[]> {
  const retired = await watchedOfRetired(db, limit)
  const silent = [...(await silentTrades(db, now, limit)), ...(await silentLooks(db, now, limit))]
  return [
    ...retired.map((trade) => ({ ...trade, because: 'bot_retired' as const })),
    ...silent.map((trade) => ({ ...trade, because: 'unresolved' as const })),
  ]
}

const selectTrades = (db: Db) =>
  db.selectFrom('trade').select(['id', 'deposit_id as depositId', 'bot_id as botId'])

/**
 * The trades of retired bots that are open or have an alarm. Each condition has its own index, so there are two
 * queries.
 */
async function watchedOfRetired(db: Db, limit: number): Promise<WaitingTrade[]> {
  const bots = await db.selectFrom('bot').select('id').where('state', '=', 'retired').execute()
  if (bots.length === 0) return []
  const ids = bots.map(({ id }) => id)
  const ofRetired = selectTrades(db).where('bot_id', 'in', ids).orderBy('id').limit(limit)
  const openTrades = await ofRetired.where('state', 'in', OPEN).execute()
  const due = await ofRetired.where('due_at', 'is not', null).where('state', 'not in', OPEN).execute()
  return [...openTrades, ...due]
}

/** The undelivered trades for which `waitsUntil` in giving-up.ts is past. `decide` makes the final decision. */
function silentTrades(db: Db, now: Date, limit: number): Promise<WaitingTrade[]> {
  const before = (ms: number) => new Date(now.getTime() - ms)
  return selectTrades(db)
    .where('delivered_at', 'is', null)
    .where((eb) => eb.or([eb('ended_at', 'is', null), eb('due_at', 'is not', null)]))
    .where('send_started_at', '<=', before(WAIT_MS))
    .where((eb) =>
      eb.or([eb('steam_hold_until', 'is', null), eb('steam_hold_until', '<=', before(OVERDUE_MS))]),
    )
    .where((eb) =>
      eb.or([
        eb('ended_at', 'is', null),
        eb('steam_hold_until', 'is not', null),
        eb('ended_at', '<=', before(LAST_REVIEW_MS)),
      ]),
    )
    .orderBy('send_started_at')
    .limit(limit)
    .execute()
}

/**
 * Final trades whose look got no answer within `WAIT_MS`, although the bot could ask: after `WAIT_MS` was over, it has
 * completely read its history. So a bot that was away may ask first, however late it comes back. Bots ask about such a
 * trade once an hour, so it is due within `ASK_AGAIN_MS`, and the index on `due_at` finds it.
 */
function silentLooks(db: Db, now: Date, limit: number): Promise<WaitingTrade[]> {
  const wait = sql`make_interval(secs => ${sql.lit(WAIT_MS / 1_000)})`
  return selectTrades(db)
    .where('due_at', '<=', new Date(now.getTime() + ASK_AGAIN_MS))
    .where('state', '=', 'final')
    .where('look_at', '<=', new Date(now.getTime() - WAIT_MS))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('bot_history')
          .select('bot_history.bot_id')
          .whereRef('bot_history.bot_id', '=', 'trade.bot_id')
          .where('bot_history.complete_at', '>=', sql<Date>`trade.look_at + ${wait}`),
      ),
    )
    .orderBy('due_at')
    .limit(limit)
    .execute()
}

/**
 * Mends trades without a delivery whose times a clock that was ahead has written, and returns their number. Makes them
 * due at once. If the time of something that has happened lies ahead, it becomes now, because it was no later. A deadline
 * that is too far ahead becomes the usual one, from now.
 *
 * Delivered trades keep their times: the ledger's limits and the end of Steam's protection depend on them.
 */
export async function mendFarTrades(db: Db, now: Date): Promise<number> {
  const seconds = (ms: number) => sql`make_interval(secs => ${sql.lit(ms / 1_000)})`
  const longestWait = sql`case when ended_at is null then ${seconds(LONGEST_GAP_MS)} else ${seconds(LAST_REVIEW_MS)} end`
  const { numAffectedRows = 0n } = await sql`
    update trade set due_at = ${now},
      deadline = ${notAfter('deadline', plus(now, TRADE_WINDOW_MS))},
      created_at = ${notAfter('created_at', now)},
      send_started_at = ${notAfter('send_started_at', now)},
      accepted_at = ${notAfter('accepted_at', now)},
      bad_end_seen_at = ${notAfter('bad_end_seen_at', now)},
      ended_at = ${notAfter('ended_at', now)}
    where delivered_at is null and (ended_at is null or due_at is not null)
      and ${isFar(
        sql`greatest(created_at, send_started_at, accepted_at, bad_end_seen_at, ended_at,
          deadline - ${seconds(TRADE_WINDOW_MS)}, due_at - ${longestWait})`,
        now,
      )}`.execute(db)
  return Number(numAffectedRows)
}

/**
 * Offline bots with overdue trades, which are held, or open and past `intended`. The trades were created no later than
 * `madeBefore`, and are due no later than `dueBefore`. `trades`: how many such trades the bot has.
 */
export function botsOfOverdueTrades(
  db: Db,
  { madeBefore, dueBefore }: { madeBefore: Date; dueBefore: Date },
) {
  return db
    .selectFrom('trade')
    .innerJoin('bot', 'bot.id', 'trade.bot_id')
    .select((eb) => ['bot.id', 'bot.name', 'bot.state', 'bot.state_reason', eb.fn.countAll().as('trades')])
    .where('trade.due_at', 'is not', null)
    .where('trade.state', 'in', ['sending', 'unknown', 'active', 'held'])
    .where('bot.online', '=', false)
    .where('trade.created_at', '<=', madeBefore)
    .where('trade.due_at', '<=', dueBefore)
    .groupBy(['bot.id', 'bot.name', 'bot.state', 'bot.state_reason'])
    .execute()
}
