/** A till in memory: every commit is one call, judged by the pure rules and checked at once. */

import { isFinal } from '../../contract/statuses.ts'
import { OPEN_TRADE_STATES } from '../../gateway/db/trade-tables.ts'
import type { DepositCause } from '../../gateway/deposits/deposit.ts'
import { DEPOSIT_EDGES, DEPOSIT_LIFE_MS } from '../../gateway/deposits/deposit.ts'
import { least } from '../../gateway/ledger/entry.ts'
import type { Fact } from '../../gateway/trades/decide.ts'
import { EDGES, isDelivered, type Trade, type TradeEvent } from '../../gateway/trades/trade.ts'
import type { Trace } from '../trace.ts'
import { hold } from '../violation.ts'
import { type Book, createBook } from './book.ts'
import type { Core } from './core.ts'
import type { Bot, DepositRow, TradeRow } from './rows.ts'
import type { Sim, Steam } from './steam.ts'
import { checkCredit, checkEnd, checkRelease, checkReversal, checkTrade } from './truth.ts'

export type Writer = { epoch: bigint }
export type Source = { row: TradeRow; writer?: Writer }
export type Recorded = { trade: Trade; events: TradeEvent[] }

export type TillDeps = Sim & { core: Core; steam: Steam; trace: Trace; wake(row: TradeRow, when: Date): void }
export type Till = ReturnType<typeof createTill>

const PROTECTION_DAYS = { cs: 8, dota: 0 } as const
const cancelOf = (trade: Trade) => (trade.state === 'active' ? trade.cancelling : null)
const isOpen = ({ trade }: TradeRow): boolean => OPEN_TRADE_STATES.some((state) => state === trade.state)

export type Wish = { assets: TradeRow['assets']; prices: TradeRow['prices']; game: TradeRow['game'] }
export type Around = { bot: Bot; now: Date; code: string }

type Memory = TillDeps & {
  deposits: DepositRow[]
  trades: TradeRow[]
  byCode: Map<string, TradeRow>
  /** The trade that has an asset to itself. */
  taken: Map<string, TradeRow>
  book: Book
}

export function createTill(deps: TillDeps) {
  const memory: Memory = {
    ...deps,
    deposits: [],
    trades: [],
    byCode: new Map(),
    taken: new Map(),
    book: createBook(),
  }
  const { deposits, trades, byCode, taken, book, engine } = memory
  return {
    deposits,
    trades,
    byCode,
    book,
    record: (source: Source, fact: Fact, now: Date) => record(memory, { source, fact, now }),
    /** Puts off the next look at a trade that is still as it was seen. */
    later({ row, writer }: Source, seen: Trade, when: Date | null): void {
      const isSame = row.trade.state === seen.state && cancelOf(row.trade) === cancelOf(seen)
      if (isSame && writer !== undefined && !isStale(memory, row, writer)) row.dueAt = when
    },
    open(deposit: Pick<DepositRow, 'store' | 'shopper'>, now: Date): DepositRow {
      const row: DepositRow = {
        ...deposit,
        number: deposits.length + 1,
        status: 'created',
        createdAt: engine.now(),
        expiresAt: new Date(now.getTime() + DEPOSIT_LIFE_MS),
        credited: 0n,
        held: 0n,
        reversed: 0n,
        trades: [],
        events: [],
      }
      deposits.push(row)
      return row
    },
    /** The intent: joins the open trade of the same items; undefined when refused. */
    intend(deposit: DepositRow, wish: Wish, around: Around): TradeRow | undefined {
      const live = deposit.trades.findLast((row) => isOpen(row) || isDelivered(row.trade))
      if (live !== undefined) return live.assets === wish.assets ? live : undefined
      if (deposit.status !== 'created' || deposit.expiresAt <= around.now) return undefined
      if (wish.assets.some(({ assetId }) => taken.has(assetId))) return undefined
      const row = intentOf(deposit, wish, { ...around, tradeId: BigInt(trades.length + 1) })
      for (const { assetId } of wish.assets) taken.set(assetId, row)
      deposit.trades.push(row)
      row.bot.open.add(row)
      trades.push(row)
      byCode.set(around.code, row)
      return row
    },
    /** The store no longer wants it; false where that is refused. */
    cancel: (deposit: DepositRow, now: Date): boolean => cancel(memory, deposit, now),
    /** Ends a deposit whose time is over. */
    expire(deposit: DepositRow, now: Date): void {
      const isStopped = deposit.trades.some((row) => isOpen(row) || isDelivered(row.trade))
      move(memory, deposit, { kind: 'time_passed', now, isStopped })
    },
  }
}

