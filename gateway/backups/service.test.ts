import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { fakePrograms } from '../testing/fake-programs.ts'
import { checkDump, dump } from './service.ts'

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
  return checkDump(file, { serverUrl, claim, folder, environment })
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
  const left = await sql`select from pg_database where datname = ${name}`.execute(database.db)
  expect(left.rows).toEqual([])
})

it('the check of a dump says whether its secrets are sealed with the master key of these settings', async () => {
  expect(await check(database.url, 7)).toMatchObject({ inspection: { isOwnKey: true } })
  expect(await check(database.url, 8)).toMatchObject({ inspection: { isOwnKey: false } })
})

it.each([
  ['is damaged if it cannot be read without a server either', 'exit 1', { kind: 'damaged' }],
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
])('a dump that the server does not restore %s', async (_title, does, outcome) => {
  const restore = join(folder, 'pg_restore')
  writeFileSync(
    restore,
    readFileSync(restore, 'utf8').replace(/^exec.*$/m, () => does),
  )
  const checked = check(database.url)
  if (typeof outcome === 'string') await expect(checked).rejects.toThrow(outcome)
  else expect(await checked).toMatchObject(outcome)
})

it('a dump can be read by its owner alone', async () => {
  const made = await dump(database.url, join(folder, 'dumps'), { at: new Date(0), folder, environment })
  if (made.kind === 'refused') throw new Error(made.reason)
  expect(statSync(made.backup.path).mode & 0o777).toBe(0o600)
})
