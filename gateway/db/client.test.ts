import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/database.ts'

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
    const isGone = async () => (await sql`select from pg_stat_activity where pid = ${pid}`.execute(db)).rows
    await expect.poll(isGone).toEqual([])
    await sql`select 1`.execute(tx)
  })
  await expect(broken).rejects.toThrow()
  expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }])
})