function cancel(memory: Memory, deposit: DepositRow, now: Date): boolean {
  const live = deposit.trades.findLast((row) => isOpen(row) || isDelivered(row.trade))
  if (deposit.status === 'created' && live === undefined) {
    move(memory, deposit, { kind: 'cancelled_by_store' })
    return true
  }
  if (deposit.status !== 'pending' || live === undefined) return false
  const recorded = record(memory, { source: { row: live }, fact: { kind: 'store_cancels' }, now })
  if (recorded?.trade.state !== 'active' || recorded.trade.acceptedAt !== null) return false
  memory.wake(live, now)
  return true
}

function tell(deposit: DepositRow, type: string): void {
  hold(!deposit.events.includes(type), 'I9', () => `deposit ${deposit.number} tells ${type} twice`)
  deposit.events.push(type)
}

function move(
  memory: Memory,
  deposit: DepositRow,
  cause: Exclude<DepositCause, { kind: 'delivered' }>,
): void {
  const { core } = memory
  const to = core.decideDeposit(deposit, cause)
  if (to === null) return
  hold(DEPOSIT_EDGES[deposit.status].includes(to), 'I10', () => `deposit: ${deposit.status} to ${to}`)
  deposit.status = to
  tell(deposit, to)
}

function free(memory: Memory, row: TradeRow): void {
  const { taken } = memory
  row.live = false
  row.bot.open.delete(row)
  for (const { assetId } of row.assets) if (taken.get(assetId) === row) taken.delete(assetId)
}

function deliver(memory: Memory, row: TradeRow, event: Extract<TradeEvent, { kind: 'delivered' }>): void {
  const { core, steam, trades } = memory
  const { deposit } = row
  const isProtected = event.settlesAt !== null
  const atRisk = [...deposit.store.atRisk].reduce((sum, at) => sum + at.total - at.held - at.reversed, 0n)
  const riskRoom = deposit.store.riskLimit - atRisk
  row.held = core.heldPart({ total: row.total, isProtected, mode: deposit.store.mode, riskRoom })
  if (isProtected) deposit.store.atRisk.add(row)
  row.deliveredBy = event.exchange.tradeId
  checkCredit(steam, trades, row)
  free(memory, row)
  const movements = core.deliveryMovements({ total: row.total, gross: row.gross, held: row.held })
  post(memory, row, { movements, part: 0, mayOwe: false })
  if (event.settlesAt !== null) memory.wake(row, event.settlesAt)
  const to = core.decideDeposit(deposit, { kind: 'delivered' })
  deposit.credited += row.total
  deposit.held += row.held
  if (to !== null) {
    hold(DEPOSIT_EDGES[deposit.status].includes(to), 'I10', () => `deposit: ${deposit.status} to ${to}`)
    deposit.status = to
    tell(deposit, to)
  } else {
    hold(deposit.status === 'succeeded', 'I10', () => `credited while ${deposit.status}`)
    tell(deposit, `amountIncreased ${row.trade.tradeId}`)
  }
  endOthers(memory, row, event.at)
}

/** The deposit has its items: offers of it that stand are cancelled by whoever holds their bots. */
function endOthers(memory: Memory, row: TradeRow, now: Date): void {
  for (const other of row.deposit.trades) {
    if (other === row || other.trade.state !== 'active') continue
    const recorded = record(memory, { source: { row: other }, fact: { kind: 'others_came' }, now })
    if (recorded !== undefined && recorded.events.length > 0) memory.wake(other, now)
  }
}

type Posting = { movements: ReturnType<Core['releaseMovements']>; part: number; mayOwe: boolean }

function post({ book }: Memory, row: TradeRow, what: Posting): void {
  book.post({ store: row.deposit.store.number, tradeId: row.trade.tradeId, ...what })
}

function release(memory: Memory, row: TradeRow): void {
  const { core, steam, engine } = memory
  checkRelease(steam, row, engine.now())
  const { held, deposit } = row
  row.held = 0n
  deposit.store.atRisk.delete(row)
  if (held === 0n) return
  post(memory, row, { movements: core.releaseMovements(held), part: 0, mayOwe: false })
  deposit.held -= held
  tell(deposit, `fundsAvailable ${row.trade.tradeId}`)
}

