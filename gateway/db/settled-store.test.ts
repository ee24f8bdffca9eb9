/** The settled number of a table: no row with a smaller number can still appear. */
import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startTill, type Till } from '../testing/till.ts'
import { settledId } from './settled-store.ts'

/** Inserts an entry without the rows that the table refers to, which do not matter here. */
const ENTRY = `insert into custody_entry (trade_id, asset_id, bot_id, moved) values (1, gen_random_uuid(), 1, 'in')
  returning id::text as id`

let till: Till
let early: pg.Client
let late: pg.Client

beforeEach(async () => {
  till = await startTill()
  early = await connected()
  late = await connected()
})
afterEach(async () => {
  await early.end()
  await late.end()
  await till.close()
})

async function connected() {
  const client = new pg.Client({ connectionString: till.url })
  await client.connect()
  await client.query('set session_replication_role = replica')
  return client
}

const entryBy = async (client: pg.Client) => (await client.query<{ id: string }>(ENTRY)).rows[0]?.id

/**
 * Returns the settled number, and how many times the locks were read. `beforeRead` runs before each of these reads.
 * `mostRereads`: the most reads after the first.
 */
async function settledAfter(beforeRead: (read: number) => Promise<unknown>, mostRereads?: number) {
  let reads = 0
  const ask = async (statement: string) => {
    if (statement.includes('pg_locks')) {
      reads += 1
      await beforeRead(reads)
    }
    return late.query(statement)
  }
  const id = await settledId(ask, 'custody_entry', mostRereads)
  return { id, reads }
}

it('the settled number is 0 if nothing was ever written', async () => {
  expect(await settledAfter(async () => {})).toEqual({ id: '0', reads: 1 })
})

it('the settled number becomes the newest number when the transaction with an earlier number has ended', async () => {
  await early.query('begin')
  const [earlier, newest] = [await entryBy(early), await entryBy(late)]
  const settled = await settledAfter(async (read) => {
    if (read === 3) await early.query('commit')
  })
  expect(settled).toEqual({ id: newest, reads: 3 })
  expect(Number(earlier)).toBeLessThan(Number(newest))
})

it('the settled number excludes rows uncommitted when the search began, and the search ignores later transactions', async () => {
  const newest = await entryBy(late)
  await early.query('begin')
  await entryBy(early)
  const another = await connected()
  const settled = await settledAfter(async (read) => {
    if (read !== 2) return
    await another.query('begin')
    await entryBy(another)
    await early.query('commit')
  })
  await another.end()
  expect(settled).toEqual({ id: newest, reads: 2 })
})

it('the settled number is unknown while a writing transaction stays open', async () => {
  await early.query('begin')
  await entryBy(early)
  expect(await settledAfter(async () => {}, 2)).toEqual({ id: undefined, reads: 3 })
})

it('the search for the settled number waits for no transaction that writes to another table, or only reads', async () => {
  await early.query('begin')
  await early.query('select from custody_entry')
  await early.query('update bot set name = name')
  expect((await settledAfter(async () => {}, 0)).id).toBe('0')
})
