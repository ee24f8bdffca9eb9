/** Runs one seed of the real level: the gateway's services on PostgreSQL, two processes, and a simulated Steam. */
import pg from 'pg'
import { verifyLedger } from '../../../gateway/ledger/verify.ts'
import { CORE, type Core } from '../../../gateway/trades/core.ts'
import type { Terms } from '../../../gateway/trades/effects.ts'
import { seededRandom } from '../../random.ts'
import { createEngine } from '../engine.ts'
import { createFaults, moreLikely } from '../faults.ts'
import { GIFTS_CHECKED_MS } from '../gifts.ts'
import { drawMisfortunes } from '../misfortunes.ts'
import { type Outcome, reportOf } from '../outcome.ts'
import { endPause, revive } from '../process.ts'
import { createSteam } from '../steam.ts'
import { createTrace } from '../trace.ts'
import { Violation } from '../violation.ts'
import {
  checkFinalState,
  checkNotOverdue,
  checkSnapshot,
  checkTradesAtRest,
  readSnapshot,
  type Snapshot,
  termsKeyOf,
} from './check.ts'
import { planDeaths } from './deaths.ts'
import { checkDepartures } from './departures.ts'
import { promiseOfProblem } from './ledger-promise.ts'
import { creditByHand, releaseEarly } from './operator.ts'
import { ALL_SHOPPERS, BOTS, CANARY_TOKEN } from './people.ts'
import { idsOf, queueOf, watchedLog } from './ports.ts'
import { startInProcess, startProcess } from './process.ts'
import { checkReads, READS, type Reads } from './reads.ts'
import type { Scene } from './scene.ts'
import { createScheduler } from './scheduler.ts'
import type { Sessions } from './sessions.ts'
import { beginShopping, lookForOffers, type ShoppingScene } from './shoppers.ts'
import { createWork, sweep, sweepHistory, tick, watch } from './work.ts'

export type RealOptions = {
  sessions: Sessions
  seed: number
  deposits: number
  core?: Core
  reads?: Reads
  keepTrace?: boolean
}

export const START = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Factor on the probability of Steam's faults, because a seed costs seconds and must meet many of them. */
const EAGERNESS = 4
/** When the faults stop, in milliseconds from the start. */
const FAULTS_MS = 10 * MINUTE_MS
/** When the processes stop watching offers, in milliseconds from the start. Most trades have ended by then. */
const WATCHED_MS = FAULTS_MS + 7 * MINUTE_MS
/**
 * When nearly every deposit is final, in milliseconds from the start. A deposit lives an hour, and its last trade some
 * minutes more.
 */
const BUSY_MS = FAULTS_MS + 65 * MINUTE_MS
/** When the operator credits deliveries that Steam never reported. The till has given up all their trades by then. */
const BY_HAND_MS = FAULTS_MS + 16 * 24 * HOUR_MS
/**
 * When only delivered trades may still be watched: seventeen days after the last offer, plus the time that some hourly
 * sweeps take.
 */
const RESTED_MS = FAULTS_MS + (17 * 24 + 5) * HOUR_MS
/** More steps than any seed takes, even one that reads an offer for 15 days. Most seeds take about 14,000. */
const MOST_STEPS = 240_000
/** Later than every simulated time. */
const FOREVER = new Date(Date.UTC(2030, 0, 1))
/** The states of trades that may have an open offer. */
const WATCHED = ['sending', 'unknown', 'active']
const PROCESS_NAMES = ['00000000-0000-4000-a000-000000000001', '00000000-0000-4000-a000-000000000002']

