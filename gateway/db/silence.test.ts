/** Waiting statements and new ones while a database is silent, and after it is back. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { type CapturedLog, captureLog } from '../testing/log.ts'
import { type SilentProxy, startSilentProxy } from '../testing/silent-proxy.ts'
import { createQueue } from './boss-queue.ts'
import { type Database, openPool } from './client.ts'
import {
  type ConnectionGroup,
  createConnectionGroup,
  DatabaseSilent,
  KEEP_ALIVE,
  withStatementDeadline,
} from './connections.ts'
import { createSignals } from './pg-signals.ts'
import { type Pulse, startPulse } from './pulse.ts'

let database: TestDatabase
let proxy: SilentProxy
let connections: ConnectionGroup
let pool: Database
let captured: CapturedLog
let pulse: Pulse | undefined

beforeEach(async () => {
  database = await testDatabase()
  proxy = await startSilentProxy(database.url)
  connections = createConnectionGroup()
  pool = openPool({ url: proxy.url, size: 3, mode: 'live', connections })
  captured = captureLog()
})
afterEach(async () => {
  await pulse?.stop()
  pulse = undefined
  connections.cut('all')
  await pool.close()
  await proxy.close()
  await database.close()
})

const messages = () => captured.lines.map((line) => JSON.parse(line).msg)
const selectOne = () => pool.pool.query('select 1 as one')
const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => error,
  )

/**
 * Beats more often than a gateway's pulse, so tests do not have to wait for seconds. A busy machine can look silent, so
 * a test that wants no silence passes long timeouts.
 */
async function startFastPulse({ silentMs = 250, connectMs = 1_500 } = {}): Promise<Pulse> {
  const pace = { everyMs: 20, silentMs, connectMs, nextAttemptMs: 500, againMs: 20 }
  const started = startPulse({ url: proxy.url, connections, log: captured.log, pace })
  await expect.poll(pids).toHaveLength(1)
  return started
}

/** Returns the ids of the server processes of the pulse's idle connections. */
async function pids(): Promise<number[]> {
  const { rows } = await database.pool.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'tradetill-pulse' and state = 'idle'
      and datname = current_database()`,
  )
  return rows.map(({ pid }) => pid)
}

describe('a statement', () => {
  const DEADLINE_MS = 60
  const connected = async (url: string) => {
    const Client = connections.clientWith(DEADLINE_MS)
    const connection = new Client({ connectionString: url, ...KEEP_ALIVE })
    // The statements report a cut connection.
    connection.on('error', () => {})
    await connection.connect()
    return connection
  }
  const stopTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  afterEach(() => void vi.useRealTimers())

  it('that is not answered in time fails and ends its connection', async () => {
    const connection = await connected(proxy.url)
    stopTime()
    expect((await connection.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    proxy.swallow()
    const [first, second] = [connection.query('select 1'), connection.query('select 2')]
    await vi.advanceTimersByTimeAsync(DEADLINE_MS)
    expect(await outcomeOf(first)).toBeInstanceOf(DatabaseSilent)
    expect(await outcomeOf(second)).toBeInstanceOf(DatabaseSilent)
    await expect.poll(() => proxy.counts().open).toBe(0)
    expect(connections.cut('all')).toBe(0)
  })

  it('can be given more time', async () => {
    const connection = await connected(proxy.url)
    const holder = await database.pool.connect()
    stopTime()
    await holder.query('select pg_advisory_lock(1)')
    const slow = () => connection.query('select pg_advisory_xact_lock(1)')
    const withMoreTime = outcomeOf(withStatementDeadline(connection, 20_000, slow))
    await expect.poll(waitingForLock).toBe(1)
    await vi.advanceTimersByTimeAsync(10_000)
    await holder.query('select pg_advisory_unlock(1)')
    expect(await withMoreTime).toBe('done')
    await holder.query('select pg_advisory_lock(1)')
    const withUsualTime = outcomeOf(slow())
    await expect.poll(waitingForLock).toBe(1)
    await vi.advanceTimersByTimeAsync(DEADLINE_MS)
    expect(await withUsualTime).toBeInstanceOf(DatabaseSilent)
    await holder.query('select pg_advisory_unlock(1)')
    holder.release()
  })

  it('gets its answer even if this process stalled beyond the deadline', async () => {
    // Connects without the proxy, which would stall with this process.
    const connection = await connected(database.url)
    const sharedMemory = new SharedArrayBuffer(4)
    const workerData = { url: database.url, pid: Reflect.get(connection, 'processID'), seen: sharedMemory }
    const watcher = new Worker(WATCHER, { eval: true, workerData })
    await once(watcher, 'message')
    const asked = connection.query('select 1 as one')
    watcher.postMessage('look')
    // The answer arrives while this process does not read.
    expect(Atomics.wait(new Int32Array(sharedMemory), 0, 0, 60_000)).not.toBe('timed-out')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, DEADLINE_MS + 10)
    expect(await outcomeOf(asked)).toBe('done')
    await connection.end()
    await watcher.terminate()
  })
})

async function waitingForLock(): Promise<number> {
  const { rows } = await database.pool.query(
    `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
  )
  return rows.length
}

