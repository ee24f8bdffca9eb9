/** The one way in which a trade changes: a fact is judged under the deposit's lock and all it causes is one commit. */

import { isFinal } from '../../contract/statuses.ts'
import type { Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import { depositTopic } from '../deposits/service.ts'
import { type DepositRow, lockDeposit } from '../deposits/store.ts'
import { alarm } from './alarm.ts'
import { type Circumstances, decide, type Fact } from './decide.ts'
import { follow } from './effects.ts'
import { tradeTopic } from './request.ts'
import { columnsOf, type LoadedTrade, loadTrade, type Writer, withItems, writeTrade } from './store.ts'
import { evolve, type Trade, type TradeEvent } from './trade.ts'
import type { TradeDeps } from './wake.ts'

/** `trade`: as it is now. `events`: what the fact made happen; none if it is no news. */
export type Recorded = { trade: Trade; events: TradeEvent[] }

/** Whose fact it is: without a writer only an intent may be changed, about which nothing was said to Steam. */
export type Source = { tradeId: bigint; writer?: Writer }

/** Undefined when there is no such trade, or the writer's lease is over: then nothing was changed. */
export async function record(deps: TradeDeps, source: Source, fact: Fact): Promise<Recorded | undefined> {
  const seen = await loadTrade(deps.db, source.tradeId)
  if (seen === undefined) return undefined
  const now = deps.clock.now()
  // Most reads bring nothing new: those lock nothing and write nothing.
  const isNews = decide(seen.trade, fact, { ...circumstances(deps, seen.row, now), wanted: true }).length > 0
  if (!isNews && (seen.row.due_at === null || seen.row.due_at > now)) return { trade: seen.trade, events: [] }
  return inTransaction(deps.db, async (tx) => {
    const deposit = await lockDeposit(tx, { id: seen.row.deposit_id })
    const locked = await lockTrade(tx, source.tradeId)
    if (deposit === undefined || locked === undefined) return undefined
    return apply(deps, tx, { deposit, locked, source, fact, now })
  })
}

type Step = { deposit: DepositRow; locked: LoadedTrade; source: Source; fact: Fact; now: Date }

async function apply(deps: TradeDeps, tx: Tx, step: Step): Promise<Recorded | undefined> {
  const { deposit, locked, source, fact, now } = step
  const { row } = locked
  const around = { ...circumstances(deps, row, now), wanted: !isFinal(deposit.status) }
  const events = decide(locked.trade, fact, around)
  const trade = events.reduce(evolve, locked.trade)
  const change = { ...(events.length > 0 && columnsOf(trade)), due_at: alarm(trade, now) }
  const where = source.writer
    ? { id: row.id, from: [row.state], writer: source.writer }
    : { id: row.id, from: ['intended'] as ['intended'] }
  if (!(await writeTrade(tx, where, change))) return undefined
  for (const event of events) await follow(deps, tx, { depositId: deposit.id, tradeId: row.id, event })
  if (events.length > 0) {
    await deps.signals.notify(tx, tradeTopic(row.id))
    await deps.signals.notify(tx, depositTopic(deposit.id))
  }
  return { trade, events }
}

async function lockTrade(tx: Tx, id: bigint): Promise<LoadedTrade | undefined> {
  const row = await tx.selectFrom('trade').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
  return row && { row, trade: await withItems(tx, row) }
}

function circumstances(deps: TradeDeps, row: LoadedTrade['row'], now: Date): Omit<Circumstances, 'wanted'> {
  return { now, protectionDays: deps.protectionDays(row.game) }
}
