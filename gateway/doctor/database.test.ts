/** The doctor's advice about the rights of a database role, and about a full disk, on a real PostgreSQL. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { withMigrationLock } from '../db/migrate.ts'
import { grantApp } from '../db/roles.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { databaseFindings } from './database.ts'
import { type DatabaseProbe, probeDatabase } from './database-store.ts'

const ROLE = `rights_${randomBytes(4).toString('hex')}`
let till: TestDatabase

beforeAll(async () => {
  till = await testDatabase()
  await till.pool.query(`create role ${ROLE} login password 'secret'`)
})
afterAll(async () => {
  await till.pool.query(`drop owned by ${ROLE}`)
  await till.pool.query(`drop role ${ROLE}`)
  await till.close()
})

it('the till’s own role needs no right to create tables; before an upgrade the doctor asks for the owner’s URL', async () => {
  const asRole = Object.assign(new URL(till.url), { username: ROLE, password: 'secret' }).href
  await withMigrationLock(till.url, {}, (client) => grantApp(client, asRole))
  const answer = await probeDatabase(asRole, Date.now)
  if (answer.kind === 'failed') throw new Error(answer.reason)
  const rightsOf = (probe: DatabaseProbe) =>
    databaseFindings(probe).find(({ check }) => check === 'database.rights')
  expect(rightsOf(answer)).toMatchObject({ state: 'good', advice: null })
  // The advice must not be to grant that right, which would end the protection that the second role gives.
  expect(rightsOf({ ...answer, applied: answer.applied.slice(0, -1) })).toMatchObject({
    state: 'mend',
    advice: expect.stringMatching(
      /^set TRADETILL_OWNER_DATABASE_URL to a URL with the role that owns the tables/,
    ),
  })
  await till.pool.query(`drop owned by ${ROLE}`)
})

it('a role without rights may create tables after it was granted the rights that the advice names', async () => {
  const url = new URL(till.url)
  const asRole = Object.assign(new URL(url), { username: ROLE, password: 'secret' }).href
  const probeRights = async () => {
    const findings = databaseFindings(await probeDatabase(asRole, Date.now))
    return findings.find(({ check }) => check === 'database.rights')
  }
  const lacking = await probeRights()
  expect(lacking?.state).toBe('mend')
  const grants = lacking?.advice?.match(/grant create on (?:database …|schema public) to \w+/g) ?? []
  for (const grant of grants) await till.pool.query(grant.replace('…', url.pathname.slice(1)))
  expect((await probeRights())?.state).toBe('good')
})

const diskAt = async (url: string) =>
  databaseFindings(await probeDatabase(url, Date.now)).find(({ check }) => check === 'database.disk')

it('the disk has room if the server can write a temporary file of 16 MB', async () => {
  const written = async (): Promise<number> => {
    const { rows } = await till.pool.query(
      'select temp_bytes::float8 as bytes from pg_stat_database where datname = current_database()',
    )
    return rows[0].bytes
  }
  const before = await written()
  expect(await diskAt(till.url)).toMatchObject({ state: 'good' })
  await expect.poll(written).toBeGreaterThan(before + 16_000_000)
})

it('the disk is full if the server finds no room on it', async () => {
  // Simulates a full disk: this function replaces the one that the check fills its file with.
  await till.pool.query(`create schema full_disk; create function full_disk.repeat(text, integer) returns text
    language plpgsql as $$ begin raise disk_full using message = 'could not write block 7: No space left'; end $$`)
  const url = new URL(till.url)
  url.searchParams.set('options', '-c search_path=full_disk,pg_catalog,public')
  expect(await diskAt(url.href)).toMatchObject({
    state: 'mend',
    says: 'is full: could not write block 7: No space left',
    advice: expect.stringContaining('free space'),
  })
  // Another limit of the server says nothing about the disk.
  url.searchParams.set('options', '-c temp_file_limit=1MB')
  expect(await diskAt(url.href)).toMatchObject({ state: 'good' })
})
