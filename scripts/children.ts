import { spawn } from 'node:child_process'
import type { EventEmitter } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { COMPILE_CACHE } from '../gateway/kit/compile-cache.ts'
import { STOP_MS } from '../gateway/kit/shutdown.ts'

export type Child = {
  /**
   * Resolves once a line of the process's output contains `text`. Rejects if the process ends first, or prints nothing
   * for `withinMs`. The wait has no limit while the process reports that it is busy, for example with a migration.
   */
  waitForLine(text: string, withinMs: number): Promise<void>
  /** Calls `act` with each further line of the process's output. */
  onLine(act: (line: string) => void): void
  /** How the process ended: an exit code or a signal. */
  ended: Promise<string>
  /** Asks the process to stop and waits; kills it if it does not end in time. */
  stop(): Promise<void>
  /** Kills the process as a crash would, so it cannot finish anything. */
  kill(): Promise<void>
}

type Start = {
  name: string
  file: string
  args?: readonly string[]
  env: Record<string, string>
  /** Runs the process as this other user. */
  account?: { uid: number; gid: number } | undefined
}

/** Milliseconds until a stopping process is killed. Longer than the gateway itself takes to stop. */
const KILL_MS = STOP_MS + 2_000

/**
 * Starts a process in its own group. Ctrl-C then reaches only the start script, which stops its processes in
 * order. The process's stdin is a pipe from the start script: if that script is killed, the pipe ends, and the process
 * stops.
 */
export function startChild({ name, file, args = [], env, account }: Start): Child {
  // Another user cannot write to our compile cache.
  const cache = account === undefined ? { NODE_COMPILE_CACHE: COMPILE_CACHE } : {}
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file, ...args], {
    ...account,
    env: { ...cache, ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  // A process that has ended closes its end of the pipe, which is not an error here.
  child.stdin.on('error', () => {})
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  const lines = createInterface({ input: child.stdout })
  const waitForLine = lineWaiter({ name, lines, ended })
  return {
    waitForLine,
    onLine: (act) => void lines.on('line', act),
    ended,
    async stop() {
      child.kill('SIGTERM')
      child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), KILL_MS)
      await ended
      clearTimeout(timer)
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

type Output = {
  name: string
  /** Emits `line`. */
  lines: EventEmitter
  ended: Promise<string>
}

/**
 * A line with this text lifts the time limit. A gateway that is killed during a migration begins it again at the next
 * start, so under a limit, a long migration would never finish.
 */
const BUSY = ' is busy: '

export function lineWaiter({ name, lines, ended }: Output): Child['waitForLine'] {
  const received: string[] = []
  const listeners = new Set<() => void>()
  lines.on('line', (line: string) => {
    received.push(line)
    for (const listener of listeners) listener()
  })
  return async (text, withinMs) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let timer: NodeJS.Timeout | undefined
    const check = (): void => {
      clearTimeout(timer)
      if (received.some((line) => line.includes(text))) resolve()
      else if (!received.at(-1)?.includes(BUSY)) timer = setTimeout(giveUp, withinMs)
    }
    const giveUp = (): void => reject(new Error(`The ${name} was not ready in time.`))
    listeners.add(check)
    void ended.then((how) => reject(new Error(`The ${name} did not start (${how}).`)))
    check()
    try {
      await promise
    } finally {
      clearTimeout(timer)
      listeners.delete(check)
    }
  }
}

/** The addresses of `localhost`. Browsers try the second one first. */
const OWN_ADDRESSES = ['127.0.0.1', '::1']

/** Returns why our programs cannot listen on this port; undefined if it is free. */
export async function portProblem(port: number): Promise<'taken' | 'forbidden' | undefined> {
  for (const address of OWN_ADDRESSES) {
    const code = await listenProblem(port, address)
    if (code === 'EADDRINUSE') return 'taken'
    if (code === 'EACCES') return 'forbidden'
  }
  return undefined
}

/** Returns the error code of an attempt to listen there. On a machine without IPv6, `::1` also gives one. */
function listenProblem(port: number, address: string): Promise<string | undefined> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
    server.listen({ port, host: address, ipv6Only: true }, () => server.close(() => resolve(undefined)))
  })
}
