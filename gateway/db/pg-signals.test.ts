import { afterEach, beforeEach, describe, expect, test } from 'vitest'
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
  await signals.close()
  await database.close()
})

const notify = (topic: string) => database.db.transaction().execute((tx) => signals.notify(tx, topic))

/** A check that finds its value from the given look on. */
function foundAtLook(n: number) {
  let looks = 0
  return async () => {
    looks += 1
    return looks >= n ? 'found' : undefined
  }
}

describe('signals', () => {
  test('looks at once', async () => {
    expect(await signals.until('trade:1', foundAtLook(1), 5_000)).toBe('found')
  })

  test('a notification wakes long before the next look of itself', async () => {
    const start = performance.now()
    const waiting = signals.until('trade:1', foundAtLook(2), 5_000)
    await notify('trade:1')
    expect(await waiting).toBe('found')
    expect(performance.now() - start).toBeLessThan(800)
  })

  test('a notification of another topic does not wake', async () => {
    const start = performance.now()
    const waiting = signals.until('trade:1', foundAtLook(2), 300)
    await notify('trade:2')
    expect(await waiting).toBe('found')
    expect(performance.now() - start).toBeGreaterThan(250)
  })

  test('looks once a second even where no notification comes', async () => {
    expect(await signals.until('trade:1', foundAtLook(2), 5_000)).toBe('found')
  })

  test('gives up when the time has passed, and when the caller aborts', async () => {
    expect(await signals.until('trade:1', foundAtLook(99), 50)).toBeUndefined()
    expect(await signals.until('trade:1', foundAtLook(99), 5_000, AbortSignal.timeout(50))).toBeUndefined()
  })

  test('listens again after its connection was cut', async () => {
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'tradetill-signals' and datname = current_database()`
    await database.pool.query(cut)
    const listening = `select 1 from pg_stat_activity
      where application_name = 'tradetill-signals' and datname = current_database() and query like 'listen%'`
    await expect.poll(async () => (await database.pool.query(listening)).rowCount, { timeout: 5_000 }).toBe(1)
    const start = performance.now()
    const waiting = signals.until('trade:1', foundAtLook(2), 5_000)
    await notify('trade:1')
    expect(await waiting).toBe('found')
    expect(performance.now() - start).toBeLessThan(800)
  })
})
