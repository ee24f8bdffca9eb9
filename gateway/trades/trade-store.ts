/**
 * The storage port for trades. It has two implementations: PostgreSQL, and the memory of a simulation. The pure rules,
 * and the code around them (the shell), decide; the storage only reads and writes.
 */
import type { Game } from '../../contract/games.ts'
import type { DepositStatus } from '../../contract/statuses.ts'
import type { DueHistories, HistoryPass } from '../bots/history-store.ts'
import type { Destinations } from '../departures/departure.ts'
import type { DepartureStore } from '../departures/watch.ts'
import type { DepositCause } from '../deposits/deposit.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { Core } from './core.ts'
import type { Effect, Funds } from './effects.ts'
import type { Attempt } from './refusal.ts'
import type { CancelReason, GivenUp, Trade, TradeState } from './trade.ts'

/** The facts of a trade besides its state. */
export type TradeFacts = {
  id: bigint
  depositId: bigint
  botId: bigint
  game: Game
  dueAt: Date | null
  attempt: Attempt
  /** The bot was retired or removed, so no process can call Steam for it. */
  isBotGone: boolean
}

export type LoadedTrade = { trade: Trade; facts: TradeFacts }

/** A trade without its items. */
export type TradeSummary = {
  id: bigint
  depositId: bigint
  state: TradeState
  createdAt: Date
  dueAt: Date | null
  offerId: string | null
  steamTradeId: string | null
  acceptedAt: Date | null
  isDelivered: boolean
}

/** The lease under which a trade is written. A write under an outdated lease changes nothing. */
export type Writer = { leaseEpoch: bigint }

export type LockedDeposit = {
  id: bigint
  storeId: bigint
  status: DepositStatus
  expiresAt: Date
  cancelledAt: Date | null
}

/** A trade for which a step is due. */
export type WaitingTrade = Pick<TradeFacts, 'id' | 'depositId' | 'botId'>

export type TradeToEnd = WaitingTrade & { because: Exclude<GivenUp, 'ended_by_operator'> }

/** The work for which to wake a bot. */
export type WakeReason = { kind: 'trade'; tradeId: bigint } | { kind: 'history' }

/** Why a deposit without a live trade ends. */
export type DepositClosing =
  | { kind: 'cancelled_by_store'; at: Date }
  | Extract<DepositCause, { kind: 'time_passed' }>

export type TradeStore = {
  load(tradeId: bigint): Promise<LoadedTrade | undefined>
  /** The secret of the shopper's trade link; null once it is erased. */
  partnerTokenOf(tradeId: bigint): Promise<string | null>
  /** Trades of the bot whose offer is, or may be, open. */
  openTradesOf(botId: bigint): Promise<TradeSummary[]>
  /** The bot's delivered trades that can still be reversed, by their Steam trade ids. */
  protectedTradesOf(botId: bigint, steamTradeIds: readonly string[]): Promise<TradeSummary[]>
  /** The earliest start of a send among deliveries that can still be reversed; undefined if there is none. */
  oldestProtectedOf(botId: bigint): Promise<Date | undefined>
  /** The bot's trades by their secret codes, in any state. */
  tradesByCode(botId: bigint, codes: readonly string[]): Promise<Map<string, TradeSummary>>
  /** The trades to which these offers of Steam belong, by the offers' ids. */
  tradesOfOffers(offerIds: readonly string[]): Promise<Map<string, bigint>>
  /**
   * Partners of the bot's trades that were made since `since`, or were countered and are still reviewed, each with their
   * newest deposit. Leaves out the till's bots.
   */
  partnersSince(botId: bigint, since: Date): Promise<Map<string, bigint>>
  /**
   * Sets the next alarm of an unchanged trade; null if none is needed. Does not delay a cancel that the store has begun
   * meanwhile, because `when` was computed without it.
   */
  postpone(seen: LoadedTrade, writer: Writer, when: Date | null): Promise<void>
  /** Reads the progress of the pass through the bot's history. */
  historyOf(botId: bigint): Promise<HistoryPass>
  saveHistoryPass(botId: bigint, by: { writer: Writer; now: Date }, pass: HistoryPass): Promise<void>
  /**
   * Takes due trades of active and paused bots, those due longest first, and makes them due again at `nextAt`.
   * Concurrent sweeps take different trades.
   */
  takeDueTrades(how: { now: Date; nextAt: Date; limit: number }): Promise<WaitingTrade[]>
  /** Intents that were created at `before` or earlier. */
  staleIntents(before: Date, limit: number): Promise<WaitingTrade[]>
  /**
   * The trades to end, at most `limit` of each kind: open trades of retired bots, their other trades that have an
   * alarm, and trades about which Steam did not answer in time.
   */
  tradesToEnd(now: Date, limit: number): Promise<TradeToEnd[]>
  /** Takes bots whose history is due to be read. Leaves out those that never had an item. */
  takeDueHistories(how: DueHistories): Promise<bigint[]>
  /** Frees the room that lost credit took in stores' limits, if the loss no longer counts at `now`. */
  freeExpiredRoom(now: Date, limit: number): Promise<void>
  /** Deposits in the status `created` whose time is over, the oldest first. */
  expiredDeposits(now: Date, limit: number): Promise<bigint[]>
  /** True if a bot that has not tried this request would serve it sooner. */
  isServedSoonerElsewhere(loaded: LoadedTrade): Promise<boolean>
  /** Sends a job to the process that holds the bot's lease. */
  wakeBot(botId: bigint, job: WakeReason): Promise<void>
  /** True while offers fail for all bots, so the countdown of open offers is paused. */
  isSteamDown(): Promise<boolean>
  /**
   * Commits everything that `work` writes, or nothing. `work` may run more than once. Rejects with `NumberTaken` if it
   * gives a trade the number of an offer or of a Steam trade that another trade has.
   */
  transaction<T>(work: (tx: TradeTx) => Promise<T>): Promise<T>
}

