/**
 * The only way to change a trade's state. The pure rules judge a fact, and one transaction writes everything that
 * follows from it.
 */
import { isFinal } from '../../contract/statuses.ts'
import type { Log } from '../kit/log.ts'
import { hasConsequences } from './consequences.ts'
import type { Circumstances, Fact } from './decide.ts'
import type { Effect } from './effects.ts'
import type { Trade, TradeEvent } from './trade.ts'
import {
  aboutTrade,
  type LoadedTrade,
  type LockedDeposit,
  NumberTaken,
  type ShellDeps,
  type TradeFacts,
  type TradeTx,
  type Writer,
} from './trade-store.ts'

/** `trade`: the trade after the fact. `events`: those that the fact caused; empty if it brought nothing new. */
export type Recorded = { trade: Trade; events: TradeEvent[]; lines: Line[] }

/** A log line, to be written after the commit. */
type Line = { about: Pick<TradeFacts, 'id' | 'depositId' | 'botId'>; line: Extract<Effect, { kind: 'log' }> }

/**
 * The trade of a fact, and the lease of its reporter. Without a lease, only three changes are allowed: an unsent intent
 * changes, a cancel begins (the holder of the lease carries it out), or a sweep or an operator records a fact in
 * `NEEDS_NO_LEASE`.
 */
export type Source = { tradeId: bigint; writer?: Writer }

/**
 * Resolves to undefined, with nothing changed, if the trade does not exist, if a needed lease is missing or has ended, or
 * if another trade has the offer or the Steam trade.
 */
export async function record(deps: ShellDeps, source: Source, fact: Fact): Promise<Recorded | undefined> {
  const loaded = await deps.trades.load(source.tradeId)
  if (loaded === undefined) return undefined
  const now = deps.clock.now()
  const { dueAt } = loaded.facts
  // Most reads bring no news. Unless the alarm is due, they take no lock and write nothing.
  const isNews =
    deps.core.decide(loaded.trade, fact, circumstances(deps, loaded, { now, isWanted: true })).length > 0
  if (!isNews && (dueAt === null || dueAt > now)) return { trade: loaded.trade, events: [], lines: [] }
  try {
    const recorded = await deps.trades.transaction(async (tx) => {
      const deposit = await tx.lockDeposit(loaded.facts.depositId)
      return deposit && recordLocked(deps, tx, { deposit, source, fact, now })
    })
    writeLines(deps.log, recorded)
    return recorded
  } catch (error) {
    if (!(error instanceof NumberTaken)) throw error
    await reportTaken(deps, { loaded, source, fact, now }, error)
    return undefined
  }
}

type Taken = { loaded: LoadedTrade; source: Source; fact: Fact; now: Date }

/** Reports that an operator gave the offer or the Steam trade to another trade. No Steam trade is credited twice. */
async function reportTaken(
  { trades, core, log }: ShellDeps,
  { loaded, source, fact, now }: Taken,
  { numbers, ownerId }: NumberTaken,
): Promise<void> {
  const { trade, facts } = loaded
  if (fact.kind === 'offer_read') {
    // The watch reads an open offer every few seconds, so only a due read is reported.
    if (facts.dueAt !== null && facts.dueAt > now) return
    if (source.writer !== undefined) await trades.postpone(loaded, source.writer, core.retryAt(trade, now))
  }
  const { offerId: offer, steamTradeId: steamTrade } = numbers
  const about = { ...aboutTrade(facts), offer, steamTrade, otherTrade: String(ownerId) }
  log.error(about, 'trade cannot be credited: its offer or Steam trade was given to another trade by hand')
}

/** The rules, and the setting that they depend on. */
export type RuleDeps = Pick<ShellDeps, 'core' | 'protectionDays'>

type Report = { deposit: LockedDeposit; source: Source; fact: Fact; now: Date }

/**
 * Does the same as `record` inside a transaction that has locked the deposit. The caller writes the log lines after its
 * commit.
 */
