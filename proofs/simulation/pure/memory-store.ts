/**
 * Trades in memory, for the gateway's own code around the pure rules. Checks what is committed, in part against what
 * Steam knows.
 */
import type { DueHistories } from '../../../gateway/bots/history-store.ts'
import { DELIVERED_TRADE_STATES, OPEN_TRADE_STATES } from '../../../gateway/db/trade-tables.ts'
import { decideDeposit } from '../../../gateway/deposits/deposit.ts'
import { roomFor } from '../../../gateway/ledger/entry.ts'
import type { Funds } from '../../../gateway/trades/effects.ts'
import { EDGES, type Trade } from '../../../gateway/trades/trade.ts'
import type {
  LoadedTrade,
  TradeStore,
  TradeSummary,
  TradeToEnd,
  TradeTx,
  TradeWrite,
  Writer,
} from '../../../gateway/trades/trade-store.ts'
import { JobFailed } from '../process.ts'
import { must } from '../violation.ts'
import { isSoonerElsewhere } from './fleet.ts'
import {
  type Bot,
  hasEverHadItem,
  type Pause,
  setDue,
  silentUntilMs,
  type TillMemory,
  type TradeRow,
} from './memory.ts'
import { apply, beginRun, commit, moveDeposit, publish, type Run } from './memory-effects.ts'
import { roomBeside } from './promises.ts'
import { checkRoom, freeExpiredRoom } from './room.ts'
import { checkEnd, checkTrade } from './truth.ts'

const OPEN: readonly Trade['state'][] = OPEN_TRADE_STATES
const DELIVERED: readonly Trade['state'][] = DELIVERED_TRADE_STATES

export const isLive = ({ trade }: TradeRow): boolean =>
  OPEN.includes(trade.state) || DELIVERED.includes(trade.state)

const cancellingOf = (trade: Trade) => (trade.state === 'active' ? trade.cancelling : null)

/** Creates the store for one process. */
export function createMemoryStore(memory: TillMemory, pause: Pause): TradeStore {
  const read = <T>(what: () => T): Promise<T> => pause(1, 10).then(what)
  return {
    load: (id) => read(() => loadedOf(memory, memory.trades.get(id))),
    // Needs no pause: the next call asks Steam about the partner, and the process may crash there.
    partnerTokenOf: async () => 'token',
    openTradesOf: (botId) =>
      read(() => {
        const open: TradeSummary[] = []
        for (const row of memory.bots.get(botId)?.open ?? []) {
          if (row.trade.state !== 'intended') open.push(summaryOf(row))
        }
        return open
      }),
    protectedTradesOf: (botId, steamTradeIds) =>
      read(() => {
        const rows = protectedOf(memory, botId).map(summaryOf)
        return rows.filter((row) => row.steamTradeId !== null && steamTradeIds.includes(row.steamTradeId))
      }),
    oldestProtectedOf: (botId) =>
      read(() => {
        const startedAtMs = protectedOf(memory, botId).flatMap(({ trade }) =>
          'startedAt' in trade && trade.startedAt !== null ? [trade.startedAt.getTime()] : [],
        )
        return startedAtMs.length === 0 ? undefined : new Date(Math.min(...startedAtMs))
      }),
    tradesByCode: (botId, codes) =>
      read(() => {
        const found = new Map<string, TradeSummary>()
        for (const code of codes) {
          const row = memory.byCode.get(code)
          if (row?.facts.botId === botId) found.set(code, summaryOf(row))
        }
        return found
      }),
    // Needs no pause: an offer never moves to another trade.
    tradesOfOffers: async (offerIds) => {
      const found = new Map<string, bigint>()
      if (offerIds.length === 0) return found
      for (const row of memory.trades.values()) {
        const { id, offerId } = summaryOf(row)
        if (offerId !== null && offerIds.includes(offerId)) found.set(offerId, id)
      }
      return found
    },
    partnersSince: (botId, since) => read(() => partnersSince(memory, botId, since)),
    async postpone(seen, writer, when) {
      await pause(1, 10)
      postpone(memory, { seen, writer, when })
      await pause(1, 10)
    },
    historyOf: (botId) =>
      read(() => memory.bots.get(botId)?.history ?? { begunAt: null, after: null, knownUntil: null }),
    async saveHistoryPass(botId, { writer }, pass) {
      await pause(1, 10)
      const bot = memory.bots.get(botId)
      if (bot?.leaseEpoch === writer.leaseEpoch) bot.history = { ...bot.history, ...pass }
    },
    ...sweepsOf(memory, read),
    isServedSoonerElsewhere: (loaded) => read(() => isSoonerElsewhere(memory, loaded)),
    isSteamDown: () => read(() => memory.outage.isKnown),
    transaction: (work) => transact(memory, pause, work),
  }
}

