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
import {
  columnsOf,
  type LoadedTrade,
  loadTrade,
  otherOffersOf,
  type Writer,
  withItems,
  writeCancel,
  writeTrade,
} from './store.ts'
import { evolve, type Trade, type TradeEvent } from './trade.ts'
import { type TradeDeps, wakeAt } from './wake.ts'

/** `trade`: as it is now. `events`: what the fact made happen; none if it is no news. */
export type Recorded = { trade: Trade; events: TradeEvent[] }

/**
 * Whose fact it is. Without a writer two things may be done: an intent changed, about which nothing was said to Steam,
 * and a cancel begun, which the holder of the lease carries out.
 */
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
    return deposit && recordLocked(deps, tx, { deposit, source, fact, now })
  })
}

type Said = { deposit: DepositRow; source: Source; fact: Fact; now: Date }

/** The same within the transaction of a caller who has locked the deposit. */
export async function recordLocked(deps: TradeDeps, tx: Tx, said: Said): Promise<Recorded | undefined> {
  const locked = await lockTrade(tx, said.source.tradeId)
  return locked && apply(deps, tx, { ...said, locked })
}

type Step = Said & { locked: LoadedTrade }

async function apply(deps: TradeDeps, tx: Tx, step: Step): Promise<Recorded | undefined> {
  const { deposit, locked, fact, now } = step
  const { row } = locked
  const around = { ...circumstances(deps, row, now), wanted: !isFinal(deposit.status) }
  const events = decide(locked.trade, fact, around)
  const trade = events.reduce(evolve, locked.trade)
  if (!(await write(tx, step, { trade, events }))) return undefined
  if (events.some(({ kind }) => kind === 'delivered')) await endOthers(deps, tx, step)
  for (const event of events) await follow(deps, tx, { depositId: deposit.id, tradeId: row.id, event })
  if (events.length > 0) {
    await deps.signals.notify(tx, tradeTopic(row.id))
    await deps.signals.notify(tx, depositTopic(deposit.id))
  }
  return { trade, events }
}

/** False when the source may not write this. */
async function write(tx: Tx, step: Step, { trade, events }: Recorded): Promise<boolean> {
  const { source, fact, now, locked } = step
  const { id, state } = locked.row
  const change = { ...(events.length > 0 && columnsOf(trade)), due_at: alarm(trade, now) }
  if (source.writer) return writeTrade(tx, { id, from: [state], writer: source.writer }, change)
  if (fact.kind !== 'store_cancels' && fact.kind !== 'others_came') {
    return writeTrade(tx, { id, from: ['intended'] }, change)
  }
  const [event] = events
  // Due at once, so that the next look at the offer carries it out where the job is lost.
  if (event?.kind === 'cancel_begun') await writeCancel(tx, id, { cancelling: event.because, due_at: now })
  return true
}

/** The deposit has its items: the shopper shall not give others as well. Before the balances are locked. */
async function endOthers(deps: TradeDeps, tx: Tx, { deposit, locked, now }: Step): Promise<void> {
  for (const row of await otherOffersOf(tx, locked.row)) {
    const said = { deposit, source: { tradeId: row.id }, fact: { kind: 'others_came' }, now } as const
    const recorded = await recordLocked(deps, tx, said)
    if (recorded !== undefined && recorded.events.length > 0) await wakeAt(deps, tx, row, now)
  }
}

async function lockTrade(tx: Tx, id: bigint): Promise<LoadedTrade | undefined> {
  const row = await tx.selectFrom('trade').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
  return row && { row, trade: await withItems(tx, row) }
}

function circumstances(deps: TradeDeps, row: LoadedTrade['row'], now: Date): Omit<Circumstances, 'wanted'> {
  return { now, protectionDays: deps.protectionDays(row.game) }
}
