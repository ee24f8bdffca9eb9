import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { captureLog } from '../testing/log.ts'
import { createSignals } from './pg-signals.ts'
import type { Signals } from './signals.ts'

let database: TestDatabase
let signals: Signals

beforeEach(async () => {
  database = await testDatabase()
  signals = await createSignals({ url: database.url, log: captureLog().log })
})

afterEach(async () => {
  vi.useRealTimers()
  await signals.close()
  await database.close()
})

const notify = (topic: string) => database.db.transaction().execute((tx) => signals.notify(tx, topic))

const HOUR_MS = 3_600_000

/** Stops the clock, so only a wake-up lets anything continue. */
const stopTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })

/** A check that finds nothing before its `n`th call. It counts its calls. */
function foundAtCall(n: number) {
  const check = async () => {
    check.calls += 1
    return check.calls >= n ? 'found' : undefined
  }
  check.calls = 0
  return check
}

describe('signals', () => {
  test('run the check immediately, without a notification', async () => {
    stopTime()
    expect(await signals.until('trade:1', foundAtCall(1), { timeoutMs: HOUR_MS })).toBe('found')
  })

  test('wake on a notification before the next check is due', async () => {
    stopTime()
    const waiting = signals.until('trade:1', foundAtCall(2), { timeoutMs: HOUR_MS })
    await notify('trade:1')
    expect(await waiting).toBe('found')
  })

  test('do not wake on a notification of another topic', async () => {
    stopTime()
    const [waitingCheck, witnessCheck] = [foundAtCall(2), foundAtCall(2)]
    const waiting = signals.until('trade:1', waitingCheck, { timeoutMs: HOUR_MS })
    const witness = signals.until('trade:2', witnessCheck, { timeoutMs: HOUR_MS })
    await notify('trade:2')
    expect(await witness).toBe('found')
    // Gives another waiter, if it was woken too, the time to check.
    await nextTurn()
    expect(waitingCheck.calls).toBe(1)
    await notify('trade:1')
    expect(await waiting).toBe('found')
  })

  test('repeat the check once a second even without a notification', async () => {
    stopTime()
    const check = foundAtCall(3)
    const waiting = signals.until('trade:1', check, { timeoutMs: HOUR_MS })
    await vi.advanceTimersByTimeAsync(999)
    expect(check.calls).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(check.calls).toBe(2)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await waiting).toBe('found')
  })

  test('give up when their time has passed or the caller aborts', async () => {
    stopTime()
    const check = foundAtCall(99)
    const waiting = signals.until('trade:1', check, { timeoutMs: 2_500 })
    await vi.advanceTimersByTimeAsync(2_500)
    expect(await waiting).toBeUndefined()
    // Checks immediately, after one second, after two, and once more at the end.
    expect(check.calls).toBe(4)
    const ending = new AbortController()
    const aborted = signals.until('trade:1', foundAtCall(99), { timeoutMs: HOUR_MS, signal: ending.signal })
    ending.abort()
    expect(await aborted).toBeUndefined()
  })

  const listening = async (): Promise<number[]> => {
    const { rows } = await database.pool.query<{ pid: number }>(`select pid from pg_stat_activity
      where application_name = 'tradetill-signals' and datname = current_database()
        and query like 'listen%' and state = 'idle'`)
    return rows.map(({ pid }) => pid)
  }
  /** Ends the connection that listens, and resolves once another one does. */
  const cutConnection = async (): Promise<void> => {
    const before = await listening()
    await database.pool.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [before])
    const again = async () => (await listening()).filter((pid) => !before.includes(pid))
    await expect.poll(again, { message: 'a connection that listens again' }).toHaveLength(1)
  }

  test('listen again after their connection was cut', async () => {
    await cutConnection()
    stopTime()
    const waiting = signals.until('trade:1', foundAtCall(2), { timeoutMs: HOUR_MS })
    await notify('trade:1')
    expect(await waiting).toBe('found')
  })

  test('close every connection on which they cannot listen, such as one to a replica', async () => {
    const query = pg.Client.prototype.query
    let refusals = 0
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
      const isRefused = String(args[0]).startsWith('listen') && refusals < 3
      if (!isRefused) return Reflect.apply(query, this, args)
      refusals += 1
      return Promise.reject(new Error('cannot execute LISTEN during recovery'))
    })
    onTestFinished(() => void vi.restoreAllMocks())
    await cutConnection()
    expect(refusals).toBe(3)
    const open = async () =>
      (
        await database.pool.query(`select from pg_stat_activity
          where application_name = 'tradetill-signals' and datname = current_database()`)
      ).rowCount
    await expect.poll(open).toBe(1)
  })
})
