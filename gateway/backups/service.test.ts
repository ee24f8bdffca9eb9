import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { tryLock } from '../kit/lock.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { fakePrograms } from '../testing/fake-programs.ts'
import { checkCopy, checkDump, dump } from './service.ts'

const hex = (): string => randomBytes(6).toString('hex')
const NOW = new Date('2026-11-22T08:00:00Z')
const HOUR_MS = 3_600_000
const environment = { PATH: process.env.PATH }

let database: TestDatabase
let folder: string
let major: number
let file: string

beforeAll(async () => {
  database = await testDatabase()
  folder = mkdtempSync(join(tmpdir(), 'tradetill-check-dump-'))
  const { rows } = await sql<{ major: number }>`
    select current_setting('server_version_num')::int / 10000 as major`.execute(database.db)
  major = rows[0]?.major ?? 0
  file = join(folder, 'till.dump')
  writeFileSync(file, 'a dump')
})
beforeEach(() => fakePrograms(folder, major))
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await database.close()
})

/** `key`: the byte that fills the master key of the settings. */
function check(serverUrl: string, key = 7) {
  const claim = { mode: 'sandbox', masterKey: Buffer.alloc(32, key), oldMasterKeys: [] } as const
  return checkDump(file, { serverUrl, claim, at: NOW, folder, environment })
}

it('a long check of a dump leaves no database behind, even if idle connections are ended', async () => {
  const restore = join(folder, 'pg_restore')
  const slow = `echo "$PGDATABASE" > ${folder}/name; sleep 2; exec`
  writeFileSync(restore, readFileSync(restore, 'utf8').replace('exec', slow))
  const serverUrl = new URL(database.url)
  serverUrl.searchParams.set('options', '-c idle_session_timeout=1000')

  const checked = await check(serverUrl.href)
  expect(checked).toMatchObject({ kind: 'inspected', inspection: { isOwnKey: true, differences: [] } })
  const name = readFileSync(join(folder, 'name'), 'utf8').trim()
  expect(name).toMatch(/^tradetill_check_/)
  const databasesLeft = await sql`select from pg_database where datname = ${name}`.execute(database.db)
  expect(databasesLeft.rows).toEqual([])
})

it('a check removes the database of a killed check, but none of a check that may be under way', async () => {
  const [ofOldVersion, ofKilled] = [`tradetill_check_${hex()}`, `tradetill_check_20260102030405_${hex()}`]
  const restoring = `tradetill_check_20260102030405_${hex()}`
  const justCreated = `tradetill_check_20261122080000_${hex()}`
  const allNames = [ofOldVersion, ofKilled, restoring, justCreated]
  for (const name of allNames)
    await sql`create database ${sql.id(name)} template template0`.execute(database.db)
  const url = new URL(database.url)
  url.pathname = `/${restoring}`
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    expect(await check(database.url)).toMatchObject({ kind: 'inspected' })
    const databasesLeft = await sql<{ datname: string }>`
      select datname from pg_database where datname in (${sql.join(allNames)})`.execute(database.db)
    expect(databasesLeft.rows.map(({ datname }) => datname).sort()).toEqual(
      [ofOldVersion, restoring, justCreated].sort(),
    )
  } finally {
    await client.end()
    for (const name of allNames)
      await sql`drop database if exists ${sql.id(name)} with (force)`.execute(database.db)
  }
})

