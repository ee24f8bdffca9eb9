import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { runningDatabase } from '../gateway/db/connection-file.ts'
import { captureLog } from '../gateway/testing/log.ts'
import { startEmbedded } from './embedded.ts'

/**
 * The data folder of all tests that need none of their own, because creating a database takes far longer than starting
 * one.
 */
let dataDir: string

beforeAll(() => {
  dataDir = newFolder()
})

afterAll(() => {
  rmSync(dataDir, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-embedded-'))
  // A PostgreSQL started by root runs as another account, which must be able to reach the folder.
  chmodSync(folder, 0o711)
  return folder
}

/** A folder of one test. */
function ownFolder(): string {
  const folder = newFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const start = (folder = dataDir, fsync = true) =>
  startEmbedded({ dataDir: folder, log: captureLog().log, fsync })

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  // The server can end while the client is connected; the query then rejects.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Starts the database of the folder and expects the empty table `kept` in it, then stops it. */
async function expectKept(folder: string): Promise<void> {
  const embedded = await start(folder, false)
  expect(await query(embedded.url, 'select n from kept')).toEqual([])
  await embedded.stop()
}

async function clusterOf(url: string): Promise<string> {
  const [row] = await query(url, 'show data_directory')
  return z.object({ data_directory: z.string() }).parse(row).data_directory
}

/** Starts the database from a child process, which owns it and which a test can kill. */
async function startInChild() {
  const script = `
    const [{ startEmbedded }, { createLog }] = await Promise.all([
      import(${JSON.stringify(join(import.meta.dirname, 'embedded.ts'))}),
      import(${JSON.stringify(join(import.meta.dirname, '../gateway/kit/log.ts'))}),
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

test('the database is durable, asks for a password, and keeps the password private', async () => {
  const { log, lines } = captureLog()
  const addresses = {
    publicUrl: 'http://localhost:4400/',
    console: { url: 'http://localhost:4404/', host: '127.0.0.1', port: 4404 },
  }
  const embedded = await startEmbedded({ dataDir, log, addresses })
  try {
    expect(await query(embedded.url, 'show fsync')).toEqual([{ fsync: 'on' }])
    const url = new URL(embedded.url)
    expect(url.hostname).toBe('127.0.0.1')
    const password = url.password
    url.password = 'wrong'
    await expect(query(url.href, 'select 1')).rejects.toThrow('password authentication failed')
    expect(runningDatabase(dataDir)).toEqual({
      url: embedded.appUrl,
      ownerUrl: embedded.url,
      vaultUrl: expect.stringMatching(/^postgres:\/\/tradetill_vault:/),
      ...addresses,
    })
    for (const file of ['database.json', 'connection.json']) {
      expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600)
    }
    expect(lines.join('')).not.toContain(password)
  } finally {
    await embedded.stop()
  }
  expect(runningDatabase(dataDir)).toBeUndefined()
  await expect(query(embedded.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
})

test('a database whose password file is missing or damaged is refused, not replaced', async () => {
  const first = await start()
  await query(first.url, 'create table kept (n int); insert into kept values (7)')
  await first.stop()
  const secret = join(dataDir, 'database.json')
  renameSync(secret, `${secret}.aside`)
  await expect(start()).rejects.toThrow('is gone. Put it back from a backup.')
  for (const text of ['', '{}']) {
    writeFileSync(secret, text)
    await expect(start()).rejects.toThrow(`${secret}, is damaged. Put it back from a backup.`)
  }
  renameSync(`${secret}.aside`, secret)
  const restarted = await start()
  try {
    expect(await query(restarted.url, 'select n from kept')).toEqual([{ n: 7 }])
  } finally {
    await restarted.stop()
  }
})

test('the server ends after a kill -9 of the process that started it', async () => {
  const owner = await startInChild()
  owner.child.kill('SIGKILL')
  await owner.ended
  const tryQuery = async () => query(owner.url, 'select 1').catch((error: unknown) => String(error))
  await expect.poll(tryQuery, { message: 'the server ends' }).toContain('ECONNREFUSED')
})

test('commits survive a kill -9 of the process that started the server, and a start right after it replaces the old server', async () => {
  const owner = await startInChild()
  await query(owner.url, 'create table outlived (n int); insert into outlived values (7)')
  owner.child.kill('SIGKILL')
  await owner.ended

  const restarted = await start()
  try {
    expect(await query(restarted.url, 'select n from outlived')).toEqual([{ n: 7 }])
    await expect(query(owner.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
  } finally {
    await restarted.stop()
  }
})

test('after an interrupted first start, the next start makes the database', async () => {
  const folder = ownFolder()
  const first = await start(folder)
  await first.stop()
  const [cluster] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => basename(path) === 'cluster',
  )
  // Interrupted after the password was written and before the cluster was moved into place.
  const place = join(folder, cluster ?? 'no cluster')
  renameSync(place, `${place}.new`)
  const second = await start(folder)
  try {
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }])
  } finally {
    await second.stop()
  }
})

test('a first start right after a killed one does not share a folder with the initdb that the killed one left running', async () => {
  const folder = ownFolder()
  const unfinished = join(folder, 'postgres', 'cluster.new')
  // Stands for that initdb, which writes into its folder until it ends or finds files missing.
  const writing = setInterval(() => {
    mkdirSync(unfinished, { recursive: true })
    writeFileSync(join(unfinished, 'PG_VERSION'), '18')
  }, 1)
  onTestFinished(() => clearInterval(writing))
  const embedded = await start(folder, false)
  expect(await query(embedded.url, 'select 1 as one')).toEqual([{ one: 1 }])
  await embedded.stop()
})

test('a data folder that was deleted and recreated, and that other accounts cannot reach, gets a new database', async () => {
  const folder = ownFolder()
  chmodSync(folder, 0o700)
  const clusters: string[] = []
  const startThere = async () => {
    const embedded = await start(folder, false)
    clusters.push(await clusterOf(embedded.url))
    return embedded
  }
  try {
    const first = await startThere()
    await query(first.url, 'create table kept (n int)')
    await first.stop()
    rmSync(folder, { recursive: true })
    mkdirSync(folder, { mode: 0o700 })
    const second = await startThere()
    await expect(query(second.url, 'select n from kept')).rejects.toThrow('does not exist')
    await second.stop()
  } finally {
    // Two levels up is the data folder or, if root runs this, the folder in /var/lib that replaces it.
    for (const cluster of clusters) rmSync(join(cluster, '../..'), { recursive: true, force: true })
  }
})

test('a database survives a change of its data folder’s permissions', async () => {
  const folder = ownFolder()
  chmodSync(folder, 0o700)
  const first = await start(folder, false)
  const cluster = await clusterOf(first.url)
  try {
    await query(first.url, 'create table kept (n int)')
    await first.stop()
    chmodSync(folder, 0o711)
    await expectKept(folder)
  } finally {
    rmSync(join(cluster, '../..'), { recursive: true, force: true })
  }
})

test('a copy of a data folder does not use the database of the original, which may be outside both; a moved folder does', async () => {
  const folder = ownFolder()
  const original = join(folder, 'original')
  const copy = join(folder, 'copy')
  mkdirSync(original, { mode: 0o700 })
  const first = await start(original, false)
  const cluster = await clusterOf(first.url)
  try {
    await query(first.url, 'create table kept (n int)')
    await first.stop()
    execFileSync('cp', ['-Rp', original, copy])
    if (process.getuid?.() === 0) await expect(start(copy, false)).rejects.toThrow('is a copy of')
    rmSync(original, { recursive: true })
    await expectKept(copy)
  } finally {
    rmSync(join(cluster, '../..'), { recursive: true, force: true })
  }
})

/** Changes the owner of the folder and of everything in it, as `cp -r` and `chown -R` do. */
function giveAway(folder: string, uid: number): void {
  execFileSync('chown', ['-R', `${uid}:${uid}`, folder])
}

test('a database starts after root has copied it, or moved it to a machine with other accounts', async () => {
  const folder = ownFolder()
  const first = await start(folder, false)
  const cluster = await clusterOf(first.url)
  await query(first.url, 'create table kept (n int)')
  await first.stop()
  for (const uid of [0, 4_321]) {
    if (process.getuid?.() === 0) giveAway(cluster, uid)
    await expectKept(folder)
  }
})

test('a start as root leaves the database of another user as it was', async () => {
  const folder = ownFolder()
  await (await start(folder, false)).stop()
  if (process.getuid?.() !== 0) return
  const place = join(folder, 'place')
  rmSync(place)
  chmodSync(folder, 0o700)
  giveAway(folder, 4_321)
  await expect(start(folder, false)).rejects.toThrow('belong to the user with the number 4321')
  const home = join(folder, 'postgres')
  expect([home, join(home, 'cluster')].map((path) => statSync(path).uid)).toEqual([4_321, 4_321])
  expect(existsSync(place)).toBe(false)
})

test('with two databases for one data folder, a start uses the one that PostgreSQL can reach, or names both if the password is the other’s', async () => {
  const folder = ownFolder()
  chmodSync(folder, 0o700)
  const first = await start(folder, false)
  const oldCluster = await clusterOf(first.url)
  onTestFinished(() => rmSync(join(oldCluster, '../..'), { recursive: true, force: true }))
  await first.stop()
  chmodSync(folder, 0o711)
  // At this point an earlier version, run by root, made a second database and replaced the password. This version does
  // the same if the first database is not in its place.
  renameSync(oldCluster, `${oldCluster}.aside`)
  const second = await start(folder, false)
  const cluster = await clusterOf(second.url)
  await query(second.url, 'create table kept (n int)')
  await second.stop()
  if (!existsSync(oldCluster)) renameSync(`${oldCluster}.aside`, oldCluster)

  await expectKept(folder)
  chmodSync(folder, 0o700)
  if (process.getuid?.() === 0) {
    const refused = await start(folder, false).catch(String)
    expect(refused).toContain(`is not that of the database in ${oldCluster}`)
    expect(refused).toContain(`another database in ${cluster}`)
  }
  chmodSync(folder, 0o711)
  await expectKept(folder)
})

test('a database that PostgreSQL can no longer reach is not replaced by a new one', async () => {
  const folder = ownFolder()
  const first = await start(folder, false)
  await query(first.url, 'create table kept (n int)')
  await first.stop()
  chmodSync(folder, 0o700)
  if (process.getuid?.() === 0) await expect(start(folder, false)).rejects.toThrow('can no longer enter')
  chmodSync(folder, 0o711)
  await expectKept(folder)
})

test('a start ends a PostgreSQL that outlived its killed supervisor, even if that PostgreSQL is suspended', async () => {
  const folder = ownFolder()
  const first = await start(folder, false)
  const cluster = await clusterOf(first.url)
  const postmasterPid = Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0])
  const supervisorPid = Number(
    execFileSync('ps', ['-o', 'ppid=', '-p', String(postmasterPid)], { encoding: 'utf8' }),
  )
  process.kill(supervisorPid, 'SIGKILL')
  await first.died
  // While it is suspended, only SIGKILL ends it.
  process.kill(postmasterPid, 'SIGSTOP')
  const second = await start(folder, false)
  expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }])
  await second.stop()
})

test('a lock file of PostgreSQL that a power cut left behind does not prevent a start after another program got its process number', async () => {
  const folder = ownFolder()
  const first = await start(folder, false)
  const cluster = await clusterOf(first.url)
  const lockFile = join(cluster, 'postmaster.pid')
  const lines = readFileSync(lockFile, 'utf8').split('\n')
  await first.stop()
  const { uid, gid } = statSync(cluster)
  const stranger = spawn('sleep', ['600'], { uid, gid, stdio: 'ignore' })
  onTestFinished(() => void stranger.kill())
  writeFileSync(lockFile, lines.with(0, String(stranger.pid)).join('\n'), { mode: 0o600 })
  chownSync(lockFile, uid, gid)
  const second = await start(folder, false)
  expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }])
  expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null])
  await second.stop()
})
