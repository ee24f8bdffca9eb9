import { Socket } from 'node:net'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { isCrowded, isPoolTimeout, openDatabase } from './client.ts'

let database: TestDatabase

beforeEach(async () => {
  database = await testDatabase()
})
afterEach(() => database.close())

test('a connection that breaks inside a transaction ends the transaction, not the process', async () => {
  const { db } = database
  const broken = db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
    const pid = rows[0]?.pid ?? 0
    await sql`select pg_terminate_backend(${pid})`.execute(db)
    const backends = async () => (await sql`select from pg_stat_activity where pid = ${pid}`.execute(db)).rows
    await expect.poll(backends).toEqual([])
    await sql`select 1`.execute(tx)
  })
  await expect(broken).rejects.toThrow()
  expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }])
})

test('a pool is crowded if at least the given number of queries waits for a connection', async () => {
  const single = openDatabase(database.url, 1)
  const held = await single.pool.connect()
  const waiting = [single.pool.query('select 1'), single.pool.query('select 1')]
  expect([isCrowded(single, 2), isCrowded(single, 3)]).toEqual([true, false])
  held.release()
  await Promise.all(waiting)
  expect(isCrowded(single, 1)).toBe(false)
  await single.close()
})

test('a timeout of the pool is distinguished from the error of a query', async () => {
  const single = openDatabase(database.url, 1)
  const held = await single.pool.connect()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const reasonOf = (query: Promise<unknown>) => query.catch((reason: unknown) => reason)
  const waiting = reasonOf(single.pool.query('select 1'))
  vi.advanceTimersByTime(10_000)
  vi.useRealTimers()
  const queryError = await reasonOf(held.query('select nothing'))
  expect([await waiting, queryError].map(isPoolTimeout)).toEqual([true, false])
  held.release()
  await single.close()
})

test('a connection asks Node to try the next address of the database’s host after 250 ms, whatever the process’s default', async () => {
  const connecting = vi.spyOn(Socket.prototype, 'connect')
  onTestFinished(() => connecting.mockRestore())
  const single = openDatabase(database.url, 1)
  await single.pool.query('select 1')
  await single.close()
  const { hostname, port } = new URL(database.url)
  const options = { host: hostname, port: Number(port), autoSelectFamilyAttemptTimeout: 250 }
  expect(connecting.mock.calls).toEqual([[options]])
})
