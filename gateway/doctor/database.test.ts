/** The doctor's advice about a role of the database, on a real PostgreSQL. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { databaseFindings } from './database.ts'
import { probeDatabase } from './database-store.ts'

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
