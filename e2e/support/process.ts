/** Real processes, as a person at a terminal starts them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { COMPILE_CACHE } from '../../gateway/kit/compile-cache.ts'
import { freePort } from '../../gateway/testing/free-port.ts'

const ROOT = join(import.meta.dirname, '../..')

export type Running = {
  pid: number
  /** All that it has written, on stdout and stderr. */
  output(): string
  /** Exit code; null when a signal ended it. */
  ended: Promise<number | null>
  hasEnded(): boolean
  /** As Ctrl-C in a terminal: the signal goes to the whole group. Resolves to the exit code. */
  interrupt(): Promise<number | null>
  /** kill -9 of this one process. */
  kill(): Promise<void>
}

type Options = {
  args?: string[]
  input?: string
  /** Gets all that it writes, for readers in other processes. */
  outputFile?: string
  /** It ends when this process does, however that comes about: its stdin stays open as long. */
  isTied?: boolean
}

const WATCH_STDIN = { TRADETILL_STDIN: '1', STEAM_SANDBOX_STDIN: '1', DEMO_STORE_STDIN: '1' }

/** Starts a source of ours (a path from the project's root) in a process group of its own. */
export function run(file: string, env: Record<string, string> = {}, options: Options = {}): Running {
  const child = spawn(process.execPath, [join(ROOT, file), ...(options.args ?? [])], {
    cwd: ROOT,
    env: {
      ...withoutOurs(process.env),
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...(options.isTied ? WATCH_STDIN : {}),
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
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
  let over = false
  ended.then(() => {
    over = true
  })
  return {
    pid,
    ended,
    output: () => chunks.join(''),
    hasEnded: () => over,
    async interrupt() {
      if (!over) process.kill(-pid, 'SIGINT')
      return ended
    },
    async kill() {
      if (!over) process.kill(pid, 'SIGKILL')
      await ended
    },
  }
}

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', (code) => resolve(code)))
}

/** Settings of a till that runs on this machine must not reach a till under test. */
function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const ours = /^(TRADETILL_|STEAM_SANDBOX_|DEMO_STORE_|DATABASE_URL$|VITEST|NODE_ENV$)/
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ours.test(name)))
}

/** Different ports that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, freePort))
}

const CHECK_EVERY_MS = 100

/** Thrown by a check of `eventually`: it can no longer come true. */
export class GiveUp extends Error {}

/**
 * Repeats `check` until it gives a value; throws what it threw last, with `what`, after `timeoutMs`, and a GiveUp at
 * once.
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | undefined> | T | undefined,
  timeoutMs = 90_000,
): Promise<T> {
  const end = performance.now() + timeoutMs
  let last: unknown = 'nothing was there'
  while (performance.now() < end) {
    try {
      const value = await check()
      if (value !== undefined && value !== false) return value
    } catch (error) {
      if (error instanceof GiveUp) throw new Error(`${what}: ${error.message}`)
      last = error
    }
    await delay(CHECK_EVERY_MS)
  }
  throw new Error(`${what}: not within ${timeoutMs} ms (${String(last)})`)
}

/** True when something accepts connections on this port of this machine. */
export async function isServing(url: string): Promise<boolean> {
  try {
    await fetch(url, { signal: AbortSignal.timeout(2000) })
    return true
  } catch {
    return false
  }
}
