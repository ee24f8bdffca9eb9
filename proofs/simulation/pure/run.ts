/** Runs one seed of the pure level: the code around the rules, on in-memory storage, long past the last fault. */
import { pino } from 'pino'
import { z } from 'zod'
import type { BotContext } from '../../../gateway/bots/bot.ts'
import { DEFAULT_PROTECTION_DAYS } from '../../../gateway/config.ts'
import { driftHandler } from '../../../gateway/drift/watch.ts'
import type { Log } from '../../../gateway/kit/log.ts'
import { tradeHandlers } from '../../../gateway/trades/advance.ts'
import { CORE, type Core } from '../../../gateway/trades/core.ts'
import { sweepDeposits } from '../../../gateway/trades/expiry.ts'
import { sweepTrades } from '../../../gateway/trades/jobs.ts'
import { sweepHistories } from '../../../gateway/trades/protection.ts'
import type { ShellDeps } from '../../../gateway/trades/trade-store.ts'
import { type Random, seededRandom } from '../../random.ts'
import { drain } from '../drain.ts'
import { createEngine } from '../engine.ts'
import { createFaults } from '../faults.ts'
import { DESTINATIONS, GIFTS_CHECKED_MS } from '../gifts.ts'
import { drawMisfortunes } from '../misfortunes.ts'
import { type Outcome, reportOf } from '../outcome.ts'
import { endPause, type Gate, JobFailed, newRestartable, revive, waitForTurn } from '../process.ts'
import { createSteam } from '../steam.ts'
import { sessionOf } from '../steam-session.ts'
import { createTrace, type Trace } from '../trace.ts'
import { checkDepartures, planDepartureChecks } from './departures.ts'
import { planDrift } from './drifting.ts'
import { giveUpIfLockedOut } from './lockout.ts'
import { type Bot, createMemory, freshBot, type Store, silentUntilMs, type TradeRow } from './memory.ts'
import { createMemoryDepartures } from './memory-departures.ts'
import { createMemoryDrift } from './memory-drift.ts'
import { createMemoryStore } from './memory-store.ts'
import { type Process, type Scene, startInProcess } from './scene.ts'
import { beginShopping, lookForOffer } from './shoppers.ts'
import { planDeaths, planOperatorActs, planOutage } from './troubles.ts'
import { checkFinalState, checkNotOverdue, checkTradesAtRest } from './truth.ts'

export type PureOptions = { seed: number; deposits?: number; core?: Core; keepTrace?: boolean }

const START = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** For how many days to check trades at rest: long enough for an escrow, and then the protection of its items. */
const CHECKED_DAYS = 33
/** When the faults stop, in milliseconds from the start. All shoppers have arrived by then. */
const FAULTS_MS = 45 * MINUTE_MS
/** When nearly every deposit is final, in ms from the start: it lives an hour, its last trade some minutes more. */
const BUSY_MS = FAULTS_MS + HOUR_MS
/** When the operator credits deliveries that Steam never reported. The till has given up all their trades by then. */
const BY_HAND_MS = FAULTS_MS + 16 * DAY_MS
const LEASE_MS = 25_000
const MOST_STEPS = 200_000 // far more than any seed needs
const TICK_MS = 5_000 // between two renewals of leases, and between two watches of a bot's offers
const MOST_TRIES = 5 // of a failing job
const SWEEP_MS = 10_000 // between two sweeps in the first day

export async function runPure({
  seed,
  deposits = 100,
  core = CORE,
  keepTrace = false,
}: PureOptions): Promise<Outcome> {
  const trace = createTrace({ keepAll: keepTrace })
  let failure: unknown
  const fail = (error: unknown): void => {
    failure ??= error
  }
  const scene = createScene({ core, random: seededRandom(seed), trace, fail })
  const outcome = (): Omit<Outcome, 'violation'> => ({
    seed,
    hash: trace.hash(),
    steps: scene.engine.steps(),
    simulatedMs: scene.engine.now() - START,
    faults: scene.faults.counts(),
    trace: trace.lines(),
  })
  try {
    planEvents(scene, deposits)
    await drain(scene.engine, () => failure)
    checkFinalState(scene)
    checkDepartures(scene, START + GIFTS_CHECKED_MS)
    return outcome()
  } catch (error) {
    return { ...outcome(), violation: reportOf(error) }
  }
}

