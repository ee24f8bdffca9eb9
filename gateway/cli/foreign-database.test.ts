import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimDatabase } from '../db/identity.ts'
import { fingerprintOf } from '../kit/secret-box.ts'
import { runCommand } from '../testing/command.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { openSmallPool } from './session.ts'

let database: TestDatabase
let folder: string

beforeEach(async () => {
  database = await testDatabase()
  folder = mkdtempSync(join(tmpdir(), 'tradetill-whose-'))
})
afterEach(async () => {
  await database.close()
  rmSync(folder, { recursive: true })
})

const KEY = Buffer.alloc(32, 7)
const COMMANDS = [
  ['store', 'add', '--name', 'Ember Forge', '--origin', 'https://store.example', '--risk-limit-usd', '0'],
  ['bot', 'list'],
  ['ledger', 'verify'],
]

/** Runs in a shell that has only the database's URL, an empty data folder and `env`. */
const inShell = (args: string[], env: Record<string, string> = {}) =>
  runCommand(args, { env: { DATABASE_URL: database.url, TRADETILL_DATA: folder, ...env } })

const storeCount = async () => (await sql`select from store`.execute(database.db)).rows.length

describe.each(COMMANDS)('%s %s', (...args) => {
  it('is refused on a live database if the shell sets only DATABASE_URL, and makes no master key', async () => {
    await claimDatabase(database.pool, { mode: 'live', keyFingerprint: fingerprintOf(KEY) })
    expect(await inShell(args)).toEqual({
      code: 4,
      out: '',
      errors:
        'This database belongs to a till in live mode, and these settings are for sandbox mode. Set TRADETILL_MODE=live, or DATABASE_URL to another database.\n',
    })
    expect([existsSync(join(folder, 'master.key')), await storeCount()]).toEqual([false, 0])
  })
})

describe('a command', () => {
  const [add = []] = COMMANDS

  it.each([
    ['without the master key', {}, 'and these settings have none.'],
    [
      'with another master key',
      { TRADETILL_MASTER_KEY: Buffer.alloc(32, 8).toString('hex') },
      'and these settings have ',
    ],
  ])('%s is refused, and writes nothing', async (_how, env, expected) => {
    await claimDatabase(database.pool, { mode: 'sandbox', keyFingerprint: fingerprintOf(KEY) })
    const { code, errors } = await inShell(add, env)
    expect({ code, errors }).toEqual({ code: 4, errors: expect.stringContaining(expected) })
    expect([existsSync(join(folder, 'master.key')), await storeCount()]).toEqual([false, 0])
  })

  it('before the first start of a gateway says to start one', async () => {
    const expected = 'No gateway of this version has started on this database yet. Start one first.\n'
    expect(await inShell(add)).toEqual({ code: 4, out: '', errors: expected })
    expect(existsSync(join(folder, 'master.key'))).toBe(false)
    await sql`drop schema public cascade; create schema public`.execute(database.db)
    expect(await inShell(add)).toEqual({ code: 4, out: '', errors: expected })
  })

  it('whose role may not read the tables, as right after a restore, says how the role gets its rights', async () => {
    const role = `new_role_${randomBytes(4).toString('hex')}`
    await database.pool.query(`create role ${role} login password 'secret'`)
    const asRole = Object.assign(new URL(database.url), { username: role, password: 'secret' }).href
    expect(await inShell(add, { DATABASE_URL: asRole })).toEqual({
      code: 4,
      out: '',
      errors: expect.stringContaining('Start a gateway with TRADETILL_OWNER_DATABASE_URL'),
    })
    await database.pool.query(`drop role ${role}`)
  })

  it('of an older version is refused with the name of the unknown migration', async () => {
    await claimDatabase(database.pool, { mode: 'sandbox', keyFingerprint: fingerprintOf(KEY) })
    await sql`insert into migration (name, sha256, oldest_version) values ('0999_later.sql', '', '99.0.0')`.execute(
      database.db,
    )
    const { code, errors } = await inShell(add, { TRADETILL_MASTER_KEY: KEY.toString('hex') })
    expect(code).toBe(4)
    expect(errors).toContain(
      'does not know: 0999_later.sql. A later version made it. Start version 99.0.0 or later',
    )
  })
})

it('a command does not end when its idle connection is cut', async () => {
  const pool = await openSmallPool(database.url)
  const { rows } = await pool.query('select pg_backend_pid() as pid')
  await database.pool.query('select pg_terminate_backend($1)', [rows[0].pid])
  await expect.poll(() => pool.totalCount).toBe(0)
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await pool.end()
})
