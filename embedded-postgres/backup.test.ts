import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { claimDatabase } from '../gateway/db/identity.ts'
import { migrate } from '../gateway/db/migrate.ts'
import { fingerprintOf } from '../gateway/kit/secret-box.ts'
import { ownKeyFile } from '../gateway/master-key.ts'
import { runCommand } from '../gateway/testing/command.ts'
import { captureLog } from '../gateway/testing/log.ts'
import { type Embedded, startEmbedded } from './embedded.ts'

const KEY = Buffer.alloc(32, 7)

let root: string
let embedded: Embedded

const folder = (name: string) => join(root, name)
const run = (args: string[], data = 'data') =>
  runCommand([...args, '--json'], { env: { TRADETILL_DATA: folder(data) } })
const pathOf = (out: string) => z.object({ path: z.string() }).parse(JSON.parse(out)).path

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'tradetill-backup-'))
  // If the tests run as the root user, PostgreSQL runs as another account, which must be able to reach the folder.
  chmodSync(root, 0o711)
  embedded = await startEmbedded({ dataDir: folder('data'), log: captureLog().log, fsync: false })
  chmodSync(folder('data'), 0o711)
  writeFileSync(ownKeyFile(folder('data')), KEY.toString('base64'))
  await migrate({ url: embedded.url })
  const client = new pg.Client({ connectionString: embedded.url })
  await client.connect()
  await claimDatabase(client, { mode: 'sandbox', keyFingerprint: fingerprintOf(KEY) })
  await client.query(
    'insert into epoch select 1, now(), system_identifier, timeline, database_oid, log_oid from database_life()',
  )
  await client.end()
})
afterAll(async () => {
  await embedded.stop()
  rmSync(root, { recursive: true, force: true })
})

test('a copy made under load has every commit from before it, and a database restored from it is recognised as restored', async () => {
  const writer = new pg.Client({ connectionString: embedded.url })
  await writer.connect()
  await writer.query(`insert into store (name, origins) values ('before', '{https://a.test}')`)
  let isWriting = true
  let rowsWritten = 0
  const writes = (async () => {
    while (isWriting) {
      await writer.query(`insert into denied_shopper (steam_id, reason, denied_at)
        values (${76_561_198_000_000_000n + BigInt(rowsWritten)}, 'load', now())`)
      rowsWritten += 1
    }
  })()
  await expect.poll(() => rowsWritten).toBeGreaterThan(0)
  const rowsBefore = rowsWritten
  const created = await run(['backup', 'create', '--to', folder('backups')]).finally(() => {
    isWriting = false
  })
  await writes
  await writer.end()
  expect([created.code, created.errors]).toEqual([0, ''])
  const copy = pathOf(created.out)
  expect(statSync(copy).mode & 0o777).toBe(0o700)

  const checked = await run(['backup', 'check', copy])
  expect([checked.code, checked.errors]).toEqual([0, ''])
  expect(JSON.parse(checked.out)).toMatchObject({ stores: 1, isOwnKey: true, missing: [], differences: 0 })

  expect((await run(['backup', 'restore', copy], 'data')).errors).toContain('already has a database')
  expect(await run(['backup', 'restore', copy], 'restored')).toMatchObject({ code: 0, errors: '' })
  chmodSync(folder('restored'), 0o711)
  const restored = await startEmbedded({ dataDir: folder('restored'), log: captureLog().log, fsync: false })
  try {
    expect(await query(restored.url, 'select name from store')).toEqual([{ name: 'before' }])
    const [row] = await query(restored.url, 'select count(*)::int as rows from denied_shopper')
    const { rows } = z.object({ rows: z.int() }).parse(row)
    expect(rows).toBeGreaterThanOrEqual(rowsBefore)
    expect(rows).toBeLessThanOrEqual(rowsWritten)
    expect(await query(restored.url, 'select life_is_current() as "isCurrent"')).toEqual([
      { isCurrent: false },
    ])
  } finally {
    await restored.stop()
  }
})

/** Runs an operator's command on the database at `url`, and returns its answer. */
async function ask(url: string, ...args: string[]): Promise<unknown> {
  const { out, errors } = await runCommand([...args, '--json'], { databaseUrl: url })
  expect(errors).toBe('')
  return JSON.parse(out)
}

/** Restores a new copy. Returns a function that does work on a server of the copy, started for that work alone. */
async function restoreCopy(name: string) {
  const made = await run(['backup', 'create', '--to', folder(`backup-${name}`)])
  expect(await run(['backup', 'restore', pathOf(made.out)], name)).toMatchObject({ code: 0, errors: '' })
  chmodSync(folder(name), 0o711)
  return async (work: (url: string) => Promise<void>): Promise<void> => {
    const started = await startEmbedded({ dataDir: folder(name), log: captureLog().log, fsync: false })
    await work(started.url).finally(() => started.stop())
  }
}

const FOUND_AS_COPY = { found: 'system', epoch: 1 }

test('until `restore finish`, every start recognises a restored copy as a copy, not as a failover', async () => {
  const workOnCopy = await restoreCopy('copy')
  await workOnCopy(async (url) => {
    expect(await ask(url, 'restore', 'status')).toMatchObject(FOUND_AS_COPY)
  })
  await workOnCopy(async (url) => {
    expect(await ask(url, 'restore', 'status')).toMatchObject(FOUND_AS_COPY)
    expect(await ask(url, 'restore', 'finish', '--reason', 'the original is gone')).toMatchObject({
      epoch: 2,
    })
  })
  await workOnCopy(async (url) => {
    expect(await ask(url, 'restore', 'status')).toMatchObject({ found: null, epoch: 2 })
  })
})

test('a start that was killed after recovering a copy does not prevent the next start from recognising the copy', async () => {
  const workOnCopy = await restoreCopy('killed')
  await workOnCopy(async (url) => {
    await query(url, 'update epoch set system_identifier = life.system_identifier from database_life() life')
    expect(await ask(url, 'restore', 'status')).toMatchObject({ found: 'timeline' })
  })
  // The kill leaves a recovered database that looks like a promoted replica, and the note in its folder.
  const note = join(folder('killed'), 'postgres', 'cluster', 'recovered-copy')
  writeFileSync(note, '')
  await workOnCopy(async (url) => {
    expect(await ask(url, 'restore', 'status')).toMatchObject(FOUND_AS_COPY)
  })
  expect(existsSync(note)).toBe(false)
})

test('a copy without its write-ahead log fails the check, and a restore refuses a folder that is no copy', async () => {
  const made = await run(['backup', 'create', '--to', folder('others')])
  const copy = pathOf(made.out)
  rmSync(join(copy, 'cluster', 'pg_wal'), { recursive: true })
  const errors = expect.stringMatching(/did not start: PostgreSQL ended.*required WAL directory/)
  expect(await run(['backup', 'check', copy])).toMatchObject({ code: 1, errors })
  expect((await run(['backup', 'restore', folder('data')], 'nowhere')).errors).toContain('is not a copy')
})