function planEvents(scene: Scene, deposits: number): void {
  const { engine, processes, bots } = scene
  beginShopping(scene, deposits)
  for (const process of processes) tick(scene, process)
  for (const bot of bots.values()) keepWatch(scene, bot)
  scene.steam.planGifts([...bots.keys()].map(String))
  // Reads the histories amid the faults, before each check of departures, and after the credits by hand.
  const historyMs = [HOUR_MS / 2, 20 * HOUR_MS, GIFTS_CHECKED_MS, BY_HAND_MS + HOUR_MS]
  for (const ms of historyMs.flatMap(turnsOf)) {
    engine.at(START + ms, () => {
      const process = workingProcess(scene)
      if (process !== undefined) startInProcess(scene, () => sweepHistories(process.deps))
    })
  }
  planDepartureChecks(scene, [20 * HOUR_MS, GIFTS_CHECKED_MS])
  planDrift(scene, { workingProcess, inHolder })
  sweep(scene)
  planOutage(scene, 2 * FAULTS_MS) // About half of the seeds have none: it would begin after the faults.
  planDeaths(scene, FAULTS_MS)
  planOperatorActs(scene, { faultsMs: FAULTS_MS, byHandMs: BY_HAND_MS })
  // In most seeds the sweeps have ended by then, because nothing was due.
  engine.at(START + BY_HAND_MS + MINUTE_MS, () => sweep(scene))
  engine.at(START + FAULTS_MS, () => endFaults(scene))
  for (let ms = FAULTS_MS; ms <= BUSY_MS; ms += MINUTE_MS) {
    engine.at(START + ms, () => checkNotOverdue(scene, START + FAULTS_MS))
  }
  for (let day = 1; day <= CHECKED_DAYS; day += 1)
    engine.at(START + day * DAY_MS, () => checkTradesAtRest(scene))
}

/** When the turns of one pass through the histories begin. Each turn reads some pages. */
const turnsOf = (ms: number): number[] => [0, 1, 2, 3, 4].map((minutes) => ms + minutes * MINUTE_MS)

type SceneParts = { core: Core; random: Random; trace: Trace; fail: Scene['fail'] }

function createScene({ core, random, trace, fail }: SceneParts): Scene {
  const engine = createEngine(START, MOST_STEPS)
  const faults = createFaults(random.chance)
  const sim = { engine, random, faults }
  const outage = { isDown: false, isKnown: false }
  const wake = (row: TradeRow, at: Date): void => sendJob(scene, row, at)
  const readHistory = (botId: bigint): void => sendHistoryJob(scene, botId)
  const onMove = (next: TradeRow): void => lookForOffer(scene, next)
  const steam = createSteam(sim)
  const memory = createMemory({ ...sim, steam, trace, outage, wake, onMove, readHistory })
  const stores: Store[] = [0, 1, 2].map((number) => ({
    number,
    mode: number === 2 ? 'on_release' : 'on_accept',
    liability: number === 1 ? 'store' : 'operator',
    atRisk: 0n,
    riskLimit: BigInt(random.between(0, 40_000)),
    reversed: 0n,
  }))
  for (const botId of [1n, 2n, 3n]) {
    memory.bots.set(botId, freshBot(botId))
    steam.misfortunes.set(String(botId), drawMisfortunes(sim, FAULTS_MS))
  }
  const scene: Scene = { ...memory, core, stores, fail, processes: [] }
  scene.processes.push(createProcess(scene, 'one'), createProcess(scene, 'other'))
  return scene
}

/** A log that writes nothing, but counts abandoned offers that turn up. An error that no fault caused fails the run. */
const logOf = ({ faults, fail }: Scene): Log =>
  pino({
    level: 'warn',
    hooks: {
      logMethod([fields, message]: unknown[]) {
        const { state, err } = fieldsSchema.safeParse(fields).data ?? {}
        if (state === 'abandoned' && String(message).includes('that its trade does not wait for'))
          faults.note('abandoned offer that turns up')
        if (err !== undefined && !(err instanceof JobFailed)) fail(err)
      },
    },
  })

const fieldsSchema = z.object({ state: z.string().optional(), err: z.unknown().optional() })

function createProcess(scene: Scene, name: string): Process {
  const { engine, random, core } = scene
  const restartable = newRestartable(name)
  const gate: Gate = (low, high) =>
    waitForTurn(scene, process, { ms: random.between(low, high), onCrash: () => crash(scene, process) })
  const deps: ShellDeps = {
    trades: createMemoryStore(scene, gate),
    departures: createMemoryDepartures(scene, gate, new Date(START)),
    destinations: DESTINATIONS,
    core,
    clock: { now: () => new Date(engine.now() + process.skewMs) },
    log: logOf(scene),
    protectionDays: (game) => DEFAULT_PROTECTION_DAYS[game],
    historyEveryMs: HOUR_MS,
  }
  const drift = createMemoryDrift(scene, gate)
  const look = driftHandler({ ...deps, drift })
  const lookForDrift = (bot: Bot) => look(contextOf(scene, process, bot))
  const handlers = tradeHandlers(deps)
  const process: Process = { ...restartable, leases: new Map(), gate, deps, handlers, drift, lookForDrift }
  return process
}