function reverse(memory: Memory, row: TradeRow, assetIds: readonly string[]): void {
  const { core, steam } = memory
  const { deposit } = row
  let [total, gross] = [0n, 0n]
  for (const assetId of assetIds) {
    checkReversal(steam, row, assetId)
    total += row.prices.get(assetId)?.price ?? 0n
    gross += row.prices.get(assetId)?.gross ?? 0n
  }
  const { liability } = deposit.store
  const movements = core.reversalMovements({ total, gross, held: row.held, liability })
  post(memory, row, { movements, part: row.reversals, mayOwe: liability === 'store' })
  const fromHeld = least(row.held, total)
  row.held -= fromHeld
  row.reversed += total
  deposit.held -= fromHeld
  deposit.reversed += total
  if (row.trade.state === 'reversed') deposit.store.atRisk.delete(row)
  tell(deposit, `reversed ${row.trade.tradeId} ${row.reversals}`)
  row.reversals += 1
}

function follow(memory: Memory, row: TradeRow, event: TradeEvent): void {
  const { steam } = memory
  switch (event.kind) {
    case 'refused':
    case 'abandoned':
      free(memory, row)
      return
    case 'activated':
      memory.wake(row, event.deadline)
      move(memory, row.deposit, { kind: 'offer_stands' })
      return
    case 'ended':
      checkEnd(steam, row, event.end)
      free(memory, row)
      move(memory, row.deposit, { kind: 'trade_ended', status: event.end.status })
      return
    case 'delivered':
      deliver(memory, row, event)
      return
    case 'released':
      release(memory, row)
      return
    case 'reversed':
      reverse(memory, row, event.assetIds)
      return
    case 'send_begun':
    case 'send_withdrawn':
    case 'send_unanswered':
    case 'offer_missed':
    case 'cancel_begun':
    case 'accepted':
    case 'doubted':
    case 'closed':
      return
    default:
      event satisfies never
  }
}

type Said = { source: Source; fact: Fact; now: Date }

/** One commit: undefined when the writer's lease is over. */
function record(memory: Memory, { source, fact, now }: Said): Recorded | undefined {
  const { row, writer } = source
  const { core } = memory
  const around = { now, protectionDays: PROTECTION_DAYS[row.game], wanted: !isFinal(row.deposit.status) }
  const events = core.decide(row.trade, fact, around)
  const isDue = row.dueAt !== null && row.dueAt <= now
  const isCancel = writer === undefined && (fact.kind === 'store_cancels' || fact.kind === 'others_came')
  if (events.length === 0 && (isCancel || !isDue)) return { trade: row.trade, events }
  const isBarred = writer === undefined ? row.trade.state !== 'intended' : isStale(memory, row, writer)
  if (isBarred && !isCancel) return undefined
  for (const event of events) apply(memory, row, event)
  row.dueAt = isCancel ? now : core.alarm(row.trade, now)
  return { trade: row.trade, events }
}

function isStale(memory: Memory, row: TradeRow, writer: Writer): boolean {
  const { faults } = memory
  if (row.bot.epoch === writer.epoch) return false
  faults.saw('write under an old lease')
  return true
}

function apply(memory: Memory, row: TradeRow, event: TradeEvent): void {
  const { core, trace, engine, faults } = memory
  const before = row.trade.state
  if (event.kind === 'delivered' && cancelOf(row.trade) === 'store') {
    faults.saw('accept faster than a store’s cancel')
  }
  row.trade = core.evolve(row.trade, event)
  const after = row.trade.state
  if (before !== after) {
    hold(EDGES[before].includes(after), 'I10', () => `trade: ${before} to ${after}`)
    trace.add(`${engine.now()} trade ${row.trade.tradeId} ${before} ${event.kind} ${after}`)
  }
  follow(memory, row, event)
  checkTrade(row)
}

function intentOf(deposit: DepositRow, wish: Wish, at: Around & { tradeId: bigint }): TradeRow {
  const prices = [...wish.prices.values()]
  return {
    trade: {
      state: 'intended',
      tradeId: at.tradeId,
      partnerSteamId: deposit.shopper,
      secretCode: at.code,
      items: wish.assets,
      createdAt: at.now,
    },
    deposit,
    bot: at.bot,
    game: wish.game,
    assets: wish.assets,
    prices: wish.prices,
    total: prices.reduce((sum, { price }) => sum + price, 0n),
    gross: prices.reduce((sum, { gross }) => sum + gross, 0n),
    createdAt: at.now.getTime(),
    dueAt: at.now,
    live: true,
    held: 0n,
    reversed: 0n,
    reversals: 0,
    deliveredBy: null,
  }
}
