/** A backup is a dump of a database, or a copy of the embedded database's folder. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type pg from 'pg'
import { z } from 'zod'
import type { Claim } from '../db/identity.ts'
import { withClient } from '../db/with-client.ts'
import { makeFolder } from '../kit/make-folder.ts'
import { ownKeyFile } from '../master-key.ts'
import { copyCluster } from './folder.ts'
import { type Inspected, inspect } from './inspect.ts'
import { findProgram, ProgramFailed, type ProgramName, runProgram } from './programs.ts'
import { withScratchFolder } from './scratch-folder.ts'
import { createScratch, dropAbandonedScratches, dropScratch, majorVersion } from './store.ts'

export type Programs = { folder: string | undefined; environment: Record<string, string | undefined> }

/** `bytes`: null for a folder. */
export type Backup = { path: string; bytes: number | null }
export type BackupAnswer = { kind: 'made'; backup: Backup } | { kind: 'refused'; reason: string }

/** Longer than a running check can be without a connection. */
const ABANDONED_MS = 10 * 60_000
/** How Node begins the line with the message of an uncaught error. */
const ERROR_PREFIX = 'Error: '
/**
 * Runs the bundled server on a copy in a separate process, because the gateway itself only connects to servers by URL.
 */
const RUN_COPY = join(import.meta.dirname, '../../embedded-postgres/run-copy.ts')

const digitsOf = (at: Date): string => at.toISOString().replaceAll(/\D/g, '').slice(0, 14)
const nameAt = (at: Date): string => `tradetill-${at.toISOString().slice(0, 19).replaceAll(':', '-')}`

export async function dump(
  url: string,
  folder: string,
  { at, ...programs }: Programs & { at: Date },
): Promise<BackupAnswer> {
  const program = await withClient(url, (client) => programFor(client, 'pg_dump', programs))
  if (program.kind === 'missing') return { kind: 'refused', reason: program.message }
  makeFolder(folder, { mode: 0o700 })
  const path = join(folder, `${nameAt(at)}.dump`)
  const unfinished = `${path}.partial`
  // Owner and privileges are left out: a restored database gets those of its new server.
  const args = [
    '--format=custom',
    '--no-owner',
    '--no-acl',
    '--lock-wait-timeout=60000',
    `--file=${unfinished}`,
  ]
  await takeName(unfinished, () => writeFile(unfinished, '', { flag: 'wx', mode: 0o600 }))
  try {
    await runProgram(program.path, args, { url, ...programs })
    await rename(unfinished, path)
  } finally {
    await rm(unfinished, { force: true })
  }
  return { kind: 'made', backup: { path, bytes: (await stat(path)).size } }
}

/**
 * Creates the unfinished backup. Its name is its time to the second: if the name is taken, another backup is under way.
 */
async function takeName(path: string, create: () => Promise<unknown>): Promise<void> {
  await create().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
    throw new Error(`${path} exists already: another backup is being made there. Try again in a second.`)
  })
}

