/** The doctor's advice about the rights of a database role, on a real PostgreSQL. */
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

it('a till’s own role needs no right to create tables, and before an upgrade the advice is to set the owner’s URL', async () => {
  const asRole = Object.assign(new URL(till.url), { username: ROLE, password: 'secret' }).href
  await withMigrationLock(till.url, {}, (client) => grantApp(client, asRole))
  const answer = await probeDatabase(asRole, Date.now)
  if (answer.kind === 'failed') throw new Error(answer.reason)
  const rightsOf = (probe: DatabaseProbe) =>
    databaseFindings(probe).find(({ check }) => check === 'database.rights')
  expect(rightsOf(answer)).toMatchObject({ state: 'good', advice: null })
  // The right to create tables would end the protection that the second role gives.
  expect(rightsOf({ ...answer, applied: answer.applied.slice(0, -1) })).toMatchObject({
    state: 'mend',
    advice: expect.stringMatching(/^set TRADETILL_OWNER_DATABASE_URL to the role that owns the tables/),
  })
  await till.pool.query(`drop owned by ${ROLE}`)
})

it('a role that lacks every right may create tables once it has the rights that the advice names', async () => {
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
