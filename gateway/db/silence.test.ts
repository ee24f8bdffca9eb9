/** A database that vanishes without a word, and comes back: what waits on it, and what is asked next. */
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { type CapturedLog, captureLog } from '../testing/log.ts'
import { type SilentProxy, startSilentProxy } from '../testing/silent-proxy.ts'
import { createQueue } from './boss-queue.ts'
import { type Database, openPool } from './client.ts'
import { createLines, DatabaseSilent, KEEP_ALIVE, type Lines, withDeadline } from './lines.ts'
import { createSignals } from './pg-signals.ts'
import { type Pulse, startPulse } from './pulse.ts'

let database: TestDatabase
let proxy: SilentProxy
let lines: Lines
let pool: Database
let captured: CapturedLog
let pulse: Pulse | undefined

beforeEach(async () => {
  database = await testDatabase()
  proxy = await startSilentProxy(database.url)
  lines = createLines()
  pool = openPool({ url: proxy.url, size: 3, mode: 'live', lines })
  captured = captureLog()
})
afterEach(async () => {
  await pulse?.stop()
  pulse = undefined
  lines.cut('all')
  await pool.close()
  await proxy.close()
  await database.close()
})

const told = () => captured.lines.map((line) => JSON.parse(line).msg)
const one = () => pool.pool.query('select 1 as one')
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => error,
  )

/** Beats often: a test waits for what happens, and not for the seconds of a gateway. */
async function beat({ connectMs = 500 } = {}): Promise<Pulse> {
  const pace = { everyMs: 20, silentMs: 250, connectMs, againMs: 20 }
  const started = startPulse({ url: proxy.url, lines, log: captured.log, pace })
  await expect.poll(pids).toHaveLength(1)
  return started
}

