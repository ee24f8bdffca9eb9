/** One seed of the pure level: shoppers, processes and a Steam, until long after the last fault. */
import { INTENT_LIFE_MS, isPast } from '../../gateway/trades/alarm.ts'
import { createEngine } from '../engine.ts'
import { createFaults } from '../faults.ts'
import { type Outcome, toldOf } from '../outcome.ts'
import { type Random, seededRandom } from '../random.ts'
import { createTrace, type Trace } from '../trace.ts'
import { CORE, type Core } from './core.ts'
import { createProcess, JobFailed, type Process, run, type Task, timeOf } from './process.ts'
import type { Bot, Store, TradeRow } from './rows.ts'
import { advance, type Hand, type Shell, watch } from './shell.ts'
import { beginShopping } from './shoppers.ts'
import { createSteam } from './steam.ts'
import { createTill } from './till.ts'
import { checkAlive, checkRest } from './truth.ts'

export type PureOptions = { seed: number; deposits?: number; core?: Core; keepTrace?: boolean }

const START = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000
/** Faults stop then; all shoppers have come by then. */
const FAULTS_MS = 45 * MINUTE_MS
/** So long after the faults every deposit must be final: it lives an hour, and its last trade some minutes more. */
const LIVE_MS = 60 * MINUTE_MS
/** Until then trades may still begin, so the sweep runs at its own pace. */
const BUSY_MS = FAULTS_MS + LIVE_MS
const LEASE_MS = 25_000
const TICK_MS = 5_000
const SWEEP_MS = 10_000
const MOST_TRIES = 5

export type Scene = Shell & {
  trace: Trace
  processes: Process[]
  bots: Bot[]
  stores: Store[]
  wake(row: TradeRow, when: Date): void
}

export function runPure({ seed, deposits = 100, core = CORE, keepTrace = false }: PureOptions): Outcome {
  const trace = createTrace({ keepAll: keepTrace })
  const random = seededRandom(seed)
  const scene = setScene({ core, random, trace })
  const outcome = (): Omit<Outcome, 'violation'> => ({
    seed,
    hash: trace.hash(),
    steps: scene.engine.steps(),
    faults: scene.faults.counts(),
    trace: trace.lines(),
  })
  try {
    beginShopping(scene, deposits)
    for (const process of scene.processes) tick(scene, process)
    for (const bot of scene.bots) keepWatch(scene, bot)
    sweep(scene)
    troubleSteam(scene)
    scene.engine.at(START + FAULTS_MS, () => calm(scene))
    scene.engine.at(START + BUSY_MS, () => checkAlive(scene.till.deposits))
    while (scene.engine.step());
    checkRest({ ...scene, ...scene.till })
    return outcome()
  } catch (error) {
    return { ...outcome(), violation: toldOf(error) }
  }
}

function setScene({ core, random, trace }: { core: Core; random: Random; trace: Trace }): Scene {
  const engine = createEngine(START)
  const faults = createFaults(random.chance)
  const sim = { engine, random, faults }
  const steam = createSteam(sim)
  const wake = (row: TradeRow, when: Date): void => sendJob(scene, row, when)
  const till = createTill({ ...sim, core, steam, trace, wake })
  const stores: Store[] = [0, 1, 2].map((number) => ({
    number,
    mode: number === 2 ? 'on_release' : 'on_accept',
    liability: number === 1 ? 'store' : 'operator',
    riskLimit: BigInt(random.between(0, 40_000)),
    atRisk: new Set(),
  }))
  const bots: Bot[] = [0, 1].map((number) => ({ number, epoch: 0n, backlog: new Set(), open: new Set() }))
  const processes = ['one', 'other'].map(createProcess)
  const outage = { isDown: false, isKnown: false }
  const scene: Scene = { ...sim, core, steam, till, outage, trace, processes, bots, stores, wake }
  return scene
}

/** Beats, takes what nobody holds, and lets its clock go wrong at times. */
function tick(scene: Scene, process: Process): void {
  const { engine, random, faults, bots } = scene
  // Who holds the bots from then on is settled, and for good: one more beat would make it a lease of seconds.
  if (faults.stopped) return
  const now = engine.now()
  if (process.alive && process.pausedUntil <= now) {
    for (const bot of bots) keepLease(scene, process, bot)
    if (faults.strike('clock jump', 0.004)) {
      process.skewMs = random.between(-10 * MINUTE_MS, 10 * MINUTE_MS)
    } else if (random.chance(0.02)) process.skewMs = random.between(-500, 500)
  }
  engine.after(TICK_MS, () => tick(scene, process))
}

/** Who holds each bot, as the database has it. */
const holders = new WeakMap<Bot, { process: Process; life: number; until: number }>()

function keepLease(scene: Scene, process: Process, bot: Bot): void {
  const now = scene.engine.now()
  const held = holders.get(bot)
  const mine = process.leases.get(bot.number)
  const isMine = held?.process === process && held.life === process.life && mine?.epoch === bot.epoch
  if (isMine) {
    if (held.until < now && scene.random.chance(0.5)) return
    held.until = now + LEASE_MS
    mine.endsAt = now + LEASE_MS
    return
  }
  if (mine !== undefined) process.leases.delete(bot.number)
  if (held !== undefined && held.until >= now) return
  if (held !== undefined && held.process !== process && held.process.leases.has(bot.number)) {
    scene.faults.saw('two processes at one bot')
  }
  bot.epoch += 1n
  holders.set(bot, { process, life: process.life, until: now + LEASE_MS })
  process.leases.set(bot.number, { epoch: bot.epoch, endsAt: now + LEASE_MS })
  scene.trace.add(`${now} ${process.name} speaks for bot ${bot.number}`)
  for (const row of bot.backlog) work(scene, row)
  bot.backlog.clear()
}