/** Runs a seed in the sessions' database, after emptying it. Nothing else may use the database. */
export async function runReal({
  sessions,
  seed,
  deposits,
  core = CORE,
  reads = READS,
  keepTrace = false,
}: RealOptions): Promise<Outcome> {
  const session = await sessions.takeMonitor()
  const monitor = session.client
  const trace = createTrace({ keepAll: keepTrace })
  const scene = createScene({ sessions, seed, monitor, trace, core })
  const outcome = (): Omit<Outcome, 'violation'> => ({
    seed,
    hash: trace.hash(),
    steps: scene.engine.steps(),
    simulatedMs: scene.engine.now() - START,
    faults: scene.faults.counts(),
    trace: trace.lines(),
  })
  let isClean = false
  try {
    await play(scene, { deposits, reads })
    isClean = true
    return outcome()
  } catch (error) {
    return { ...outcome(), violation: reportOf(error) }
  } finally {
    scene.faults.stop()
    for (const { connections } of scene.processes) connections.close()
    sessions.giveBack(session, { isClean })
  }
}

type Plan = { deposits: number; reads: Reads }

async function play(scene: Scene & { failure(): unknown }, { deposits, reads }: Plan): Promise<void> {
  const { engine, scheduler, monitor, sessions } = scene
  const shopping = await prepareShopping(scene)
  for (const name of PROCESS_NAMES) scene.processes.push(await startProcess(scene, name))
  beginShopping(shopping, deposits)
  lookForOffers(shopping, new Set(), START + WATCHED_MS)
  for (const process of scene.processes) {
    tick(scene, process)
    watch(scene, process, START + WATCHED_MS)
  }
  sweep(scene, START + FAULTS_MS)
  scene.steam.planGifts(BOTS)
  const looks = [HOUR_MS / 2, 20 * HOUR_MS, GIFTS_CHECKED_MS, BY_HAND_MS + HOUR_MS]
  sweepHistory(
    scene,
    looks.map((ms) => START + ms),
  )
  planDeaths(scene, FAULTS_MS)
  creditByHand(scene, BY_HAND_MS)
  releaseEarly(scene, [FAULTS_MS / 3, FAULTS_MS, 24 * HOUR_MS])
  // In most seeds the sweeps have stopped by then, because nothing was due.
  engine.at(START + BY_HAND_MS + MINUTE_MS, () => sweep(scene, START + FAULTS_MS))
  engine.at(START + FAULTS_MS, () => endFaults(scene))
  engine.at(START + RESTED_MS, () => scheduler.beforeNextStep(() => checkTradesAtRest(monitor)))
  // At this time most credit is still held. At the end, hardly any is.
  const checkWhileHeld = async () => {
    checkNotOverdue(scene, await readSnapshot(monitor))
    await checkReads(sessions.pool, reads)
  }
  engine.at(START + BUSY_MS, () => scheduler.beforeNextStep(checkWhileHeld))
  await scheduler.run()
  await checkFinalState(scene)
  await checkDepartures(scene)
  await checkReads(sessions.pool, reads)
  await checkLedger(sessions)
}

async function checkLedger({ pool }: Sessions): Promise<void> {
  const [first] = await verifyLedger(pool)
  if (first === undefined) return
  const { problem, detail } = first
  throw new Violation(promiseOfProblem(problem), `verify.sql: ${problem}, ${detail}`)
}

type SceneParts = {
  sessions: Sessions
  seed: number
  monitor: pg.ClientBase
  trace: Scene['trace']
  core: Core
}