function crash({ engine, random }: Scene, process: Process): void {
  process.leases.clear()
  engine.after(random.between(500, 60_000), () => {
    revive(process)
    // The process has lost its memory of its bots.
    process.handlers = tradeHandlers(process.deps)
  })
}

/** Renews a process's leases, takes unleased bots, sometimes sets its clock wrong, and plans the next tick. */
function tick(scene: Scene, process: Process): void {
  const { engine, random, faults, bots } = scene
  // After the faults, one process holds all bots forever. Another tick would shorten that to a normal lease.
  if (faults.areStopped) return
  if (process.isAlive && process.pausedUntil <= engine.now()) {
    for (const bot of bots.values()) keepLease(scene, process, bot)
    if (faults.strike('clock jump', 0.004)) {
      process.skewMs = random.between(-10 * MINUTE_MS, 10 * MINUTE_MS)
    } else if (random.chance(0.02)) process.skewMs = random.between(-500, 500)
  }
  engine.after(TICK_MS, () => tick(scene, process))
}

/** The holder of each bot, according to the database. */
const holders = new WeakMap<Bot, { process: Process; run: number; until: number }>()

function keepLease(scene: Scene, process: Process, bot: Bot): void {
  if (bot.state !== 'active') return
  const now = scene.engine.now()
  const recorded = holders.get(bot)
  if (giveUpIfLockedOut(scene, process, bot)) return
  const ownLease = process.leases.get(bot.botId)
  const isOwnLease =
    recorded?.process === process && recorded.run === process.run && ownLease?.leaseEpoch === bot.leaseEpoch
  if (isOwnLease) {
    if (recorded.until < now && scene.random.chance(0.5)) return // Another process may be quicker.
    recorded.until = now + LEASE_MS
    ownLease.endsAt = now + LEASE_MS
    return
  }
  if (ownLease !== undefined) process.leases.delete(bot.botId)
  if (recorded !== undefined && recorded.until >= now) return
  if (recorded !== undefined && recorded.process !== process && recorded.process.leases.has(bot.botId)) {
    scene.faults.note('two processes on one bot')
  }
  bot.leaseEpoch += 1n
  holders.set(bot, { process, run: process.run, until: now + LEASE_MS })
  process.leases.set(bot.botId, { leaseEpoch: bot.leaseEpoch, endsAt: now + LEASE_MS })
  scene.trace.add(`${now} ${process.name} speaks for bot ${bot.botId}`)
  takeBacklog(scene, bot)
}

function takeBacklog(scene: Scene, bot: Bot): void {
  const waiting = [...bot.backlog]
  bot.backlog.clear()
  for (const row of waiting) runJob(scene, row)
}

/** Returns the process that holds the bot, if it is alive. */
function holderOf(bot: Bot): Process | undefined {
  const recorded = holders.get(bot)
  const isThere = recorded?.process.isAlive === true && recorded.process.run === recorded.run
  return isThere && recorded.process.leases.has(bot.botId) ? recorded.process : undefined
}

/** The bot's context, under the current lease of the process. */
function contextOf(scene: Scene, process: Process, bot: Bot): BotContext {
  const { engine, steam, outage } = scene
  const lease = process.leases.get(bot.botId)
  return {
    botId: bot.botId,
    leaseEpoch: lease?.leaseEpoch ?? 0n,
    mayWrite: (deadlineMs) => (process.leases.get(bot.botId)?.endsAt ?? 0) - engine.now() > deadlineMs,
    session: sessionOf(scene, {
      steam,
      bot: String(bot.botId),
      gate: process.gate,
      process,
      isDown: () => outage.isDown || bot.state !== 'active',
    }),
  }
}

function inHolder(
  scene: Scene,
  bot: Bot,
  act: (process: Process, context: BotContext) => Promise<unknown>,
): void {
  const process = holderOf(bot)
  if (process !== undefined) startInProcess(scene, () => act(process, contextOf(scene, process, bot)))
}

/** Sends a job that wakes the bot of a trade. It may be lost, run twice, or always fail. */
function sendJob(scene: Scene, row: TradeRow, when: Date): void {
  const { engine, faults } = scene
  if (faults.strike('lost job', 0.03)) return
  const isPoison = faults.strike('poison job', 0.01)
  engine.at(when.getTime(), () => runJob(scene, row, { tries: 1, isPoison }))
  if (faults.strike('duplicated job', 0.05)) engine.at(when.getTime(), () => runJob(scene, row))
}

function sendHistoryJob(scene: Scene, botId: bigint): void {
  const bot = scene.bots.get(botId)
  if (bot === undefined || scene.faults.strike('lost job', 0.03)) return
  inHolder(scene, bot, ({ handlers }, context) => handlers.history(context))
}

