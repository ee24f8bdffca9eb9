/** The job queue: pg-boss, with consumers of our own. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { fromKysely, type Job, PgBoss } from 'pg-boss'
import { systemClock, type TillClock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { repeat } from '../kit/repeat.ts'
import { type ConnectionGroup, createConnectionGroup, KEEP_ALIVE } from './connections.ts'
import { type Consumer, createConsumer } from './consumer.ts'
import type { Queue } from './queue.ts'

export type QueueOptions = {
  url: string
  log: Log
  /** Converts the start of a delayed job from the till's time to the machine's, by which pg-boss starts it. */
  clock?: Pick<TillClock, 'machineTime' | 'machineNow'>
  /** How often to poll for jobs that no notification has announced. A delayed job may start this late. */
  pollSeconds?: number
  /** The process's connections, as a group that can be cut together. */
  connections?: ConnectionGroup
}

const SCHEMA = 'pgboss'
const DEAD = 'dead'
/** Tells every process which queue has a new job. */
const CHANNEL = 'till_queue'
/** How long to wait for running jobs when the process stops. */
const STOP_MS = 10_000
/** The deadline of a statement. pg-boss's own sweeps may take long on a long queue. */
const STATEMENT_MS = 120_000
/** One statement settles at most this many finished jobs. */
const MOST_SETTLED = 100

/**
 * A job that has not ended a minute after it began, such as one whose worker was killed, counts as failed. A job that
 * still fails after five retries moves to the queue `dead` and is logged.
 */
const QUEUE_RULES = {
  policy: 'short',
  expireInSeconds: 60,
  retryLimit: 5,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 30,
  retentionSeconds: 7 * 86_400,
  deleteAfterSeconds: 3_600,
} as const

/** Creates or updates the tables of the queue. The role in `url` must be allowed to. */
export async function installQueue({ url, log }: Pick<QueueOptions, 'url' | 'log'>): Promise<void> {
  const boss = new PgBoss({
    connectionString: url,
    schema: SCHEMA,
    max: 1,
    schedule: false,
    supervise: false,
  })
  boss.on('error', (error) => log.error({ err: error }, 'queue had a database error'))
  await boss.start()
  await boss.stop({ graceful: false, close: true })
}

/** Starts the job queue in the database's schema `pgboss`. The first start creates the schema. */
export async function createQueue({
  url,
  log,
  clock = systemClock,
  pollSeconds = 1,
  connections = createConnectionGroup(),
}: QueueOptions): Promise<Queue> {
  // pg-boss passes its options on to pg's pool.
  const pool = { Client: connections.clientWith(STATEMENT_MS), ...KEEP_ALIVE }
  const boss = new PgBoss({
    ...pool,
    connectionString: url,
    application_name: 'tradetill-queue',
    schema: SCHEMA,
    // Counted in docs/scaling.md, which says how many connections a gateway opens.
    max: 6,
    schedule: false,
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
  })
  boss.on('error', (error) => log.error({ err: error }, 'queue had a database error'))
  await boss.start()
  await boss.createQueue(DEAD, { deleteAfterSeconds: 30 * 86_400 })
  const consumers = await startConsumers({ boss, log, pollSeconds })
  consumers.start(DEAD, { places: 1, run: (job) => logDeadLetter(log, job) })
  const ensured = new Set<string>()

  const ensure = async (name: string) => {
    if (ensured.has(name)) return
    await boss.createQueue(name, { ...QUEUE_RULES, deadLetter: DEAD })
    ensured.add(name)
  }

  return {
    ensure,
    send: async (tx, { queue, data, startAfter, singletonKey, urgent = false }) => {
      // pg-boss compares with the machine's clock. If the till's clock jumps past a job, a sweep finds the work.
      const startAt = startAfter && clock.machineTime(startAfter)
      const isDelayed = startAt !== undefined && startAt > clock.machineNow()
      await boss.send(queue, data, {
        db: fromKysely(tx),
        singletonKey: waitingKey(singletonKey, startAfter),
        priority: urgent ? 1 : 0,
        ...(isDelayed && { startAfter: startAt }),
      })
      if (!isDelayed) await sql`select pg_notify(${CHANNEL}, ${queue})`.execute(tx)
    },
    work: async (name, handler, { concurrency: places = 4 } = {}) => {
      await ensure(name)
      return consumers.start(name, { places, run: ({ data }) => handler(data) })
    },
    async stop() {
      await consumers.stop()
      await boss.stop({ graceful: true, timeout: STOP_MS, close: true })
    },
  }
}

/**
 * The policy `short` drops a second waiting job with the same key. The key of a delayed job contains its time, so an
 * immediate job is kept beside it.
 */