export async function recordLocked(
  deps: RuleDeps,
  tx: TradeTx,
  report: Report,
): Promise<Recorded | undefined> {
  const { deposit, source, fact, now } = report
  const locked = await tx.lockTrade(source.tradeId)
  if (locked === undefined) return undefined
  const context = circumstances(deps, locked, { now, isWanted: !isFinal(deposit.status) })
  const events = deps.core.decide(locked.trade, fact, context)
  const trade = events.reduce(deps.core.evolve, locked.trade)
  if (!(await write(deps, tx, { report, locked, trade, events }))) return undefined
  const isDelivery = events.some(({ kind }) => kind === 'delivered')
  const lines = isDelivery ? await cancelOthers(deps, tx, { report, locked }) : []
  lines.push(...(await applyConsequences(deps, tx, { locked, events })))
  if (events.length > 0) await tx.announce(locked)
  return { trade, events, lines }
}

export function writeLines(log: Log, recorded: Recorded | undefined): void {
  for (const { about, line } of recorded?.lines ?? []) {
    log[line.level]({ ...aboutTrade(about), botId: String(about.botId), ...line.fields }, line.message)
  }
}

type Writing = { report: Report; locked: LoadedTrade; trade: Trade; events: TradeEvent[] }

/** Facts that are true whatever the bot does, so the deposit's lock is enough. */
const NEEDS_NO_LEASE: ReadonlySet<Fact['kind']> = new Set([
  'given_up',
  'operator_credits',
  'operator_releases',
  'operator_releases_early',
  'operator_reverses',
])

/** Resolves to false if the reporter may not change this trade. */
async function write(deps: RuleDeps, tx: TradeTx, writing: Writing): Promise<boolean> {
  const { report, locked, trade, events } = writing
  const { source, fact, now } = report
  if (source.writer === undefined && (fact.kind === 'store_cancels' || fact.kind === 'other_delivered')) {
    const [event] = events
    // Make the trade due immediately, so the next read of the offer carries out the cancel if the job is lost.
    if (event?.kind === 'cancel_begun') await tx.beginCancel(locked, event.because, now)
    return true
  }
  if (source.writer === undefined && !NEEDS_NO_LEASE.has(fact.kind) && locked.trade.state !== 'intended')
    return false
  const changed = events.length > 0 ? trade : undefined
  // A retired or removed bot reads nothing, so set no alarm.
  const dueAt = locked.facts.isBotGone ? null : deps.core.alarm(trade, now)
  return tx.write(locked, { trade: changed, dueAt, writer: source.writer })
}

/** Begins to cancel the other offers of a deposit when one trade delivers. Runs before the balances are locked. */
async function cancelOthers(
  deps: RuleDeps,
  tx: TradeTx,
  { report, locked }: { report: Report; locked: LoadedTrade },
): Promise<Line[]> {
  const { deposit, now } = report
  const lines: Line[] = []
  for (const tradeId of await tx.otherOffersOf(locked)) {
    const other = { deposit, source: { tradeId }, fact: { kind: 'other_delivered' }, now } as const
    const recorded = await recordLocked(deps, tx, other)
    if (recorded === undefined || recorded.events.length === 0) continue
    lines.push(...recorded.lines)
    await tx.wake(tradeId, now)
  }
  return lines
}

/** Applies the effects of the events on everything but the trade's own state. */
async function applyConsequences(
  deps: RuleDeps,
  tx: TradeTx,
  { locked, events }: { locked: LoadedTrade; events: readonly TradeEvent[] },
): Promise<Line[]> {
  if (!events.some(hasConsequences)) return []
  const takesRoom = events.some(
    (event) => event.kind === 'released_early' || (event.kind === 'delivered' && event.settlesAt !== null),
  )
  let funds = await tx.fundsOf(locked, { takesRoom })
  let { trade } = locked
  const effects: Effect[] = []
  for (const event of events) {
    const caused = deps.core.consequences(trade, funds, event)
    funds = caused.funds
    effects.push(...caused.effects)
    trade = deps.core.evolve(trade, event)
  }
  await tx.apply(locked, effects)
  return effects.flatMap((line) => (line.kind === 'log' ? [{ about: locked.facts, line }] : []))
}

function circumstances(
  deps: RuleDeps,
  { facts }: LoadedTrade,
  context: Pick<Circumstances, 'now' | 'isWanted'>,
): Circumstances {
  return { ...context, protectionDays: deps.protectionDays(facts.game), attempt: facts.attempt }
}