type Read = <T>(what: () => T) => Promise<T>

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

function sweepsOf(memory: TillMemory, read: Read): Sweeps {
  const { due, unpaid, bots } = memory
  const isDueHistory = ({ history, botId, state }: Bot, { takenBefore, passBefore }: DueHistories) => {
    const { turnedAt, begunAt, knownUntil } = history
    const isTurnDue = turnedAt === null || turnedAt <= takenBefore
    const isPassDue = begunAt !== null || knownUntil === null || knownUntil <= passBefore
    return state === 'active' && isTurnDue && isPassDue && hasEverHadItem(memory, botId)
  }
  return {
    takeDueTrades: ({ now, nextAt, limit }) =>
      read(() => {
        const nowMs = now.getTime()
        const rows: TradeRow[] = []
        for (const row of due) {
          if (rows.length === limit) break
          const { dueAt, botId } = row.facts
          if (dueAt !== null && dueAt.getTime() <= nowMs && bots.get(botId)?.state === 'active')
            rows.push(row)
        }
        for (const row of rows) setDue(memory, row, nextAt)
        return rows.map(({ facts }) => facts)
      }),
    staleIntents: (before, limit) =>
      read(() => {
        const open = [...bots.values()].flatMap((bot) => [...bot.open])
        const rows = open.filter(({ trade }) => trade.state === 'intended' && trade.createdAt <= before)
        return rows.slice(0, limit).map(({ facts }) => facts)
      }),
    tradesToEnd: (now, limit) => read(() => tradesToEnd(memory, now).slice(0, limit)),
    takeDueHistories: (query) =>
      read(() => {
        const due = [...bots.values()].filter((bot) => isDueHistory(bot, query))
        for (const bot of due) bot.history = { ...bot.history, turnedAt: query.now }
        return due.map(({ botId }) => botId)
      }),
    freeExpiredRoom: async (now) => freeExpiredRoom(memory, now),
    expiredDeposits: (now, limit) =>
      read(() => {
        const rows = [...unpaid].filter(({ status, expiresAt }) => status === 'created' && expiresAt <= now)
        return rows.slice(0, limit).map(({ id }) => id)
      }),
    wakeBot: (botId, job) =>
      read(() => {
        const row = job.kind === 'trade' ? memory.trades.get(job.tradeId) : undefined
        if (row !== undefined) memory.wake(row, new Date(memory.engine.now()))
        if (job.kind === 'history') memory.readHistory(botId)
      }),
  }
}

function tradesToEnd({ due, bots }: TillMemory, now: Date): TradeToEnd[] {
  const found: TradeToEnd[] = []
  const nowMs = now.getTime()
  const retired = new Set(
    [...bots.values()].flatMap(({ state, botId }) => (state === 'retired' ? botId : [])),
  )
  for (const row of due) {
    const { facts } = row
    if (facts.dueAt === null) continue
    if (retired.size > 0 && retired.has(facts.botId)) found.push({ ...facts, because: 'bot_retired' })
    else if (silentUntilMs(row.trade) <= nowMs) found.push({ ...facts, because: 'unresolved' })
  }
  for (const { state, open } of bots.values()) {
    for (const { facts } of state === 'retired' ? open : [])
      if (facts.dueAt === null) found.push({ ...facts, because: 'bot_retired' })
  }
  return found
}

const isProtected = (trade: Trade): boolean =>
  trade.state === 'held' || (trade.state === 'final' && trade.lookAt !== null)

