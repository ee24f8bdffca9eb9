import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { captureLog } from '../testing/log.ts'
import { runningEmbeddedUrl, startEmbedded } from './embedded.ts'

// Whole processes start here, beside others on the same two cores.
vi.setConfig({ testTimeout: 60_000 })

let dataDir: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'tradetill-embedded-'))
  chmodSync(dataDir, 0o711)
})

afterEach(() => {
  rmSync(dataDir, { recursive: true, force: true })
})

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** A process of its own that runs the database, as a gateway does. */
async function startInProcess() {
  const script = `
    const [{ startEmbedded }, { createLog }] = await Promise.all([
      import(${JSON.stringify(join(import.meta.dirname, 'embedded.ts'))}),
      import(${JSON.stringify(join(import.meta.dirname, '../kit/log.ts'))}),
    ])
    const { url } = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log: createLog({ level: 'silent' }) })
    console.log(url)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const [url] = await new Promise<string[]>((resolve) =>
    createInterface({ input: child.stdout }).once('line', (line) => resolve([line])),
  )
  return { child, ended, url: url ?? '' }
}

test('what was committed outlives a kill -9 of its owner, nothing is left running, and a start at once works', async () => {
  const owner = await startInProcess()
  await query(owner.url, 'create table kept (n int); insert into kept values (7)')
  owner.child.kill('SIGKILL')
  await owner.ended

  const next = await startEmbedded({ dataDir, log: captureLog().log })
  try {
    expect(await query(next.url, 'select n from kept')).toEqual([{ n: 7 }])
    await expect(query(owner.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
  } finally {
    await next.stop()
  }
})

test('after a kill -9 the server itself ends soon', async () => {
  const owner = await startInProcess()
  owner.child.kill('SIGKILL')
  await owner.ended
  await vi.waitFor(() => expect(query(owner.url, 'select 1')).rejects.toThrow('ECONNREFUSED'), 10_000)
})

test('is durable, asks for a password, and keeps its files private', async () => {
  const { log, lines } = captureLog()
  const embedded = await startEmbedded({ dataDir, log })
  try {
    expect(await query(embedded.url, 'show fsync')).toEqual([{ fsync: 'on' }])
    const url = new URL(embedded.url)
    expect(url.hostname).toBe('127.0.0.1')
    const password = url.password
    url.password = 'wrong'
    await expect(query(url.href, 'select 1')).rejects.toThrow('password authentication failed')
    expect(runningEmbeddedUrl(dataDir)).toBe(embedded.url)
    for (const file of ['database.json', 'connection.json']) {
      expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600)
    }
    expect(lines.join('')).not.toContain(password)
  } finally {
    await embedded.stop()
  }
  expect(runningEmbeddedUrl(dataDir)).toBeUndefined()
  await expect(query(embedded.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
})

test('a first start that was cut off is begun anew', async () => {
  const first = await startEmbedded({ dataDir, log: captureLog().log })
  await first.stop()
  const [cluster] = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter(
    (path) => basename(path) === 'cluster',
  )
  // Cut off between the password's writing and the cluster's move into its place.
  const place = join(dataDir, cluster ?? 'no cluster')
  renameSync(place, `${place}.new`)
  const second = await startEmbedded({ dataDir, log: captureLog().log })
  try {
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }])
  } finally {
    await second.stop()
  }
})

test('a database whose password is gone is refused, not thrown away', async () => {
  const first = await startEmbedded({ dataDir, log: captureLog().log })
  await query(first.url, 'create table kept (n int); insert into kept values (7)')
  await first.stop()
  const secret = join(dataDir, 'database.json')
  renameSync(secret, `${secret}.aside`)
  await expect(startEmbedded({ dataDir, log: captureLog().log })).rejects.toThrow(
    'with its password is gone. Put the file back from a backup.',
  )
  renameSync(`${secret}.aside`, secret)
  const again = await startEmbedded({ dataDir, log: captureLog().log })
  try {
    expect(await query(again.url, 'select n from kept')).toEqual([{ n: 7 }])
  } finally {
    await again.stop()
  }
})

test('a data folder that other accounts cannot reach, deleted and made again, begins with a new database', async () => {
  chmodSync(dataDir, 0o700)
  const places: string[] = []
  const start = async () => {
    const embedded = await startEmbedded({ dataDir, log: captureLog().log })
    const [row] = await query(embedded.url, 'show data_directory')
    places.push(z.object({ data_directory: z.string() }).parse(row).data_directory)
    return embedded
  }
  try {
    const first = await start()
    await query(first.url, 'create table kept (n int)')
    await first.stop()
    rmSync(dataDir, { recursive: true })
    mkdirSync(dataDir, { mode: 0o700 })
    const second = await start()
    await expect(query(second.url, 'select n from kept')).rejects.toThrow('does not exist')
    await second.stop()
  } finally {
    for (const cluster of places) rmSync(join(cluster, '../..'), { recursive: true, force: true })
  }
})