function waitingKey(key: string | undefined, startAfter: Date | undefined): string {
  if (key === undefined) return randomUUID()
  return startAfter === undefined ? key : `${key}@${startAfter.toISOString()}`
}

type Work = { places: number; run(job: Job<unknown>): Promise<void> }

/**
 * Each of pg-boss's own workers polls for itself, and a bot needs several. Here one statement polls all queues of the
 * process, and finds those that have jobs.
 */
async function startConsumers({ boss, log, pollSeconds }: { boss: PgBoss; log: Log; pollSeconds: number }) {
  const consumers = new Map<string, Set<Consumer>>()
  const wake = (name: string) => {
    for (const consumer of consumers.get(name) ?? []) consumer.wake()
  }
  const wakeAll = () => {
    for (const name of consumers.keys()) wake(name)
  }
  const db = boss.getDb()
  const listening = await db
    .listen?.(CHANNEL, wake, wakeAll)
    .catch((error: unknown) =>
      log.warn({ err: error }, 'queue could not listen for notifications: it finds jobs by polling only'),
    )
  const polling = repeat(
    { name: 'look for jobs', everyMs: pollSeconds * 1_000, log, atOnce: false },
    async () => {
      const { rows } = await db.executeSql(READY, [[...consumers.keys()]])
      for (const { name } of rows) wake(String(name))
    },
  )

  const start = (name: string, { places, run }: Work) => {
    const settle = createSettler(boss, name)
    const consumer = createConsumer<Job<unknown>>({
      places,
      take: (most) => boss.fetch(name, { batchSize: most }),
      run: async (job) => {
        const isDone = await run(job).then(
          () => true,
          (error: unknown) => {
            const about = { err: error, queue: name, job: job.id, attempt: job.retryCount }
            log.warn(about, 'queue job failed')
            return false
          },
        )
        await settle(job, isDone).catch((error: unknown) =>
          log.error({ err: error, queue: name, job: job.id }, 'queue job could not be settled'),
        )
      },
      onError: (error) => log.error({ err: error, queue: name }, 'queue jobs could not be taken'),
    })
    const queueConsumers = consumers.get(name) ?? new Set()
    consumers.set(name, queueConsumers.add(consumer))
    consumer.wake()
    return async () => {
      queueConsumers.delete(consumer)
      if (queueConsumers.size === 0 && consumers.get(name) === queueConsumers) consumers.delete(name)
      await consumer.stop()
    }
  }
  return {
    start,
    async stop() {
      const stopping = [...consumers.values()].flatMap((ofQueue) =>
        [...ofQueue].map((consumer) => consumer.stop()),
      )
      consumers.clear()
      await polling.stop()
      await Promise.race([Promise.all(stopping), delay(STOP_MS, undefined, { ref: false })])
      await listening?.close()
    },
  }
}

/** Selects the queues that have a due job. */
const READY = `
  select name from unnest($1::text[]) queue (name) where exists (
    select from ${SCHEMA}.job where job.name = queue.name and job.state < 'active' and not job.blocked
      and job.start_after <= ${SCHEMA}.job_now())`

type EndedJob = { job: Job<unknown>; isDone: boolean; settled: PromiseWithResolvers<void> }

/** Settles jobs. Jobs that end while a statement runs share the next statement. */
function createSettler(boss: PgBoss, name: string) {
  const waiting: EndedJob[] = []
  let isBusy = false

  const settleAll = async (batch: readonly EndedJob[], isDone: boolean) => {
    const jobs = batch.filter((ended) => ended.isDone === isDone).map(({ job }) => job)
    if (jobs.length > 0) await (isDone ? boss.complete(name, jobs) : boss.fail(name, jobs))
  }
  const settleWaiting = async () => {
    if (isBusy) return
    isBusy = true
    for (
      let batch = waiting.splice(0, MOST_SETTLED);
      batch.length > 0;
      batch = waiting.splice(0, MOST_SETTLED)
    ) {
      const outcome = Promise.all([settleAll(batch, true), settleAll(batch, false)])
      for (const { settled } of batch) settled.resolve(outcome.then(() => {}))
      // The promises of the jobs report a failure.
      await outcome.catch(() => {})
    }
    isBusy = false
  }
  return (job: Job<unknown>, isDone: boolean): Promise<void> => {
    const settled = Promise.withResolvers<void>()
    waiting.push({ job, isDone, settled })
    void settleWaiting()
    return settled.promise
  }
}

async function logDeadLetter(log: Log, job: Job<unknown>): Promise<void> {
  log.error({ job: job.id, data: job.data }, 'queue job was given up after its last attempt')
}
