import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fakePrograms } from '../testing/fake-programs.ts'
import { findProgram, libpqOf, runProgram } from './programs.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tradetill-programs-'))
  fakePrograms(folder, 16)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('a search finds the program of the server’s major version', async () => {
  expect(await findProgram('pg_dump', { major: 16, folder })).toEqual({
    kind: 'found',
    path: join(folder, 'pg_dump'),
  })
})

it('a search refuses a program of another version, and says where to get the right version', async () => {
  const found = await findProgram('pg_restore', { major: 18, folder })
  expect(found).toMatchObject({ kind: 'missing' })
  const message = found.kind === 'missing' ? found.message : ''
  expect(message).toContain(`${join(folder, 'pg_restore')} has version 16`)
  expect(message).toContain('postgresql-client-18')
  expect(message).toContain('TRADETILL_POSTGRES_PROGRAMS')
})

it('the database’s URL is split into environment variables of libpq', () => {
  expect(libpqOf('postgres://till:p%40ss@db.example:5433/my%20till?sslmode=verify-full')).toEqual({
    PGHOST: 'db.example',
    PGPORT: '5433',
    PGUSER: 'till',
    PGPASSWORD: 'p@ss',
    PGDATABASE: 'my till',
    PGSSLMODE: 'verify-full',
  })
  expect(libpqOf('postgres://till@[::1]:5433/till')).toMatchObject({ PGHOST: '::1', PGPORT: '5433' })
  expect(libpqOf('postgres://till@localhost/till?host=/run/postgresql')).toEqual({
    PGHOST: '/run/postgresql',
    PGUSER: 'till',
    PGDATABASE: 'till',
  })
})

it('a program verifies a server by the authorities that the gateway trusts, unless the URL or a setting names a file', async () => {
  const program = join(folder, 'pg_dump')
  const copy = join(folder, 'certificates')
  writeFileSync(
    program,
    `${readFileSync(program, 'utf8')}\necho "$PGSSLROOTCERT" > ${copy}.name\ncat "$PGSSLROOTCERT" > ${copy}\n`,
  )
  const dump = async (query: string, environment = {}) => {
    const url = `postgres://till@db.example/till?sslmode=verify-full${query}`
    await runProgram(program, [], {
      url,
      environment: { PATH: process.env.PATH, HOME: folder, ...environment },
    })
    return { name: readFileSync(`${copy}.name`, 'utf8').trim(), certificates: readFileSync(copy, 'utf8') }
  }
  const { name, certificates } = await dump('')
  expect(certificates.match(/BEGIN CERTIFICATE/g)).toHaveLength(getCACertificates('default').length)
  expect(existsSync(name)).toBe(false)
  const own = join(folder, 'own.crt')
  writeFileSync(own, 'a certificate')
  expect(await dump(`&sslrootcert=${own}`)).toEqual({ name: own, certificates: 'a certificate' })
  expect(await dump('', { PGSSLROOTCERT: own })).toEqual({ name: own, certificates: 'a certificate' })
})

it('a program that cannot be started is reported with the reason', async () => {
  const run = runProgram(join(folder, 'gone'), [], { url: 'postgres://till@127.0.0.1/till', environment: {} })
  await expect(run).rejects.toThrow('ENOENT')
})