/** Copies the embedded database of `dataDir`, with its password and the master key, while it runs. */
export async function copyEmbedded(
  { ownerUrl, dataDir }: { ownerUrl: string; dataDir: string },
  folder: string,
  at: Date,
): Promise<Backup> {
  makeFolder(folder, { mode: 0o700 })
  const path = join(folder, nameAt(at))
  const unfinished = `${path}.partial`
  await takeName(unfinished, () => mkdir(unfinished, { mode: 0o700 }))
  try {
    await withClient(ownerUrl, (client) => copyCluster(client, join(unfinished, 'cluster')))
    // The file has the password, without which the copy cannot be opened.
    await copyFile(join(dataDir, 'database.json'), join(unfinished, 'database.json'))
    const key = ownKeyFile(dataDir)
    if (existsSync(key)) await copyFile(key, ownKeyFile(unfinished))
    await rename(unfinished, path)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return { path, bytes: null }
}

/** Restores a copy into a data folder without a database. Resolves to the reason of a failure, or to undefined. */
export async function restoreCopy(copy: string, dataDir: string): Promise<string | undefined> {
  const child = spawn(process.execPath, [RUN_COPY, copy, dataDir, '--only-put'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const errors = text(child.stderr)
  const [code] = await once(child, 'exit')
  if (code === 0) return undefined
  return reasonIn(await errors) ?? 'The copy could not be restored.'
}

const loggedSchema = z.object({ msg: z.string() })

/** Returns the message of the error that ended the process, then the last line of its log, which quotes PostgreSQL. */
function reasonIn(errors: string): string | undefined {
  const lines = errors.split('\n')
  const message = lines.find((line) => line.startsWith(ERROR_PREFIX))?.slice(ERROR_PREFIX.length)
  const lastLogLine = lines.findLast((line) => line.startsWith('{"level"'))
  if (message === undefined || lastLogLine === undefined) return message
  return `${message}. ${loggedSchema.parse(JSON.parse(lastLogLine)).msg}`
}

/** Restores a dump into a temporary database on the server of `serverUrl`, inspects it, and drops it. */
export async function checkDump(
  file: string,
  { serverUrl, claim, at, ...programs }: Programs & { serverUrl: string; claim: Claim; at: Date },
): Promise<Inspected> {
  if (!existsSync(file)) return { kind: 'refused', reason: `There is no file ${file}.` }
  // No connection is kept open during the restore, which can take long: providers end idle connections.
  const program = await withClient(serverUrl, (client) => programFor(client, 'pg_restore', programs))
  if (program.kind === 'missing') return { kind: 'refused', reason: program.message }
  const name = `tradetill_check_${digitsOf(at)}_${randomBytes(6).toString('hex')}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  try {
    const isCreated = await withClient(serverUrl, async (client) => {
      await dropAbandonedScratches(client, digitsOf(new Date(at.getTime() - ABANDONED_MS)))
      return createScratch(client, name)
    })
    if (!isCreated) return { kind: 'refused', reason: mayNotCreate(url.username) }
    const args = ['--exit-on-error', '--no-owner', '--no-acl', `--dbname=${name}`, file]
    try {
      await runProgram(program.path, args, { url: url.href, ...programs })
    } catch (error) {
      const reason = await damageOf(file, program.path, programs)
      if (reason === undefined) throw error
      return { kind: 'damaged', reason }
    }
    return await inspect(url.href, claim)
  } finally {
    await withClient(serverUrl, (client) => dropScratch(client, name))
  }
}

const mayNotCreate = (role: string): string =>
  `The role ${role} may not create a database, which the check of a dump needs. Set TRADETILL_OWNER_DATABASE_URL to a role with CREATEDB, or name another server with --server.`

/**
 * Reads a whole dump without a server, after its restore failed. Resolves to the reason why the dump cannot be read;
 * undefined if it can, because then the server may have failed, for example with a full disk.
 */
async function damageOf(file: string, path: string, { environment }: Programs): Promise<string | undefined> {
  try {
    await runProgram(path, [`--file=${devNull}`, file], { environment })
    return undefined
  } catch (error) {
    // A program that a signal ended, or that did not start, proves nothing about the dump.
    return error instanceof ProgramFailed ? error.message : undefined
  }
}

/**
 * Inspects the backup in `folder` with a server that runs on a copy of it, so the backup itself is not changed. `now`:
 * by the machine's clock, like the times of folders.
 */
export async function checkCopy(folder: string, claim: Claim, now: Date): Promise<Inspected> {
  return withScratchFolder(now, async (scratch) => {
    const child = spawn(process.execPath, [RUN_COPY, folder, scratch], { stdio: ['pipe', 'pipe', 'pipe'] })
    const errors = text(child.stderr)
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    try {
      const url = await firstLine(child.stdout, ended)
      return url === undefined
        ? { kind: 'refused', reason: reasonIn(await errors) ?? 'The server did not start on the copy.' }
        : await inspect(url, claim)
    } finally {
      child.stdin.end()
      await ended
    }
  })
}

async function firstLine(stream: NodeJS.ReadableStream, ended: Promise<void>): Promise<string | undefined> {
  const line = new Promise<string>((resolve) => createInterface({ input: stream }).once('line', resolve))
  return Promise.race([line, ended.then(() => undefined)])
}

async function programFor(client: pg.Client, name: ProgramName, { folder }: Programs) {
  return findProgram(name, { major: await majorVersion(client), folder })
}