function handOf(bot: Bot): Hand | undefined {
  const held = holders.get(bot)
  if (held === undefined || !held.process.alive || held.process.life !== held.life) return undefined
  const lease = held.process.leases.get(bot.number)
  return lease && { process: held.process, bot, epoch: lease.epoch }
}

/** A job that wakes the bot of a trade. It may be lost, come twice, or fail each time. */
function sendJob(scene: Scene, row: TradeRow, when: Date): void {
  const { engine, faults } = scene
  if (faults.strike('lost job', 0.03)) return
  const isPoison = faults.strike('poison job', 0.01)
  engine.at(when.getTime(), () => work(scene, row, { tries: 1, isPoison }))
  if (faults.strike('duplicated job', 0.05)) engine.at(when.getTime(), () => work(scene, row))
}

function work(scene: Scene, row: TradeRow, { tries, isPoison } = { tries: 1, isPoison: false }): void {
  const hand = handOf(row.bot)
  if (hand === undefined) {
    row.bot.backlog.add(row)
    return
  }
  const retry = (): void => {
    if (tries >= MOST_TRIES) return
    scene.engine.after(1_000 * 2 ** tries, () => work(scene, row, { tries: tries + 1, isPoison }))
  }
  run(scene, hand.process, isPoison ? poison() : advance(scene, hand, row), retry)
}

function* poison(): Task {
  yield 1
  throw new JobFailed('a job that always fails')
}

/** The watch over the offers of a bot, by everybody who believes to hold it. */
function keepWatch(scene: Scene, bot: Bot): void {
  for (const process of scene.processes) {
    const lease = process.leases.get(bot.number)
    if (process.alive && lease !== undefined)
      run(scene, process, watch(scene, { process, bot, epoch: lease.epoch }))
  }
  if (bot.open.size > 0 || scene.engine.now() < START + BUSY_MS)
    scene.engine.after(TICK_MS, () => keepWatch(scene, bot))
}

const WAKE_AGAIN_MS = 30_000

/** Finds what is due: trades whose job was lost, intents that nobody took up, deposits whose time is over. */
function sweep(scene: Scene): void {
  const { engine, till, processes } = scene
  const sweeper = processes.find(({ alive, pausedUntil }) => alive && pausedUntil <= engine.now())
  const now = engine.now()
  let next = Number.POSITIVE_INFINITY
  if (sweeper !== undefined) {
    const time = timeOf(scene, sweeper)
    const timeMs = time.getTime()
    for (const row of till.trades) {
      const { trade } = row
      if (trade.state === 'intended' && isPast(trade.createdAt, INTENT_LIFE_MS, time)) {
        till.record({ row }, { kind: 'nobody_came' }, time)
      }
      if (row.dueAt === null) continue
      if (row.dueAt.getTime() <= timeMs) {
        row.dueAt = new Date(time.getTime() + WAKE_AGAIN_MS)
        sendJob(scene, row, new Date(now))
      }
      next = Math.min(next, row.dueAt.getTime())
    }
    for (const deposit of till.deposits) {
      if (deposit.status !== 'created') continue
      if (deposit.expiresAt <= time) till.expire(deposit, time)
      else next = Math.min(next, deposit.expiresAt.getTime())
    }
  }
  const isBusy = now < START + BUSY_MS
  if (!isBusy && next === Number.POSITIVE_INFINITY) return
  engine.at(isBusy ? now + SWEEP_MS : Math.max(next, now + SWEEP_MS), () => sweep(scene))
}

/** Steam is down for a while; the till knows of it half a minute later. */
function troubleSteam(scene: Scene): void {
  const { engine, random, outage, faults } = scene
  const from = START + random.between(0, 2 * FAULTS_MS)
  engine.at(from, () => {
    if (faults.stopped) return
    outage.isDown = true
    engine.after(30_000, () => {
      outage.isKnown = outage.isDown
    })
    engine.after(random.between(5_000, 180_000), () => {
      outage.isDown = false
      outage.isKnown = false
    })
  })
}

/** No more faults: one process holds every bot from now on, and its clock is right. */
function calm(scene: Scene): void {
  const { faults, processes, bots, engine, outage } = scene
  faults.stop()
  outage.isDown = false
  outage.isKnown = false
  const [first] = processes
  if (first === undefined) return
  for (const process of processes) {
    process.skewMs = 0
    process.pausedUntil = 0
    process.leases.clear()
  }
  if (!first.alive) {
    first.alive = true
    first.life += 1
  }
  for (const bot of bots) {
    bot.epoch += 1n
    holders.set(bot, { process: first, life: first.life, until: Number.POSITIVE_INFINITY })
    first.leases.set(bot.number, { epoch: bot.epoch, endsAt: Number.POSITIVE_INFINITY })
    for (const row of bot.backlog) work(scene, row)
    bot.backlog.clear()
  }
  scene.trace.add(`${engine.now()} the faults are over`)
}
