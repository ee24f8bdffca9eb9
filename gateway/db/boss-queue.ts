import { randomUUID } from 'node:crypto'
import { fromKysely, type Job, type JobResult, PgBoss } from 'pg-boss'
import { systemClock, type TillClock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { Queue } from './queue.ts'

export type QueueOptions = {
  url: string
  log: Log
  /** The till's clock, which says when delayed jobs start. */
  clock?: Pick<TillClock, 'machineTime'>
  /** How often a worker looks for jobs without a notification; also how late a delayed job may start. */
  pollSeconds?: number
}

const SCHEMA = 'pgboss'
const DEAD = 'dead'
const STOP_MS = 10_000
/** pg-boss goes on at once after a full batch only if a batch is larger than one; else a backlog drains slowly. */
const BATCH = 2

/** A killed worker's job is free again after a minute; what fails five times over is put aside and logged. */
const QUEUE_RULES = {
  policy: 'short',
  notify: true,
  expireInSeconds: 60,
  retryLimit: 5,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 30,
  retentionSeconds: 7 * 86_400,
  deleteAfterSeconds: 3_600,
} as const

/** Starts the job queue in the schema `pgboss` of the database, creating it on the first start. */
export async function createQueue({
  url,
  log,
  clock = systemClock,
  pollSeconds = 1,
}: QueueOptions): Promise<Queue> {
  const boss = new PgBoss({
    connectionString: url,
    application_name: 'tradetill-queue',
    schema: SCHEMA,
    max: 6,
    schedule: false,
    useListenNotify: true,
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
  })
  boss.on('error', (error) => log.error({ err: error }, 'queue: trouble with the database'))
  await boss.start()
  await boss.createQueue(DEAD, { deleteAfterSeconds: 30 * 86_400 })
  await watchDeadLetters(boss, log)
  const ensured = new Set<string>()

  const ensure = async (name: string) => {
    if (ensured.has(name)) return
    await boss.createQueue(name, { ...QUEUE_RULES, deadLetter: DEAD })
    ensured.add(name)
  }

  return {
    ensure,
    send: async (tx, { queue, data, startAfter, singletonKey }) => {
      await boss.send(queue, data, {
        db: fromKysely(tx),
        singletonKey: waitingKey(singletonKey, startAfter),
        // pg-boss compares with the machine's clock. A job that the till's clock jumps over is found by its sweep.
        ...(startAfter && { startAfter: clock.machineTime(startAfter) }),
      })
    },
    work: async (name, handler, { concurrency = 4 } = {}) => {
      await ensure(name)
      const options = {
        batchSize: BATCH,
        localConcurrency: Math.ceil(concurrency / BATCH),
        burstWhenBatchFull: true,
        perJobResults: true,
        pollingIntervalSeconds: pollSeconds,
        notifyPollingIntervalSeconds: pollSeconds,
      } as const
      const run = (job: Job<unknown>) => settle(job, handler, log)
      const id = await boss.work(name, options, async (jobs: Job<unknown>[]) =>
        concurrency >= BATCH ? Promise.all(jobs.map(run)) : oneByOne(jobs, run),
      )
      return () => boss.offWork(name, { id, wait: true })
    },
    stop: () => boss.stop({ graceful: true, timeout: STOP_MS, close: true }),
  }
}

/** The policy `short` drops a second waiting job with the same key. A delayed job must not swallow one for now. */
function waitingKey(key: string | undefined, startAfter: Date | undefined): string {
  if (key === undefined) return randomUUID()
  return startAfter === undefined ? key : `${key}@${startAfter.toISOString()}`
}

async function settle(
  job: Job<unknown>,
  handler: (data: unknown) => Promise<void>,
  log: Log,
): Promise<JobResult> {
  try {
    await handler(job.data)
    return { id: job.id, status: 'completed' }
  } catch (error) {
    log.warn({ err: error, queue: job.name, job: job.id, attempt: job.retryCount }, 'queue: a job failed')
    return { id: job.id, status: 'failed' }
  }
}

async function oneByOne(
  jobs: Job<unknown>[],
  run: (job: Job<unknown>) => Promise<JobResult>,
): Promise<JobResult[]> {
  const results: JobResult[] = []
  for (const job of jobs) results.push(await run(job))
  return results
}

async function watchDeadLetters(boss: PgBoss, log: Log): Promise<void> {
  let count = 0
  await boss.work(DEAD, { batchSize: BATCH, pollingIntervalSeconds: 5 }, async (jobs: Job<unknown>[]) => {
    for (const job of jobs) {
      count += 1
      log.error({ job: job.id, data: job.data, count }, 'queue: a job failed for good')
    }
  })
}