/** The numbers of a trade's offer and of its Steam trade. */
export type SteamNumbers = { tradeId: bigint; offerId: string | null; steamTradeId: string | null }

/** Another trade has the offer, or the Steam trade, that Steam names for this trade. Nothing was written. */
export class NumberTaken extends Error {
  readonly numbers: SteamNumbers
  readonly ownerId: bigint | undefined

  constructor(numbers: SteamNumbers, ownerId?: bigint) {
    super(`another trade has the offer or the Steam trade of trade ${numbers.tradeId}`)
    this.numbers = numbers
    this.ownerId = ownerId
  }
}

export type TradeTx = {
  /** Every change of a deposit or of its trades begins with this lock. */
  lockDeposit(id: bigint): Promise<LockedDeposit | undefined>
  /** The trade's deposit must be locked already. */
  lockTrade(id: bigint): Promise<LoadedTrade | undefined>
  /** The newest trade of a locked deposit that is open or was delivered. */
  liveTradeOf(depositId: bigint): Promise<bigint | undefined>
  /** Trades of the same deposit whose offers are open, at any bot. */
  otherOffersOf(locked: LoadedTrade): Promise<bigint[]>
  /** True if a trade of the deposit ended because the store cancelled it. */
  wasCancelledByStore(depositId: bigint): Promise<boolean>
  /**
   * `trade`: the new state, or undefined if only the alarm changes. Resolves to false if the writer's lease has ended.
   */
  write(locked: LoadedTrade, change: TradeWrite): Promise<boolean>
  /** Begins a cancel without a lease. The holder of the lease carries it out. */
  beginCancel(locked: LoadedTrade, because: CancelReason, dueAt: Date): Promise<void>
  /**
   * `takesRoom`: also reads the rest of the store's limit. If others have used it up before the update, the transaction
   * starts again.
   */
  fundsOf(locked: LoadedTrade, how: { takesRoom: boolean }): Promise<Funds>
  apply(locked: LoadedTrade, effects: readonly Effect[]): Promise<void>
  /** True while the countdown of deposits is paused, by maintenance or an outage. */
  isTimeStopped(): Promise<boolean>
  /** Ends a locked deposit that has no live trade. Resolves to false if the cause does not end it. */
  closeDeposit(deposit: LockedDeposit, cause: DepositClosing): Promise<boolean>
  /** Wakes the bot of a locked trade at this time. If the job is lost, the sweep wakes it. */
  wake(tradeId: bigint, at: Date): Promise<void>
  /** Wakes everyone who waits for news of the trade or its deposit. */
  announce(locked: LoadedTrade): Promise<void>
}

export type TradeWrite = {
  trade: Trade | undefined
  dueAt: Date | null
  /** Undefined if the change needs no lease; see `Source` in record.ts. */
  writer: Writer | undefined
}

/** Everything that the shell needs. */
export type ShellDeps = {
  trades: TradeStore
  departures: DepartureStore
  /** Where items may go. */
  destinations: Destinations
  core: Core
  clock: Clock
  log: Log
  /** Days during which Steam lets the sender take back a trade of the game. */
  protectionDays(game: Game): number
  /** How often to read the history of a bot that ever had an item. */
  historyEveryMs: number
}

export const aboutTrade = ({ id, depositId }: Pick<TradeFacts, 'id' | 'depositId'>) => ({
  deposit: String(depositId),
  trade: String(id),
})
