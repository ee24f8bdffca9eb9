/** Runs one seed of the real level: the vault and two gateways on PostgreSQL, one statement or call at a time. */
import type { Key } from '../../../vault/files/key.ts'
import { seededRandom } from '../../random.ts'
import { createEngine } from '../../simulation/engine.ts'
import { createFaults, moreLikely } from '../../simulation/faults.ts'
import { endPause } from '../../simulation/process.ts'
import { emptyTables, START } from '../../simulation/real/run.ts'
import { createScheduler } from '../../simulation/real/scheduler.ts'
import { openSessions, type Sessions } from '../../simulation/real/sessions.ts'
import { Luck } from '../luck.ts'
import { isWanted, outcomeOf, type SalesOutcome, violationOf } from '../run.ts'
import { createKey } from '../vault.ts'
import { createWorld, letOthersAct } from '../world.ts'
import { checkAtRest, checkScene } from './check.ts'
import { payDeposits } from './deposits.ts'
import { actAsOperator, attack, sweep, sweepAll } from './gateway.ts'
import { isOfSimulation, openRounds, startProcess } from './process.ts'
import type { Process, Scene } from './scene.ts'

const DEPOSITS = 8
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** How many steps the outside world makes while faults happen. */
const FAULTY_TURNS = 120
/** The length of each of the two phases `burst`, and the time between steps in them. */
const BURST_MS = 12 * MINUTE_MS
const BURST_PAUSE_MS = 30_000
/** Long enough for the escrow of an offer, and then the payment of the sale. */
const CALM_MS = 32 * DAY_MS
/** A seed that has not ended after this many steps breaks a promise. */
const MOST_STEPS = 400_000
/** Faults of processes and connections are this many times as likely, because a seed of this level has few steps. */
const EAGERNESS = 3

type Options = { sessions: Sessions; url: string; seed: number; key?: Key; keepTrace?: boolean }

/**
 * Opens the sessions of this copy of the sources. For a planted defect the proof loads a changed copy. Copies must not
 * share sessions, because each numbers its own statements.
 */
export const sessionsOf = (url: string): Sessions => openSessions(url)

/** Empties the database of the sessions, and runs a seed in it. Nothing else may use this database. */
export async function runSalesReal({
  sessions,
  url,
  seed,
  key = createKey(),
  keepTrace = false,
}: Options): Promise<SalesOutcome> {
  const session = await sessions.takeMonitor()
  const luck = new Luck(seededRandom(seed), keepTrace)
  const engine = createEngine(START, MOST_STEPS)
  const world = createWorld({ luck, key, nowMs: engine.now, deposits: DEPOSITS, movedShare: 0 })
  let violation: SalesOutcome['violation']
  const processes: Process[] = []
  let isClean = false
  try {
    await emptyTables(session.client)
    await session.client.query('insert into sim.clock (time) values ($1)', [new Date(START)])
    await session.client.query(`insert into send_rule (destination, keep) values ('seller', 0)`)
    const bots = await payDeposits(url, world)
    await play({ sessions, monitor: session.client, engine, world, bots }, processes)
    isClean = true
  } catch (error) {
    violation = violationOf(error)
  } finally {
    for (const { connections } of processes) connections.close()
    sessions.giveBack(session, { isClean })
  }
  return outcomeOf(world, { seed, violation })
}

type SceneParts = Pick<Scene, 'sessions' | 'monitor' | 'engine' | 'world' | 'bots'>

async function play(parts: SceneParts, processes: Process[]): Promise<void> {
  const { engine, world, monitor } = parts
  const { luck } = world
  let failure: unknown
  const faults = createFaults((probability) => luck.random.chance(probability))
  const scheduler = createScheduler({
    engine,
    monitor,
    onLockWait: () => luck.note('lock wait'),
    onCrowd: () => {},
    failure: () => failure,
  })
  const common = { ...parts, scheduler, faults: moreLikely(faults, EAGERNESS), gateways: [] }
  const scene: Scene = Object.assign({
    ...common,
    phase: 'faults',
    lastBurstAt: Number.POSITIVE_INFINITY,
    quietUntil: 0,
    fail(error: unknown) {
      failure ??= error
    },
  })
  scene.vault = await startProcess(scene, { name: 'vault', onRevival: () => beginVault(scene) })
  for (const name of ['gateway 1', 'gateway 2']) {
    const gateway: Process = await startProcess(scene, {
      name,
      onRevival: () => beginGateway(scene, gateway),
    })
    scene.gateways.push(gateway)
  }
  processes.push(scene.vault, ...scene.gateways)
  world.steam.isWanted = ({ gift }) => isWanted(world, gift.message)
  scene.rounds = openRounds(scene)
  beginVault(scene)
  for (const gateway of scene.gateways) beginGateway(scene, gateway)
  runWorld(scene, FAULTY_TURNS)
  await scheduler.run()
  if (faults.counts().has('serialization failure')) luck.note('serialization failure')
  await checkAtRest(scene)
}