function createScene({ sessions, seed, monitor, trace, core }: SceneParts): Scene & { failure(): unknown } {
  const engine = createEngine(START, MOST_STEPS)
  const random = seededRandom(seed)
  const faults = createFaults(random.chance)
  const sim = { engine, random, faults }
  const secrets: string[] = [CANARY_TOKEN]
  let failure: unknown
  let snapshot: Snapshot | undefined
  const scheduler = createScheduler({
    engine,
    monitor,
    onLockWait: () => faults.note('lock wait'),
    onCrowd: () => faults.note('crowd at a lock'),
    failure: () => failure,
  })
  const work = createWork(() => scene)
  let isChecking = false
  const scene: Scene & { failure(): unknown } = {
    ...sim,
    sessions,
    monitor,
    scheduler,
    trace,
    secrets,
    work,
    core,
    steam: createSteam({ ...sim, faults: moreLikely(faults, EAGERNESS) }),
    settings: new Map(),
    queue: queueOf(work.accept),
    ids: idsOf(random),
    log: watchedLog(
      () => secrets,
      () => faults.note('abandoned offer that turns up'),
    ),
    processes: [],
    leaseEpochs: new Map(),
    lost: new Map(),
    open: new Set(),
    notify(topic) {
      for (const { waiters } of scene.processes) for (const wake of waiters.get(topic) ?? []) wake()
      for (const { waiters } of scene.processes) waiters.delete(topic)
    },
    afterCommit() {
      if (isChecking) return
      isChecking = true
      scheduler.beforeNextStep(async () => {
        isChecking = false
        const next = await readSnapshot(monitor)
        traceChanges(scene, snapshot, next)
        checkSnapshot(scene, snapshot, next)
        snapshot = next
        scene.open = new Set(
          next.trades.flatMap(({ bot, state }) => (WATCHED.includes(state) ? [String(bot)] : [])),
        )
      })
    },
    fail(error) {
      failure ??= error
    },
    failure: () => failure,
  }
  return scene
}

/** Adds the changes of the database to the trace, in order. */
function traceChanges({ trace, engine, faults }: Scene, before: Snapshot | undefined, now: Snapshot): void {
  const states = new Map(before?.trades.map(({ id, state }) => [id, state]))
  for (const { id, state, reason, delivered, cancelling } of now.trades) {
    if (states.get(id) !== state) trace.add(`${engine.now()} trade ${id} ${state} ${reason ?? ''}`)
    const isFaster = delivered && cancelling === 'store' && states.get(id) === 'active'
    if (isFaster) faults.note('acceptance faster than a store’s cancel')
  }
  const statuses = new Map(before?.deposits.map(({ id, status }) => [id, status]))
  for (const { id, status, credited, held, reversed } of now.deposits) {
    if (statuses.get(id) !== status) {
      trace.add(`${engine.now()} deposit ${id} ${status} ${credited} ${held} ${reversed}`)
    }
  }
}

/** Empties the database, and prepares stores, bots, an exchange rate and the simulated Steam. */
async function prepareShopping(scene: Scene): Promise<ShoppingScene> {
  const { monitor, random, steam } = scene
  await emptyTables(monitor)
  await monitor.query('insert into sim.clock (time) values ($1)', [new Date(START)])
  const stores: bigint[] = []
  for (const [creditMode, liability] of [
    ['on_accept', 'operator'],
    ['on_accept', 'store'],
    ['on_release', 'operator'],
  ] as const) {
    const terms = { creditMode, liability, riskLimitUsdCents: BigInt(random.between(0, 40_000)) }
    const { rows } = await monitor.query<{ id: bigint }>(
      `insert into store (name, origins, credit_mode, liability, risk_limit_usd_cents)
       values ('Ember Forge', '{https://store.test}', $1, $2, $3) returning id`,
      [creditMode, liability, terms.riskLimitUsdCents],
    )
    for (const { id } of rows) {
      stores.push(id)
      scene.settings.set(Number(id), new Set([termsKeyOf(terms)]))
    }
  }
  for (const { steamId, assets } of ALL_SHOPPERS) {
    for (const { assetId } of assets) steam.owners.set(assetId, steamId)
  }
  for (const steamId of BOTS) {
    steam.misfortunes.set(steamId, drawMisfortunes(scene, FAULTS_MS))
    await monitor.query(
      `insert into bot (steam_id, name, avatar_url, profile_url, level, refresh_token)
       values ($1, 'Bot', 'a', 'p', 10, 'sealed')`,
      [steamId],
    )
  }
  const { rows } = await monitor.query<{ id: bigint }>(
    `insert into exchange_rate (currency, per_usd, source, as_of) values ('USD', 1, 'test', $1) returning id`,
    [new Date(START)],
  )
  for (const store of stores) changeStore(scene, store)
  return { ...scene, stores, rateId: rows[0]?.id ?? 0n }
}

