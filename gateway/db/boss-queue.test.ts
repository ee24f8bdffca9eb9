import pg from 'pg'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTillClock } from '../kit/clock.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { type CapturedLog, captureLog } from '../testing/log.ts'
import { createQueue } from './boss-queue.ts'
import type { Queue } from './queue.ts'

let database: TestDatabase
let captured: CapturedLog
let queue: Queue
let seen: unknown[]

beforeEach(async () => {
  database = await testDatabase()
  captured = captureLog()
  queue = await createQueue({ url: database.url, log: captured.log })
  await queue.ensure('bell')
  seen = []
})

/** Polls only once an hour, so a test that calls this cannot pass by polling. */
async function pollHourly(): Promise<void> {
  await queue.stop()
  queue = await createQueue({ url: database.url, log: captured.log, pollSeconds: 3_600 })
}

afterEach(async () => {
  await queue.stop()
  await database.close()
})

const collect = async (data: unknown) => {
  seen.push(data)
}
const ring = (data: object, options = {}) =>
  database.db.transaction().execute((tx) => queue.send(tx, { queue: 'bell', data, ...options }))

describe('the queue', () => {
  test('keeps a job only if its transaction commits', async () => {
    await database.db
      .transaction()
      .execute(async (tx) => {
        await queue.send(tx, { queue: 'bell', data: { from: 'rolled back' } })
        throw new Error('no')
      })
      // The error is the test's own: it rolls the job back.
      .catch(() => {})
    await ring({ from: 'committed' })
    await queue.work('bell', collect)
    await expect.poll(() => seen).toEqual([{ from: 'committed' }])
  })

  test('D-40 starts a delayed job when the advanced clock reaches its time', async () => {
    await queue.stop()
    const clock = createTillClock()
    clock.advanceTo(8 * 86_400_000)
    queue = await createQueue({ url: database.url, log: captured.log, clock })
    // Comes first: a queue that ignored its time would start it first.
    await ring({ n: 2 }, { startAfter: new Date(clock.now().getTime() + 3_600_000) })
    await ring({ n: 1 }, { startAfter: clock.now() })
    await queue.work('bell', collect)
    await expect.poll(() => seen).toEqual([{ n: 1 }])
  })

  test('keeps one waiting job for each key, but accepts an immediate job beside a delayed one', async () => {
    await ring({ n: 1 }, { singletonKey: 'a', startAfter: new Date(Date.now() + 3_600_000) })
    await ring({ n: 2 }, { singletonKey: 'a' })
    await ring({ n: 3 }, { singletonKey: 'a' })
    await ring({ n: 4 }, { singletonKey: 'b' })
    await ring({ n: 5 })
    await ring({ n: 6 })
    await queue.work('bell', collect)
    await expect.poll(() => seen).toHaveLength(4)
    expect(seen).toEqual(expect.arrayContaining([{ n: 2 }, { n: 4 }, { n: 5 }, { n: 6 }]))
  })

  test('wakes a waiting worker immediately', async () => {
    await pollHourly()
    await queue.work('bell', collect)
    await ring({ n: 1 })
    await expect.poll(() => seen).toHaveLength(1)
    await ring({ n: 2 })
    await expect.poll(() => seen).toHaveLength(2)
  })

  test('drains a backlog without waiting for polls', async () => {
    await pollHourly()
    for (let n = 0; n < 60; n += 1) await ring({ n })
    await queue.work('bell', collect)
    await expect.poll(() => seen).toHaveLength(60)
  })

  test('wakes a worker for a job that is due when it is sent', async () => {
    await pollHourly()
    await queue.work('bell', collect)
    await ring({ n: 1 }, { singletonKey: 'a', startAfter: new Date() })
    await expect.poll(() => seen).toHaveLength(1)
  })

  test('finds a job that was sent while notifications were cut off, once they are back', async () => {
    await pollHourly()
    await queue.work('bell', collect)
    await ring({ n: 1 })
    await expect.poll(() => seen).toHaveLength(1)
    const cut = await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'tradetill-queue' and query ilike 'listen%'`,
    )
    expect(cut.rowCount).toBe(1)
    await ring({ n: 2 })
    await expect.poll(() => seen).toHaveLength(2)
  })

  test('runs an urgent job before jobs that have waited longer', async () => {
    for (let n = 0; n < 5; n += 1) await ring({ n })
    await ring({ n: 'urgent' }, { urgent: true })
    await queue.work('bell', collect, { concurrency: 1 })
    await expect.poll(() => seen).toHaveLength(6)
    expect(seen[0]).toEqual({ n: 'urgent' })
  })

  test('takes a job only if it can run immediately, and lets no slow job delay another', async () => {
    const slow = Promise.withResolvers<void>()
    onTestFinished(() => slow.resolve())
    const handle = async (data: unknown) => {
      seen.push(data)
      if (JSON.stringify(data).includes('slow')) await slow.promise
    }
    await ring({ n: 'slow 1' })
    await ring({ n: 'slow 2' })
    await queue.work('bell', handle, { concurrency: 3 })
    await expect.poll(() => seen).toHaveLength(2)
    for (let n = 0; n < 10; n += 1) await ring({ n })
    await expect.poll(() => seen).toHaveLength(12)
    await ring({ n: 'slow 3' })
    await expect.poll(() => seen).toHaveLength(13)
    await ring({ n: 'waits' })
    const running = () => database.pool.query("select from pgboss.job where state = 'active'")
    expect((await running()).rowCount).toBe(3)
    const otherQueue = await createQueue({ url: database.url, log: captured.log })
    onTestFinished(() => otherQueue.stop())
    const takenByOther: unknown[] = []
    await otherQueue.work('bell', async (data) => void takenByOther.push(data))
    await expect.poll(() => takenByOther).toEqual([{ n: 'waits' }])
  })

  test('looks for the jobs of 50 idle queues with one query', async () => {
    await queue.stop()
    queue = await createQueue({ url: database.url, log: captured.log, pollSeconds: 0.02 })
    const query = vi.spyOn(pg.Client.prototype, 'query')
    onTestFinished(() => query.mockRestore())
    const texts = () => query.mock.calls.map(([text]) => String(text))
    const lookCalls = () => query.mock.calls.filter(([text]) => String(text).includes('unnest'))
    const looks = () => lookCalls().length
    const fetches = () => texts().filter((text) => text.includes("name = 'idle.")).length
    for (let n = 0; n < 50; n += 1) await queue.work(`idle.${n}`, collect, { concurrency: 12 })
    await expect.poll(fetches).toBeGreaterThanOrEqual(50)
    const fetchesBefore = fetches()
    const looksBefore = looks()
    await expect.poll(looks).toBeGreaterThan(looksBefore + 5)
    expect(fetches()).toBe(fetchesBefore)
    const names = Array.from({ length: 50 }, (_, n) => `idle.${n}`)
    expect(lookCalls().at(-1)?.flat(2)).toEqual(expect.arrayContaining(names))
  })

  test('runs a failed job again, but not a job that succeeded at the same time', async () => {
    await ring({ n: 'fails once' })
    await ring({ n: 'good' })
    let failures = 0
    await queue.work('bell', async (data) => {
      await collect(data)
      if (failures === 0 && JSON.stringify(data).includes('fails')) {
        failures += 1
        throw new Error('once')
      }
    })
    await expect.poll(() => seen).toHaveLength(3)
    expect(seen.filter((data) => JSON.stringify(data).includes('good'))).toHaveLength(1)
    expect(captured.lines.join('')).toContain('job failed')
  })

  test('runs jobs one after the other with concurrency 1', async () => {
    let running = 0
    let most = 0
    for (let n = 0; n < 6; n += 1) await ring({ n })
    await queue.work(
      'bell',
      async (data) => {
        running += 1
        most = Math.max(most, running)
        // Gives any job that could run at the same time the chance to start.
        await database.pool.query('select 1')
        running -= 1
        seen.push(data)
      },
      { concurrency: 1 },
    )
    await expect.poll(() => seen).toHaveLength(6)
    expect(most).toBe(1)
  })

  test('gives a stopped worker no further jobs', async () => {
    const stop = await queue.work('bell', collect)
    await stop()
    await ring({ n: 1 })
    const others: unknown[] = []
    await queue.work('bell', async (data) => {
      others.push(data)
    })
    await expect.poll(() => others).toHaveLength(1)
    expect(seen).toEqual([])
  })
})
