/** Jobs, sweeps and watches of the simulated processes, run by the engine. */
import type { NewJob } from '../../../gateway/db/queue.ts'
import { EXPIRE_QUEUE } from '../../../gateway/deposits/service.ts'
import { PUBLISH_QUEUE, publishEvents } from '../../../gateway/events/service.ts'
import { expireDeposit, sweepDeposits } from '../../../gateway/trades/expiry.ts'
import { sweepTrades } from '../../../gateway/trades/jobs.ts'
import { sweepHistories } from '../../../gateway/trades/protection.ts'
import { ConnectionLost } from './connections.ts'
import { contextOf, keepLeases, startInProcess } from './process.ts'
import type { HeldLease, Process, Scene } from './scene.ts'

const TICK_MS = 9_000 // between two renewals of leases
const SWEEP_MS = 12_000 // between two sweeps while deposits wait
const MOST_TRIES = 5 // of a failing job
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export type Attempt = { tries: number; isPoison: boolean }

export function createWork(scene: () => Scene) {
  const waiting = new Set<string>()
  const backlog: NewJob[] = []

  function accept(job: NewJob): void {
    const { engine, faults } = scene()
    const { startAfter, singletonKey } = job
    const key = `${job.queue} ${singletonKey ?? ''} ${startAfter?.toISOString() ?? ''}`
    if (singletonKey !== undefined && waiting.has(key)) return
    if (faults.strike('lost job', 0.03)) return
    waiting.add(key)
    const isPoison = faults.strike('poison job', 0.02)
    const startMs = startAfter?.getTime() ?? engine.now()
    const start = () => {
      waiting.delete(key)
      dispatch(job, { tries: 1, isPoison })
    }
    engine.at(startMs, start)
    if (faults.strike('duplicated job', 0.05)) engine.at(startMs, start)
  }

  function dispatch(job: NewJob, attempt: Attempt): void {
    const { engine, processes, random } = scene()
    const candidates = processes.filter((process) => process.isAlive && canDo(process, job))
    const process = candidates[random.int(Math.max(1, candidates.length))]
    if (process === undefined) {
      backlog.push(job)
      return
    }
    const retry = () => {
      const nextAttempt = { ...attempt, tries: attempt.tries + 1 }
      if (nextAttempt.tries <= MOST_TRIES)
        engine.after(1_000 * 2 ** attempt.tries, () => dispatch(job, nextAttempt))
    }
    startInProcess(scene(), () => perform(scene(), process, { job, ...attempt }), retry)
  }

  return {
    accept,
    leaseTaken(): void {
      for (const job of backlog.splice(0)) dispatch(job, { tries: 1, isPoison: false })
    },
  }
}

const botOf = ({ queue }: NewJob): string | undefined => /^bot\.(\d+)$/.exec(queue)?.[1]

function canDo(process: Process, job: NewJob): boolean {
  const botId = botOf(job)
  return botId === undefined || process.leases.has(botId)
}

async function perform(
  scene: Scene,
  process: Process,
  { job, isPoison }: Attempt & { job: NewJob },
): Promise<void> {
  if (isPoison) throw new ConnectionLost('a job that always fails')
  const heldLease = process.leases.get(botOf(job) ?? '')
  if (heldLease !== undefined) return performForBot(scene, process, { heldLease, data: job.data })
  if (job.queue === PUBLISH_QUEUE) return publishEvents(process.deps)
  if (job.queue === EXPIRE_QUEUE && 'depositId' in job.data) {
    return expireDeposit(process.deps, BigInt(String(job.data.depositId)))
  }
}

async function performForBot(
  scene: Scene,
  process: Process,
  { heldLease, data }: { heldLease: HeldLease; data: object },
): Promise<void> {
  const bot = contextOf(scene, process, heldLease)
  if ('tradeId' in data) return process.handlers.trade(bot, BigInt(String(data.tradeId)))
  return process.handlers.history(bot)
}

/**
 * Sets the database's clock, has the process renew and take leases, and sometimes sets the process's clock wrong.
 * Repeats until the faults stop.
 */
export function tick(scene: Scene, process: Process): void {
  const { engine, random, faults, scheduler, monitor } = scene
  if (process.isAlive && process.pausedUntil <= engine.now()) {
    const time = new Date(engine.now())
    scheduler.beforeNextStep(async () => {
      await monitor.query('update sim.clock set time = $1', [time])
    })
    startInProcess(scene, () => keepLeases(scene, process))
    if (faults.strike('clock jump', 0.01)) process.skewMs = random.between(-10, 10) * MINUTE_MS
    else if (random.chance(0.03)) process.skewMs = random.between(-500, 500)
  }
  if (!faults.areStopped) engine.after(TICK_MS, () => tick(scene, process))
}

/** Watches open offers of the bots that the process believes it holds, less often than the real watch. */
export function watch(scene: Scene, process: Process, until: number): void {
  const { engine, random } = scene
  if (engine.now() < until) engine.after(random.between(10_000, 22_000), () => watch(scene, process, until))
  if (!process.isAlive || process.pausedUntil > engine.now()) return
  for (const [botId, heldLease] of process.leases) {
    if (!scene.open.has(botId)) continue
    const bot = contextOf(scene, process, heldLease)
    startInProcess(scene, () => process.handlers.watch(bot))
  }
}

/** Sweeps for due work. Once nothing new can begin, sweeps only if something is due. */
export function sweep(scene: Scene, busyUntil: number): void {
  const { engine, processes, random, monitor, scheduler } = scene
  const candidates = processes.filter(({ isAlive, pausedUntil }) => isAlive && pausedUntil <= engine.now())
  const sweeper = candidates[random.int(Math.max(1, candidates.length))]
  if (sweeper !== undefined) {
    startInProcess(scene, async () => {
      await sweepTrades(sweeper.deps)
      await sweepDeposits(sweeper.deps)
      // Does the work of a job that was lost.
      if (random.chance(0.2) || engine.now() >= busyUntil) await publishEvents(sweeper.deps)
    })
  }
  if (engine.now() < busyUntil) {
    engine.after(SWEEP_MS, () => sweep(scene, busyUntil))
    return
  }
  scheduler.beforeNextStep(async () => {
    const { rows } = await monitor.query<{ next: Date | null }>(
      `select least((select min(due_at) from trade join bot on bot.id = bot_id where bot.state = 'active'),
        (select min(greatest(send_started_at + interval '15 days', steam_hold_until + interval '1 day',
          ended_at + interval '1 day')) from trade where delivered_at is null and (ended_at is null or due_at is not null)),
        (select min(expires_at) from deposit where status = 'created'),
        (select min(created_at) from event where sequence is null)) as next`,
    )
    const nextMs = rows[0]?.next?.getTime()
    // No deposit waits any longer, and the last trades wait for days, so one sweep an hour is enough.
    const pauseMs = engine.now() < busyUntil + 2 * HOUR_MS ? SWEEP_MS : HOUR_MS
    if (nextMs !== undefined)
      engine.at(Math.max(nextMs, engine.now() + pauseMs), () => sweep(scene, busyUntil))
  })
}

/**
 * Looks through the histories of all bots at these times, and again one and two minutes later, because one look reads
 * only a few pages of each.
 */
export function sweepHistory(scene: Scene, times: readonly number[]): void {
  for (const time of times.flatMap((at) => [0, 1, 2].map((minutes) => at + minutes * MINUTE_MS))) {
    scene.engine.at(time, () => {
      const [process] = scene.processes.filter(({ isAlive }) => isAlive)
      if (process !== undefined) startInProcess(scene, () => sweepHistories(process.deps))
    })
  }
}
