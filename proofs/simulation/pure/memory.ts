/** The rows of a simulated till. */
import type { DepositStatus } from '../../../contract/statuses.ts'
import type { Bar, BarScope } from '../../../gateway/bots/bar.ts'
import type { HistoryPass } from '../../../gateway/bots/history-store.ts'
import type { Departure } from '../../../gateway/departures/departure.ts'
import { DEFAULT_DEPOSIT_LIFE_MS } from '../../../gateway/deposits/deposit.ts'
import type { DriftState } from '../../../gateway/drift/watch.ts'
import type { ItemWorth, Terms } from '../../../gateway/trades/effects.ts'
import { waitsUntil } from '../../../gateway/trades/giving-up.ts'
import type { Trade } from '../../../gateway/trades/trade.ts'
import type { TradeFacts } from '../../../gateway/trades/trade-store.ts'
import type { Sim } from '../process.ts'
import type { Steam } from '../steam.ts'
import type { Trace } from '../trace.ts'
import { createMemoryLedger, type MemoryLedger } from './memory-ledger.ts'

export type Store = {
  number: number
  mode: 'on_accept' | 'on_release'
  liability: 'operator' | 'store'
  /** The limit for credit at risk, in cents like all amounts here. */
  riskLimit: bigint
  /** The part of the limit that is taken. */
  atRisk: bigint
  /** The sum of all reversals. */
  reversed: bigint
}

export type Bot = {
  botId: bigint
  leaseEpoch: bigint
  /** `dead`: Steam refuses its token forever. `retired`: the operator has also taken it out of service. */
  state: 'active' | 'dead' | 'retired'
  /** Jobs that wait for a holder of the lease. */
  backlog: Set<TradeRow>
  /** Trades that have neither ended nor been delivered. */
  open: Set<TradeRow>
  bars: Map<BarScope, Bar>
  /** By partner's Steam id: when another bot last served a partner that this bot could not serve, in milliseconds. */
  doubts: Map<string, number>
  history: HistoryPass & { turnedAt: Date | null }
  /** When Steam first refused its token; null while Steam accepts it. */
  tokenRefusedAt: Date | null
  /** No login before this time, in milliseconds. */
  loginAfter: number
}

export type DepositRow = {
  id: bigint
  store: Store
  storeId: bigint
  shopper: string
  /** True if the store has locked the deposit to its shopper. */
  isLocked: boolean
  status: DepositStatus
  expiresAt: Date
  cancelledAt: Date | null
  credited: bigint | null
  held: bigint
  heldUntil: Date | null
  reversed: bigint
  charged: bigint
  trades: TradeRow[]
  events: string[]
}

export type TradeRow = {
  trade: Trade
  facts: TradeFacts
  deposit: DepositRow
  createdAt: Date
  items: ReadonlyMap<string, ItemWorth>
  total: bigint
  gross: bigint
  /** True while no other trade may have its assets. */
  holdsAssets: boolean
  /** The immediate credit that the shopper was promised. */
  promised: bigint
  held: bigint
  reversed: bigint
  atRisk: bigint
  atRiskUntil: Date | null
  protectionFoundAt: Date | null
  reversals: number
  settlesAt: Date | null
  terms: Terms | null
  /** The store's settings at delivery, for the checks only. */
  settings: Store | null
  /** The Steam trade that delivered its items. */
  deliveredBy: string | null
}

/**
 * `in`: the item came to the bot. `back`: it went back to its shopper. `out`: it left otherwise. `as`: its asset id at
 * the bot. `departure`: the bot and the Steam trade that moved the item; null for `back` and for the delivery.
 */
export type CustodyEntry = {
  moved: 'in' | 'back' | 'out'
  botId: bigint
  as: string | null
  departure: string | null
  at: Date
}

/** `assetId`: the item's id at its sender. `as`: its id at the bot. */
export type SentBack = { botId: bigint; appId: number; assetId: string; as: string }

export type Drift = DriftState & { dueAt: Date }

/** `isDown`: Steam does not answer. `isKnown`: the till has noticed. */
export type Outage = { isDown: boolean; isKnown: boolean }