/** With a probability of 40 %, lets the operator change the store's credit mode, liability and risk limit once. */
function changeStore(scene: Scene, store: bigint): void {
  const { engine, random, faults, processes, settings } = scene
  if (!random.chance(0.4)) return
  engine.after(random.int(FAULTS_MS / 2), () => {
    const creditMode = random.pick<Terms['creditMode']>(['on_accept', 'on_release'])
    const liability = random.pick<Terms['liability']>(['operator', 'store'])
    const terms = { creditMode, liability, riskLimitUsdCents: BigInt(random.between(0, 40_000)) }
    settings.get(Number(store))?.add(termsKeyOf(terms))
    faults.note('changed settings of a store')
    const change = { credit_mode: creditMode, liability, risk_limit_usd_cents: terms.riskLimitUsdCents }
    const [process] = processes.filter(({ isAlive }) => isAlive)
    if (process === undefined) return
    startInProcess(scene, () =>
      process.connections.db.updateTable('store').set(change).where('id', '=', store).execute(),
    )
  })
}

export async function emptyTables(monitor: pg.ClientBase): Promise<void> {
  // Only tables with rows, because each truncated table costs new files.
  const tables = await tablesOf(monitor, 'pg_relation_size(oid) > 0')
  await monitor.query('set session_replication_role = replica')
  if (tables.length > 0) await monitor.query(`truncate ${tables.join(', ')} restart identity cascade`)
  await monitor.query('set session_replication_role = origin')
  await monitor.query('truncate sim.clock')
}

async function tablesOf(client: pg.ClientBase, condition = 'true'): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'migration' and ${condition}`,
  )
  return rows.map(({ name }) => name)
}

/** Prepares a database before its first seed: `now()` in SQL returns the simulated time. */
export async function prepareDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`create schema if not exists sim;
    create table if not exists sim.clock (time timestamptz not null);
    create or replace function sim.now() returns timestamptz language sql stable as 'select time from sim.clock'`)
  const { rows } = await client.query<{ name: string }>('select quote_ident(current_database()) as name')
  // No autovacuum, because statistics gathered during a seed would change plans, and with them the order of rows.
  for (const table of await tablesOf(client)) {
    await client.query(`alter table ${table} set (autovacuum_enabled = off)`)
  }
  await client.query(`alter database ${rows[0]?.name} set search_path = sim, pg_catalog, public`)
  await client.query(`alter database ${rows[0]?.name} set jit = off`)
  await client.end()
}

/** Ends the faults. All processes continue or restart, with correct clocks. */
function endFaults(scene: Scene): void {
  const { faults, processes, engine, trace } = scene
  faults.stop()
  for (const process of processes) {
    process.skewMs = 0
    endPause(process)
    revive(process)
  }
  trace.add(`${engine.now()} the faults are over`)
  // The operator enrols refused bots again, several times: the statement that stores the last refusal may end late.
  const accepted = { token_refused_at: null, login_after: null }
  const enrol = () =>
    processes[0]?.connections.db.updateTable('bot').set(accepted).execute().catch(scene.fail)
  enrol()
  // Repeats until the leases of dead processes have expired and others hold the bots.
  for (const ms of [0, 15_000, 30_000, 45_000, 60_000, 75_000, 90_000]) {
    engine.after(ms, () => {
      for (const process of processes) tick(scene, process)
    })
  }
  for (const ms of [10_000, 40_000, 70_000]) engine.after(ms, () => void enrol())
  engine.after(105_000, () => keepLeasesForever(scene))
}

/** Extends all leases forever, because time jumps by days from now on. */
function keepLeasesForever({ processes, fail }: Scene): void {
  for (const { leases } of processes)
    for (const held of leases.values()) held.endsAt = Number.POSITIVE_INFINITY
  // Through a process's connection, because the statement may wait for the lock of a bot.
  processes[0]?.connections.db.updateTable('bot').set({ lease_until: FOREVER }).execute().catch(fail)
}