const protectedOf = ({ trades }: TillMemory, botId: bigint): TradeRow[] =>
  [...trades.values()].filter(({ trade, facts }) => facts.botId === botId && isProtected(trade))

const loadedOf = ({ bots }: TillMemory, row: TradeRow | undefined): LoadedTrade | undefined =>
  row && {
    trade: row.trade,
    facts: { ...row.facts, isBotGone: bots.get(row.facts.botId)?.state === 'retired' },
  }

function partnersSince({ trades }: TillMemory, botId: bigint, since: Date): Map<string, bigint> {
  const rows = [...trades.values()].filter(
    ({ trade, facts, createdAt }) =>
      facts.botId === botId && (createdAt >= since || (trade.state === 'countered' && facts.dueAt !== null)),
  )
  return new Map(rows.map(({ trade, facts }) => [trade.partnerSteamId, facts.depositId]))
}

function summaryOf({ trade, facts, createdAt }: TradeRow): TradeSummary {
  return {
    id: facts.id,
    depositId: facts.depositId,
    state: trade.state,
    createdAt,
    dueAt: facts.dueAt,
    offerId: 'offerId' in trade ? trade.offerId : null,
    steamTradeId: 'steamTradeId' in trade ? trade.steamTradeId : null,
    acceptedAt: 'acceptedAt' in trade ? trade.acceptedAt : null,
    isDelivered: DELIVERED.includes(trade.state),
  }
}

type Postponing = { seen: LoadedTrade; writer: Writer; when: Date | null }

function postpone(memory: TillMemory, { seen, writer, when }: Postponing): void {
  const row = memory.trades.get(seen.facts.id)
  if (row === undefined || isStale(memory, row, writer)) return
  const isSame = row.trade.state === seen.trade.state && cancellingOf(row.trade) === cancellingOf(seen.trade)
  if (isSame) setDue(memory, row, when)
}

function isStale({ bots, faults }: TillMemory, row: TradeRow, writer: Writer): boolean {
  if (bots.get(row.facts.botId)?.leaseEpoch === writer.leaseEpoch) return false
  faults.note('write under an old lease')
  return true
}

/**
 * `work` and the commit run atomically, because a TradeTx never waits for the engine. `work` runs twice after a
 * serialization failure.
 */
export async function transact<T>(
  memory: TillMemory,
  pause: Pause,
  work: (tx: TradeTx) => Promise<T>,
): Promise<T> {
  const { faults } = memory
  await pause(1, 10)
  if (faults.strike('serialization failure', 0.003)) {
    const failed = beginRun()
    await work(openTx(memory, failed))
    for (const undo of failed.undo.reverse()) undo()
    await pause(1, 50)
  }
  const run = beginRun()
  try {
    const result = await work(openTx(memory, run))
    commit(memory, run)
    if (faults.strike('commit without an answer', 0.001))
      throw new JobFailed('the connection broke at the commit')
    await pause(1, 10)
    return result
  } catch (error) {
    if (!(error instanceof JobFailed)) for (const undo of run.undo.reverse()) undo()
    throw error
  }
}