/** Of the server's side of the pulse. */
async function pids(): Promise<number[]> {
  const { rows } = await database.pool.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'tradetill-pulse' and state = 'idle'
      and datname = current_database()`,
  )
  return rows.map(({ pid }) => pid)
}

describe('a statement', () => {
  it('that is not answered in time fails, and takes its connection with it', async () => {
    const Client = lines.clientWith(60)
    const line = new Client({ connectionString: proxy.url, ...KEEP_ALIVE })
    await line.connect()
    line.on('error', () => {})
    expect((await line.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    proxy.swallow()
    const [first, second] = [line.query('select 1'), line.query('select 2')]
    expect(await reasonOf(first)).toBeInstanceOf(DatabaseSilent)
    expect(await reasonOf(second)).toBeInstanceOf(DatabaseSilent)
    await expect.poll(() => proxy.counts().open).toBe(0)
    expect(lines.cut('all')).toBe(0)
  })

  it('may be given more time', async () => {
    const Client = lines.clientWith(60)
    const line = new Client({ connectionString: proxy.url })
    line.on('error', () => {})
    await line.connect()
    const slow = () => line.query('select pg_sleep(0.2)')
    expect(await reasonOf(withDeadline(line, 20_000, slow))).toBe('done')
    expect(await reasonOf(slow())).toBeInstanceOf(DatabaseSilent)
  })

  it('is answered at once where this process stalled over its deadline', async () => {
    const Client = lines.clientWith(60)
    // Past the proxy, which stalls with this process.
    const line = new Client({ connectionString: database.url })
    line.on('error', () => {})
    await line.connect()
    const asked = line.query('select 1 as one')
    // Sent, and answered while nobody looks.
    await new Promise(setImmediate)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    expect(await reasonOf(asked)).toBe('done')
    await line.end()
  })
})

describe('the pulse', () => {
  it('ends everything that waits for a database that fell silent, and all works once it is back', async () => {
    pulse = await beat()
    await one()
    const held = pool.db.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx)
      proxy.swallow()
      await sql`select 2`.execute(tx)
    })
    // More than the pool has places for: some wait for a connection.
    const waiting = Array.from({ length: 5 }, () => reasonOf(one()))
    expect(await reasonOf(held)).toBeInstanceOf(Error)
    await expect.poll(() => pulse?.isHere()).toBe(false)
    await expect.poll(told).toContain('the database is out of reach')
    // Begun while it is away: their connections hang until it is back.
    const begun = Array.from({ length: 3 }, () => reasonOf(one()))
    proxy.pass()
    await expect.poll(() => pulse?.isHere()).toBe(true)
    expect((await one()).rows).toEqual([{ one: 1 }])
    for (const reason of await Promise.all([...waiting, ...begun])) {
      expect(['done', 'Error', 'DatabaseSilent']).toContain(reason instanceof Error ? reason.name : reason)
    }
    expect(told().filter((line) => line === 'the database answers again')).toHaveLength(1)
  })

  it('replaces connections whose server is another by now, without a pause', async () => {
    pulse = await beat({ connectMs: 10_000 })
    await one()
    const client = await pool.pool.connect()
    proxy.replace()
    expect(await reasonOf(client.query('select 1'))).toBeInstanceOf(DatabaseSilent)
    client.release()
    expect((await one()).rows).toEqual([{ one: 1 }])
    expect(pulse.isHere()).toBe(true)
    expect(told()).toEqual(['connections to the database were silent and were replaced'])
  })

  it('leaves the connections alone where only its own ended', async () => {
    pulse = await beat()
    const before = await pids()
    const client = await pool.pool.connect()
    await client.query('begin')
    await database.pool.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [before])
    await expect.poll(async () => (await pids()).filter((pid) => !before.includes(pid))).toHaveLength(1)
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    client.release(true)
    expect(pulse.isHere()).toBe(true)
  })

  it('calls a server away that refuses connections, and notices when it takes them again', async () => {
    pulse = await beat()
    await one()
    proxy.refuse()
    await expect.poll(() => pulse?.isHere()).toBe(false)
    proxy.pass()
    await expect.poll(() => pulse?.isHere()).toBe(true)
    expect((await one()).rows).toEqual([{ one: 1 }])
  })
})

describe('jobs and signals', () => {
  it('come again after a silence', async () => {
    const signals = await createSignals({ url: proxy.url, log: captured.log, lines })
    const queue = await createQueue({ url: proxy.url, log: captured.log, lines, pollSeconds: 0.05 })
    pulse = await beat()
    const done: unknown[] = []
    await queue.work('after-silence', async (data) => void done.push(data))
    proxy.swallow()
    await expect.poll(() => pulse?.isHere()).toBe(false)
    proxy.pass()
    await expect.poll(() => pulse?.isHere()).toBe(true)
    await pool.db.transaction().execute((tx) => queue.send(tx, { queue: 'after-silence', data: { n: 1 } }))
    await expect.poll(() => done).toEqual([{ n: 1 }])
    const looks: string[] = []
    const look = async () => (looks.push('look') > 1 ? 'found' : undefined)
    const found = signals.until('silence:1', look, { timeoutMs: 60_000 })
    await pool.db.transaction().execute((tx) => signals.notify(tx, 'silence:1'))
    expect(await found).toBe('found')
    await queue.stop()
    await signals.close()
  })

  it('are listened for by one connection, however often it could not be opened', async () => {
    const signals = await createSignals({ url: proxy.url, log: captured.log, lines })
    const { tried } = proxy.counts()
    proxy.refuse()
    await expect.poll(() => proxy.counts().tried, { timeout: 20_000 }).toBeGreaterThanOrEqual(tried + 4)
    proxy.pass()
    const listening = `select pid from pg_stat_activity where application_name = 'tradetill-signals'
      and datname = current_database() and query like 'listen%' and state = 'idle'`
    await expect.poll(async () => (await database.pool.query(listening)).rows).toHaveLength(1)
    expect(proxy.counts().open).toBe(1)
    await signals.close()
  })
})