function runJob(scene: Scene, row: TradeRow, { tries, isPoison } = { tries: 1, isPoison: false }): void {
  const bot = scene.bots.get(row.facts.botId)
  const process = bot && holderOf(bot)
  if (bot === undefined || process === undefined) {
    bot?.backlog.add(row)
    return
  }
  const retry = (): void => {
    if (tries >= MOST_TRIES) return
    scene.engine.after(1_000 * 2 ** tries, () => runJob(scene, row, { tries: tries + 1, isPoison }))
  }
  const job = async (): Promise<void> => {
    if (isPoison) throw new JobFailed('a job that always fails')
    await process.handlers.trade(contextOf(scene, process, bot), row.facts.id)
  }
  startInProcess(scene, job, retry)
}

/** The last watch of each bot by each process: how many open trades it left, and under which lease it ran. */
const lastWatches = new WeakMap<Process, Map<bigint, { leaseEpoch: bigint; left: number }>>()

/** While the bot has open offers, watches them in each process that believes it holds the bot. */
function keepWatch(scene: Scene, bot: Bot): void {
  const { processes, engine } = scene
  for (const process of processes) {
    const lease = process.leases.get(bot.botId)
    if (!process.isAlive || lease === undefined) continue
    const watches = lastWatches.get(process) ?? new Map()
    lastWatches.set(process, watches)
    const last = watches.get(bot.botId)
    if (last?.leaseEpoch === lease.leaseEpoch && last.left === 0 && bot.open.size === 0) continue
    startInProcess(scene, async () => {
      const left = await process.handlers.watch(contextOf(scene, process, bot))
      watches.set(bot.botId, { leaseEpoch: lease.leaseEpoch, left })
    })
  }
  const isBusy = engine.now() < START + BUSY_MS
  // An offer that waits for days has alarms of its own, so the watch can be rare.
  if (isBusy) engine.after(TICK_MS, () => keepWatch(scene, bot))
  else if (bot.open.size > 0 && bot.state === 'active') engine.after(6 * HOUR_MS, () => keepWatch(scene, bot))
}

const workingProcess = ({ processes, engine }: Scene): Process | undefined =>
  processes.find(({ isAlive, pausedUntil }) => isAlive && pausedUntil <= engine.now())

/** Finds everything that is due: trades whose job was lost, intents that no bot took, deposits whose time is up. */
function sweep(scene: Scene): void {
  const { engine } = scene
  const sweeper = workingProcess(scene)
  // Skips sweeps that would find nothing due.
  if (sweeper !== undefined && sweeper.deps.clock.now().getTime() >= scene.dueFromMs) {
    startInProcess(scene, async () => {
      await sweepTrades(sweeper.deps)
      await sweepDeposits(sweeper.deps)
    })
  }
  const now = engine.now()
  const next = nextDue(scene)
  scene.dueFromMs = next
  const isBusy = now < START + BUSY_MS
  if (!isBusy && next === Number.POSITIVE_INFINITY) return
  // The last trades wait for days, so one sweep an hour is enough.
  const pauseMs = now < START + DAY_MS ? SWEEP_MS : HOUR_MS
  engine.at(isBusy ? now + SWEEP_MS : Math.max(next, now + pauseMs), () => sweep(scene))
}

/** Drops what is no longer due. Returns the next due time: for bots out of service, when the till gives a trade up. */
function nextDue({ due, unpaid, bots }: Scene): number {
  let next = Number.POSITIVE_INFINITY
  const isActive = (botId: bigint): boolean => bots.get(botId)?.state === 'active'
  for (const row of due) {
    const { dueAt, botId } = row.facts
    if (dueAt === null) due.delete(row)
    else next = Math.min(next, isActive(botId) ? dueAt.getTime() : silentUntilMs(row.trade))
  }
  for (const deposit of unpaid) {
    if (deposit.status === 'created') next = Math.min(next, deposit.expiresAt.getTime())
    else unpaid.delete(deposit)
  }
  return next
}

/** Ends the faults. From now on one process, with a correct clock, holds every bot. */
function endFaults(scene: Scene): void {
  const { faults, processes, bots, engine, outage } = scene
  faults.stop()
  Object.assign(outage, { isDown: false, isKnown: false })
  const [first] = processes
  if (first === undefined) return
  for (const process of processes) {
    process.skewMs = 0
    endPause(process)
    process.leases.clear()
  }
  revive(first)
  for (const bot of bots.values()) {
    if (bot.state !== 'active') continue
    bot.leaseEpoch += 1n
    bot.tokenRefusedAt = null
    holders.set(bot, { process: first, run: first.run, until: Number.POSITIVE_INFINITY })
    first.leases.set(bot.botId, { leaseEpoch: bot.leaseEpoch, endsAt: Number.POSITIVE_INFINITY })
    takeBacklog(scene, bot)
  }
  scene.trace.add(`${engine.now()} the faults are over`)
}