/** Signals through shared memory that the server has answered, because the thread that sent the query stands still. */
const WATCHER = `
  const { parentPort, workerData: { url, pid, seen } } = require('node:worker_threads')
  const { Client } = require('pg')
  const client = new Client({ connectionString: url })
  const isAnswered = "select from pg_stat_activity where pid = $1 and state = 'idle' and query = 'select 1 as one'"
  parentPort.once('message', async () => {
    while ((await client.query(isAnswered, [pid])).rowCount === 0);
    await client.end()
    Atomics.store(new Int32Array(seen), 0, 1)
    Atomics.notify(new Int32Array(seen), 0)
  })
  client.connect().then(() => parentPort.postMessage('ready'))`

describe('the pulse', () => {
  it('ends everything that waits for a silent database, and statements work when the database is back', async () => {
    pulse = await startFastPulse()
    await selectOne()
    const held = pool.db.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx)
      proxy.swallow()
      await sql`select 2`.execute(tx)
    })
    // More than the pool has places for, so some wait for a connection.
    const waiting = Array.from({ length: 5 }, () => outcomeOf(selectOne()))
    expect(await outcomeOf(held)).toBeInstanceOf(Error)
    await expect.poll(() => pulse?.isHere()).toBe(false)
    await expect.poll(messages).toContain('database was out of reach')
    // Started while the database is away, so their connections hang until it is back.
    const begun = Array.from({ length: 3 }, () => outcomeOf(selectOne()))
    proxy.pass()
    await expect.poll(() => pulse?.isHere()).toBe(true)
    expect((await selectOne()).rows).toEqual([{ one: 1 }])
    for (const reason of await Promise.all([...waiting, ...begun])) {
      expect(['done', 'Error', 'DatabaseSilent']).toContain(reason instanceof Error ? reason.name : reason)
    }
    expect(messages().filter((line) => line === 'database answered again')).toHaveLength(1)
  })

  it('replaces connections to a replaced server, and does not report the database as away', async () => {
    pulse = await startFastPulse({ silentMs: 1_000, connectMs: 60_000 })
    await selectOne()
    const client = await pool.pool.connect()
    proxy.replace()
    expect(await outcomeOf(client.query('select 1'))).toBeInstanceOf(DatabaseSilent)
    client.release()
    expect((await selectOne()).rows).toEqual([{ one: 1 }])
    expect(pulse.isHere()).toBe(true)
    expect(messages()).toEqual(['connections to the database were silent and were replaced'])
  })

  it('does not cut a connection in use when only the pulse’s own connection ended', async () => {
    pulse = await startFastPulse({ silentMs: 60_000, connectMs: 60_000 })
    const before = await pids()
    const client = await pool.pool.connect()
    await client.query('begin')
    await database.pool.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [before])
    await expect.poll(async () => (await pids()).filter((pid) => !before.includes(pid))).toHaveLength(1)
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    client.release(true)
    expect(pulse.isHere()).toBe(true)
  })

  it('reports a server that refuses connections as away, and notices when it accepts them again', async () => {
    pulse = await startFastPulse()
    await selectOne()
    proxy.refuse()
    await expect.poll(() => pulse?.isHere()).toBe(false)
    proxy.pass()
    await expect.poll(() => pulse?.isHere()).toBe(true)
    expect((await selectOne()).rows).toEqual([{ one: 1 }])
  })

  it('notices that a server is back even while an attempt to connect hangs', async () => {
    pulse = await startFastPulse({ connectMs: 600_000 })
    proxy.refuse()
    await expect.poll(() => pulse?.isHere()).toBe(false)
    const { tried } = proxy.counts()
    proxy.swallow()
    await expect.poll(() => proxy.counts().tried).toBeGreaterThan(tried)
    proxy.pass()
    await expect.poll(() => pulse?.isHere()).toBe(true)
    expect((await selectOne()).rows).toEqual([{ one: 1 }])
  })
})

describe('jobs and signals', () => {
  it('work again after a silence', async () => {
    const signals = await createSignals({ url: proxy.url, log: captured.log, connections })
    const queue = await createQueue({ url: proxy.url, log: captured.log, connections, pollSeconds: 0.05 })
    pulse = await startFastPulse()
    const done: unknown[] = []
    await queue.work('after-silence', async (data) => void done.push(data))
    proxy.swallow()
    await expect.poll(() => pulse?.isHere()).toBe(false)
    proxy.pass()
    await expect.poll(() => pulse?.isHere()).toBe(true)
    await pool.db.transaction().execute((tx) => queue.send(tx, { queue: 'after-silence', data: { n: 1 } }))
    await expect.poll(() => done).toEqual([{ n: 1 }])
    let looks = 0
    const look = async () => {
      looks += 1
      return looks > 1 ? 'found' : undefined
    }
    const checkResult = signals.until('silence:1', look, { timeoutMs: 60_000 })
    await pool.db.transaction().execute((tx) => signals.notify(tx, 'silence:1'))
    expect(await checkResult).toBe('found')
    await queue.stop()
    await signals.close()
  })
})

describe('signals', () => {
  it('are received by one connection, however often opening it failed', async () => {
    const signals = await createSignals({ url: proxy.url, log: captured.log, connections })
    const { tried } = proxy.counts()
    proxy.refuse()
    await expect.poll(() => proxy.counts().tried).toBeGreaterThanOrEqual(tried + 4)
    proxy.pass()
    const listening = `select pid from pg_stat_activity where application_name = 'tradetill-signals'
      and datname = current_database() and query like 'listen%' and state = 'idle'`
    await expect.poll(async () => (await database.pool.query(listening)).rows).toHaveLength(1)
    expect(proxy.counts().open).toBe(1)
    await signals.close()
  })
})