function openTx(memory: TillMemory, run: Run): TradeTx {
  const { trades, deposits } = memory
  const rowOf = (id: bigint): TradeRow => {
    const row = trades.get(id)
    if (row === undefined) throw new Error(`there is no trade ${id}`)
    return row
  }
  /** Restores the row's current state if the run is undone. */
  const keep = <R extends object>(row: R): R => {
    const before = { ...row }
    run.undo.push(() => Object.assign(row, before))
    return row
  }
  return {
    async lockDeposit(id) {
      const row = deposits.get(id)
      if (row === undefined) return undefined
      const { storeId, status, expiresAt, cancelledAt } = keep(row)
      return { id, storeId, status, expiresAt, cancelledAt }
    },
    async lockTrade(id) {
      const row = trades.get(id)
      if (row !== undefined) keep(row)
      return loadedOf(memory, row)
    },
    liveTradeOf: async (id) => deposits.get(id)?.trades.findLast(isLive)?.facts.id,
    otherOffersOf: async ({ facts }) =>
      rowOf(facts.id).deposit.trades.flatMap(({ trade, facts: { id } }) =>
        id !== facts.id && trade.state === 'active' ? [id] : [],
      ),
    wasCancelledByStore: async (id) =>
      deposits
        .get(id)
        ?.trades.some(({ trade }) => 'reason' in trade && trade.reason === 'cancelled_by_store') === true,
    write: async (locked, change) => write(memory, run, { row: rowOf(locked.facts.id), change }),
    async beginCancel({ facts }, because, dueAt) {
      const row = rowOf(facts.id)
      if (row.trade.state === 'active') row.trade = { ...row.trade, cancelling: because }
      setDue(memory, row, dueAt)
    },
    fundsOf: async ({ facts }) => fundsOf(memory, rowOf(facts.id)),
    async apply({ facts }, effects) {
      const row = rowOf(facts.id)
      for (const effect of effects) apply(memory, run, { row, effect })
      run.atCommit.push(() => checkTrade(row))
      run.atCommit.push(() => checkRoom(memory, row.deposit.store))
    },
    isTimeStopped: async () => memory.outage.isKnown,
    async closeDeposit({ id }, cause) {
      const deposit = deposits.get(id)
      const to = deposit && decideDeposit(deposit, cause)
      if (!deposit || !to) return false
      if (cause.kind === 'cancelled_by_store') deposit.cancelledAt = cause.at
      moveDeposit(run, deposit, to)
      publish(run, deposit, to)
      return true
    },
    async wake(tradeId, at) {
      run.wakes.push({ row: rowOf(tradeId), at })
    },
    announce: async () => {},
  }
}

function write(
  memory: TillMemory,
  run: Run,
  { row, change }: { row: TradeRow; change: TradeWrite },
): boolean {
  const { writer, trade, dueAt } = change
  if (writer !== undefined && isStale(memory, row, writer)) return false
  const before = row.trade
  setDue(memory, row, dueAt)
  if (trade === undefined) return true
  row.trade = trade
  if (before.state === trade.state) return true
  // The promise ended when the trade was no longer open. A later delivery does not have to honour it.
  if (!OPEN.includes(before.state)) row.promised = 0n
  const { trace, engine } = memory
  run.atCommit.push(() => {
    const isKnown = EDGES[before.state].some(
      (next) => next === trade.state || EDGES[next].includes(trade.state),
    )
    must(isKnown, 'I10', () => `trade: ${before.state} to ${trade.state}`)
    trace.add(`${engine.now()} trade ${trade.tradeId} ${before.state} ${trade.state}`)
    if (DELIVERED.includes(trade.state) && cancellingOf(before) === 'store') {
      memory.faults.note('acceptance faster than a store’s cancel')
    }
    if ('reason' in trade && OPEN.includes(before.state)) checkEnd(memory, { trade, before })
    if (!OPEN.includes(trade.state)) memory.bots.get(row.facts.botId)?.open.delete(row)
  })
  return true
}

function fundsOf(memory: TillMemory, row: TradeRow): Funds {
  const { deposit } = row
  const { store } = deposit
  const until = deposit.trades.flatMap((other) =>
    other !== row && other.held > 0n && other.settlesAt !== null ? [other.settlesAt.getTime()] : [],
  )
  return {
    deposit: { ...deposit, othersHeldUntil: until.length > 0 ? new Date(Math.max(...until)) : null },
    total: row.total,
    gross: row.gross,
    held: row.held,
    reversed: row.reversed,
    atRisk: row.atRisk,
    atRiskUntil: row.atRiskUntil,
    reversals: row.reversals,
    settlesAt: row.settlesAt,
    terms: row.terms ?? {
      creditMode: memory.onRelease.has(row.trade.partnerSteamId) ? 'on_release' : store.mode,
      liability: store.liability,
      riskLimitUsdCents: store.riskLimit,
    },
    limitUsdCents: store.riskLimit,
    riskRoom: roomFor(roomBeside(memory, row)) - row.atRisk,
    items: row.items,
  }
}
