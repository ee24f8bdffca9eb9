import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { COMPILE_CACHE } from '../../gateway/kit/compile-cache.ts'
import { freePort } from '../../gateway/testing/free-port.ts'

const ROOT = join(import.meta.dirname, '../..')

export type Running = {
  pid: number
  /** The output so far, on stdout and stderr. */
  output(): string
  /** Resolves to the exit code; null if a signal ended the process. */
  ended: Promise<number | null>
  hasEnded(): boolean
  /** Sends SIGINT to the entire process group, like Ctrl-C. Resolves to the exit code. */
  interrupt(): Promise<number | null>
  /** Kills this one process with SIGKILL. */
  kill(): Promise<void>
}

type Options = {
  args?: string[]
  input?: string
  /** A file that receives the output, for readers in other processes. */
  outputFile?: string
  /** The child ends when its stdin closes, so it ends with this process, even if this process is killed. */
  isTied?: boolean
}

const WATCH_STDIN = { TRADETILL_STDIN: '1', STEAM_SANDBOX_STDIN: '1', DEMO_STORE_STDIN: '1' }

/** Starts a source file (a path from the project's root) in its own process group. */
export function run(file: string, env: Record<string, string> = {}, options: Options = {}): Running {
  const child = spawn(process.execPath, [join(ROOT, file), ...(options.args ?? [])], {
    cwd: ROOT,
    env: {
      ...withoutTillSettings(process.env),
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...(options.isTied ? WATCH_STDIN : {}),
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  // The child may end before it has read its input.
  child.stdin.on('error', () => {})
  if (!options.isTied) child.stdin.end(options.input)
  const { pid } = child
  if (pid === undefined) throw new Error(`${file} did not start`)
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      chunks.push(chunk)
      if (options.outputFile !== undefined) appendFileSync(options.outputFile, chunk)
    })
  }
  const ended = endOf(child)
  let hasEnded = false
  ended.then(() => {
    hasEnded = true
  })
  return {
    pid,
    ended,
    output: () => chunks.join(''),
    hasEnded: () => hasEnded,
    async interrupt() {
      if (!hasEnded) process.kill(-pid, 'SIGINT')
      return ended
    },
    async kill() {
      if (!hasEnded) process.kill(pid, 'SIGKILL')
      await ended
    },
  }
}

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', (code) => resolve(code)))
}

/** Removes, from the environment of a till under test, the settings of another till on this machine. */
function withoutTillSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const tillSetting =
    /^(TRADETILL_|STEAM_SANDBOX_|MARKET_SANDBOX_|DEMO_STORE_|DATABASE_URL$|VITEST|NODE_ENV$)/
  return Object.fromEntries(Object.entries(env).filter(([name]) => !tillSetting.test(name)))
}

/** Returns different ports that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, freePort))
}

const CHECK_EVERY_MS = 100

/** Thrown by a check of `eventually` whose condition can no longer become true. */
export class GiveUp extends Error {}

/**
 * Repeats `check` until it returns a value other than undefined and false. After `timeoutMs`, or as soon as `check`
 * throws a GiveUp, throws an error that contains `what`.
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | undefined> | T | undefined,
  timeoutMs = 90_000,
): Promise<T> {
  const endMs = performance.now() + timeoutMs
  let lastFailure: unknown = 'no value'
  while (performance.now() < endMs) {
    try {
      const value = await check()
      if (value !== undefined && value !== false) return value
    } catch (error) {
      if (error instanceof GiveUp) throw new Error(`${what}: ${error.message}`)
      lastFailure = error
    }
    await delay(CHECK_EVERY_MS)
  }
  throw new Error(`${what}: not within ${timeoutMs} ms (${String(lastFailure)})`)
}

/** Resolves to true if a server answers at this address within two seconds, whatever the answer is. */
export async function isServing(url: string): Promise<boolean> {
  try {
    await fetch(url, { signal: AbortSignal.timeout(2000) })
    return true
  } catch {
    return false
  }
}