it('the check of a copy removes the folder of a killed check after 12 hours, but not that of a check under way', async () => {
  const folderOf = (): string => mkdtempSync(join(realpathSync(tmpdir()), 'tradetill-check-'))
  const [unlocked, inUse] = [folderOf(), folderOf()]
  writeFileSync(join(unlocked, 'master.key'), 'a key')
  const lock = await tryLock(`check ${inUse}`)
  const claim = { mode: 'sandbox', masterKey: undefined, oldMasterKeys: [] } as const
  const isLeftByCheckIn = async (ms: number): Promise<boolean[]> => {
    const reason = expect.stringMatching(/^\S+ is not a copy of an embedded database\.$/)
    const now = new Date(Date.now() + ms)
    expect(await checkCopy(folder, claim, now)).toEqual({ kind: 'refused', reason })
    return [unlocked, inUse].map((each) => existsSync(each))
  }
  try {
    // Folders of the last 12 hours stay: a check of 0.2.0, or in another container, has no lock that this check can
    // see.
    expect(await isLeftByCheckIn(11 * HOUR_MS)).toEqual([true, true])
    expect(await isLeftByCheckIn(13 * HOUR_MS)).toEqual([false, true])
  } finally {
    await lock?.release()
    for (const each of [unlocked, inUse]) rmSync(each, { recursive: true, force: true })
  }
})

it('the check of a dump says whether the dump’s secrets are sealed with the master key of these settings', async () => {
  expect(await check(database.url, 7)).toMatchObject({ inspection: { isOwnKey: true } })
  expect(await check(database.url, 8)).toMatchObject({ inspection: { isOwnKey: false } })
})

it.each([
  ['is called damaged if it cannot be read without a server either', 'exit 1', { kind: 'damaged' }],
  [
    'is not called damaged if it can be read, as with a full disk',
    'case $1 in --file=*) exit ;; esac; exit 1',
    'pg_restore failed',
  ],
  [
    'is not called damaged if the program that reads it was killed',
    'case $1 in --file=*) kill -9 $$ ;; esac; exit 1',
    'pg_restore failed',
  ],
])('a dump that the server does not restore %s', async (_title, script, outcome) => {
  const restore = join(folder, 'pg_restore')
  writeFileSync(
    restore,
    readFileSync(restore, 'utf8').replace(/^exec.*$/m, () => script),
  )
  const checked = check(database.url)
  if (typeof outcome === 'string') await expect(checked).rejects.toThrow(outcome)
  else expect(await checked).toMatchObject(outcome)
})

it('a role that may not create a database is told what to set', async () => {
  const role = `checker_${hex()}`
  await sql`create role ${sql.ref(role)} login password 'secret'`.execute(database.db)
  const serverUrl = Object.assign(new URL(database.url), { username: role, password: 'secret' }).href
  expect(await check(serverUrl)).toEqual({
    kind: 'refused',
    reason: expect.stringContaining(`The role ${role} may not create a database`),
  })
  await sql`drop role ${sql.ref(role)}`.execute(database.db)
})

it('a missing dump is reported before missing programs', async () => {
  const claim = { mode: 'sandbox', masterKey: undefined, oldMasterKeys: [] } as const
  const nowhere = { serverUrl: database.url, claim, at: NOW, folder: join(folder, 'none'), environment }
  const reason = `There is no file ${join(folder, 'none.dump')}.`
  expect(await checkDump(join(folder, 'none.dump'), nowhere)).toEqual({ kind: 'refused', reason })
})

it('the later of two dumps in the same second is refused, and leaves the first dump’s file alone', async () => {
  const place = join(folder, 'at-once')
  mkdirSync(place)
  const first = join(place, 'tradetill-1970-01-01T00-00-00.dump.partial')
  writeFileSync(first, 'half a dump')
  const second = dump(database.url, place, { at: new Date(0), folder, environment })
  await expect(second).rejects.toThrow(`${first} exists already`)
  expect(readdirSync(place)).toEqual([basename(first)])
  expect(readFileSync(first, 'utf8')).toBe('half a dump')
})

it('a dump can be read by its owner alone', async () => {
  const made = await dump(database.url, join(folder, 'dumps'), { at: new Date(0), folder, environment })
  if (made.kind === 'refused') throw new Error(made.reason)
  expect(statSync(made.backup.path).mode & 0o777).toBe(0o600)
})

it('a dump into a folder that cannot be created is refused, and the error names the folder', async () => {
  const dumped = dump(database.url, '/proc/none', { at: new Date(0), folder, environment })
  await expect(dumped).rejects.toThrow('The folder /proc/none cannot be created: ENOENT')
})