export type TillMemory = Sim & {
  steam: Steam
  trace: Trace
  outage: Outage
  deposits: Map<bigint, DepositRow>
  trades: Map<bigint, TradeRow>
  bots: Map<bigint, Bot>
  byCode: Map<string, TradeRow>
  /** The live trade of each asset. */
  taken: Map<string, TradeRow>
  /** Trades whose credit may take room in their store's limit. */
  atRisk: Set<TradeRow>
  /** The room that reversals have taken in the limits, and when it is free again. */
  lost: Map<TradeRow, { amount: bigint; until: Date }>
  /** Trades that may be due. */
  due: Set<TradeRow>
  /** Deposits that may await payment. */
  unpaid: Set<DepositRow>
  /**
   * The sweep has nothing to do before this time: the earliest at which a trade in `due` or a deposit in `unpaid` is
   * due, in milliseconds since 1970.
   */
  dueFromMs: number
  /** Shoppers whose credit is held until release. */
  onRelease: Set<string>
  /** How many reversals of each trade the operator has forgiven. */
  forgiven: Map<TradeRow, number>
  /** The custody entries of each item of a trade, in order. */
  custody: Map<string, CustodyEntry[]>
  /** Departures by bot and Steam trade. */
  departures: Map<bigint, Map<string, Departure>>
  /** By trade: when the till will next look at an open trade, if a fast clock planned that look. */
  plannedAhead: Map<bigint, number>
  /** Items of departures that were already booked in custody. */
  booked: Set<string>
  /** Items that accounts of the operator sent to a bot. */
  sentBack: SentBack[]
  /** Drift by bot. */
  drift: Map<bigint, Drift>
  ledger: MemoryLedger
  wake(row: TradeRow, at: Date): void
  /** Called with the next attempt when a shopper's request has moved to another bot. */
  onMove(next: TradeRow): void
  readHistory(botId: bigint): void
}

export function createMemory(
  parts: Sim & Pick<TillMemory, 'steam' | 'trace' | 'outage' | 'wake' | 'onMove' | 'readHistory'>,
): TillMemory {
  return {
    ...parts,
    deposits: new Map(),
    trades: new Map(),
    bots: new Map(),
    byCode: new Map(),
    taken: new Map(),
    atRisk: new Set(),
    lost: new Map(),
    due: new Set(),
    unpaid: new Set(),
    dueFromMs: 0,
    onRelease: new Set(),
    forgiven: new Map(),
    custody: new Map(),
    departures: new Map(),
    plannedAhead: new Map(),
    booked: new Set(),
    sentBack: [],
    drift: new Map(),
    ledger: createMemoryLedger(),
  }
}

export const freshBot = (botId: bigint): Bot => ({
  botId,
  leaseEpoch: 0n,
  state: 'active',
  backlog: new Set(),
  open: new Set(),
  bars: new Map(),
  doubts: new Map(),
  tokenRefusedAt: null,
  loginAfter: 0,
  history: { begunAt: null, after: null, knownUntil: null, turnedAt: null },
})

export function openDeposit(
  memory: TillMemory,
  { store, shopper, isLocked }: Pick<DepositRow, 'store' | 'shopper' | 'isLocked'>,
): DepositRow {
  const { deposits, engine } = memory
  const row: DepositRow = {
    id: BigInt(deposits.size + 1),
    store,
    storeId: BigInt(store.number),
    shopper,
    isLocked,
    status: 'created',
    expiresAt: new Date(engine.now() + DEFAULT_DEPOSIT_LIFE_MS),
    cancelledAt: null,
    credited: null,
    held: 0n,
    heldUntil: null,
    reversed: 0n,
    charged: 0n,
    trades: [],
    events: [],
  }
  deposits.set(row.id, row)
  memory.unpaid.add(row)
  memory.dueFromMs = Math.min(memory.dueFromMs, row.expiresAt.getTime())
  return row
}

export function setDue(memory: TillMemory, row: TradeRow, dueAt: Date | null): void {
  row.facts = { ...row.facts, dueAt }
  if (dueAt === null) return
  memory.due.add(row)
  memory.dueFromMs = Math.min(memory.dueFromMs, dueAt.getTime())
}

const silences = new WeakMap<Trade, number>()

/** When the till gives up a trade without an answer from Steam. Cached, because every sweep asks. */
export function silentUntilMs(trade: Trade): number {
  const known = silences.get(trade)
  if (known !== undefined) return known
  const until = waitsUntil(trade)?.getTime() ?? Number.POSITIVE_INFINITY
  silences.set(trade, until)
  return until
}

/** Whether the bot has ever held an item. Only then does the till read its history. */
export const hasEverHadItem = ({ custody }: TillMemory, botId: bigint): boolean =>
  [...custody.values()].some((entries) => entries.some((entry) => entry.botId === botId))

/**
 * Makes the process wait for the database, for a random time in this range of milliseconds. If the process crashes
 * meanwhile, its work ends.
 */
export type Pause = (low: number, high: number) => Promise<void>
