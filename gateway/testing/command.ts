/** Runs an operator's command as a function, or in a separate process. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { runCommandLine } from '../cli/run.ts'
import { createTerminal } from '../cli/terminal.ts'
import { readConfig } from '../config.ts'
import { claimDatabase } from '../db/identity.ts'
import { fingerprintOf } from '../kit/secret-box.ts'

const CLI = join(import.meta.dirname, '../cli')
/** The master key of a command that gets a `databaseUrl`, unless `env` has another. */
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

/** Without `databaseUrl`, `env` must contain the database's address if the command needs it. */
type Options = {
  databaseUrl?: string
  env?: Record<string, string>
  input?: string
  /** Receives the command's stderr while it runs. */
  onStderr?: (text: string) => void
}

export type CommandResult = { out: string; errors: string; code: number | null }

const environmentOf = ({ databaseUrl, env = {} }: Options) =>
  databaseUrl === undefined ? env : { DATABASE_URL: databaseUrl, TRADETILL_MASTER_KEY: MASTER_KEY, ...env }

const claimedUrls = new Set<string>()

/** Marks the database as this till's. A gateway would do so, but tests create their databases without one. */
async function claim(options: Options): Promise<void> {
  const { databaseUrl } = options
  const answer = readConfig(environmentOf(options))
  if (databaseUrl === undefined || claimedUrls.has(databaseUrl) || answer.kind === 'refused') return
  claimedUrls.add(databaseUrl)
  const { mode, masterKey } = answer.config
  const client = new pg.Client({ connectionString: databaseUrl })
  try {
    await client.connect()
    if (masterKey !== undefined)
      await claimDatabase(client, { mode, keyFingerprint: fingerprintOf(masterKey) })
  } catch {
    // The command itself will report the problem with the database.
  } finally {
    await client.end()
  }
}

/** Runs the command in this process. */
export async function runCommand(args: readonly string[], options: Options): Promise<CommandResult> {
  await claim(options)
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  stderr.on('data', (chunk: Buffer) => options.onStderr?.(chunk.toString()))
  const output = Promise.all([text(stdout), text(stderr)])
  const terminal = createTerminal({ stdin: Readable.from([options.input ?? '']), stdout, stderr })
  const code = await runCommandLine([...args], { env: environmentOf(options), terminal })
  stdout.end()
  stderr.end()
  const [out, errors] = await output
  return { out, errors, code }
}

/** `script`: a path relative to gateway/cli. `stdout`: an open file for the output; then `out` is empty. */
type ProcessOptions = Options & { script?: string; nodeOptions?: string[]; stdout?: number }

/** Runs the command in a separate process, which inherits no environment. */
export async function spawnCommand(args: readonly string[], options: ProcessOptions): Promise<CommandResult> {
  const { input = '', script = 'main.ts', nodeOptions = [], stdout = 'pipe' } = options
  await claim(options)
  const child = spawn(process.execPath, [...nodeOptions, join(CLI, script), ...args], {
    env: environmentOf(options),
    stdio: ['pipe', stdout, 'pipe'],
  })
  const exitCode = new Promise<number | null>((resolve) => child.once('close', resolve))
  // A command that reads no input may have ended before the input is written.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  const textOf = (stream: Readable | null) => (stream === null ? '' : text(stream))
  const [out, errors, code] = await Promise.all([textOf(child.stdout), textOf(child.stderr), exitCode])
  return { out, errors, code }
}