/** Repeats work in a process until it dies or the seed ends. Work that a dead process began never returns. */
function loop(
  scene: Scene,
  process: Process,
  { work, pauseMs }: { work(): Promise<unknown>; pauseMs(): number },
): void {
  const { run } = process
  const next = () => {
    if (scene.phase !== 'over') scene.engine.after(pauseMs(), begin)
  }
  const begin = () => {
    if (!process.isAlive || process.run !== run || scene.phase === 'over') return
    work().then(next, (error: unknown) => {
      if (isOfSimulation(error)) next()
      else scene.fail(error)
    })
  }
  scene.engine.after(1, begin)
}

function pauseOf({ phase, world, engine, lastBurstAt }: Scene, faultsMs: () => number): number {
  if (phase === 'faults') return faultsMs()
  if (phase === 'burst') return BURST_PAUSE_MS
  return Math.min(DAY_MS / 2, Math.max(1_000, lastBurstAt - engine.now())) + world.luck.random.int(1_000)
}

function beginVault(scene: Scene): void {
  const { world } = scene
  const { random } = world.luck
  scene.rounds = openRounds(scene)
  const { rounds } = scene
  loop(scene, scene.vault, {
    work: () => rounds.round(),
    pauseMs: () =>
      pauseOf(scene, () => Math.max(scene.quietUntil - scene.engine.now(), 15_000 + random.int(5_000))),
  })
}

function beginGateway(scene: Scene, gateway: Process): void {
  const { world } = scene
  const { random } = world.luck
  loop(scene, gateway, {
    async work() {
      // One gateway is enough for the remaining work.
      if (scene.phase !== 'faults')
        return gateway === scene.gateways[0] ? sweepAll(scene, gateway) : undefined
      await sweep(scene, gateway)
      if (random.chance(0.15)) await actAsOperator(scene, gateway)
      if (random.chance(0.15)) await attack(scene, gateway)
    },
    pauseMs: () =>
      pauseOf(scene, () => (random.chance(0.2) ? random.int(2 * HOUR_MS) : random.int(2 * MINUTE_MS))),
  })
}

/** Advances markets, buyers and Steam, and checks the promises after each of their steps. */
function runWorld(scene: Scene, turns: number): void {
  const { engine, scheduler, world } = scene
  const { random } = world.luck
  if (scene.phase === 'over') return
  letOthersAct(world)
  scheduler.beforeNextStep(() => checkScene(scene))
  if (scene.phase === 'faults' && turns === 0) endFaults(scene)
  const isQuiet = random.chance(0.1)
  const ms = pauseOf(scene, () => (isQuiet ? random.int(DAY_MS / 2) : 15_000 + random.int(5_000)))
  scene.quietUntil = engine.now() + (isQuiet ? ms : 0)
  engine.after(ms, () => runWorld(scene, turns - 1))
}

/**
 * Ends the faults and the operator's rule for wishes, and switches the markets on again. Minutes pass, then days
 * without new listings, then minutes again.
 */
function endFaults(scene: Scene): void {
  const { engine, world, faults, scheduler, monitor } = scene
  const begunAt = engine.now()
  world.luck.isCalm = true
  faults.stop()
  for (const process of [scene.vault, ...scene.gateways]) endPause(process)
  scene.phase = 'burst'
  scheduler.beforeNextStep(async () => {
    await monitor.query('delete from send_rule; delete from market_off')
  })
  engine.at(begunAt + BURST_MS, () => {
    world.switchOffMarkets()
    scene.phase = 'long'
    scene.lastBurstAt = begunAt + BURST_MS + CALM_MS
  })
  engine.at(begunAt + BURST_MS + CALM_MS, () => {
    scene.phase = 'burst'
  })
  engine.at(begunAt + 2 * BURST_MS + CALM_MS, () => {
    scene.phase = 'over'
  })
}
