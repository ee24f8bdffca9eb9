/** Stops a process phase by phase. Every part has a limit, so the whole shutdown has one too. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from './log.ts'

/**
 * The limit of each phase in milliseconds, in order. `readiness`: load balancers notice that the process stops; a
 * gateway behind one sets a longer limit. `calls`: the servers. `work`: jobs; the limit is longer than a bot waits for
 * its own jobs. A webhook may be cut off: its claim expires and it is sent again. `queue`: the job queue.
 * `connections`: those to the database. `database` and `folder`: an embedded database and its lock.
 */
export const PHASES_MS = {
  readiness: 0,
  calls: 3_000,
  work: 11_000,
  queue: 2_000,
  connections: 2_000,
  database: 8_000,
  folder: 1_000,
} as const

type Phase = keyof typeof PHASES_MS
type Limits = Record<Phase, number>

const PHASES: readonly Phase[] = ['readiness', 'calls', 'work', 'queue', 'connections', 'database', 'folder']
const SLACK_MS = 1_000

/**
 * Longer than the sum of these limits. After this, and after what a gateway adds to `readiness`, the parent of the
 * process may kill it.
 */
export const STOP_MS = PHASES.reduce((sum, phase) => sum + PHASES_MS[phase], SLACK_MS)

export type Shutdown = {
  /** Registers a started part and how to stop it. The parts of one phase stop at the same time. */
  add(phase: Phase, name: string, end: () => unknown): void
  /** Stops all parts. Resolves when all have ended, or at the latest when the limits of all phases are over. */
  run(): Promise<void>
}

export function createShutdown(log: Log, changedLimits: Partial<Limits> = {}): Shutdown {
  const limits: Limits = { ...PHASES_MS, ...changedLimits }
  const parts: { phase: Phase; name: string; end: () => unknown }[] = []

  const endPart = async (name: string, end: () => unknown, withinMs: number) => {
    const timer = new AbortController()
    const ended = Promise.resolve()
      .then(end)
      .then(
        () => true,
        (error: unknown) => {
          log.error({ err: error, part: name }, 'a part did not stop cleanly')
          return true
        },
      )
    // Resolves to false if the time is up. Aborting the timer rejects, but only after the race is decided.
    const timedOut = delay(withinMs, false, { signal: timer.signal }).catch(() => true)
    if (!(await Promise.race([ended, timedOut]))) {
      log.warn({ part: name, withinMs }, 'a part did not stop in time and was cut off')
    }
    timer.abort()
  }
  return {
    add: (phase, name, end) => parts.push({ phase, name, end }),
    async run() {
      const partsToEnd = parts.splice(0)
      for (const phase of PHASES) {
        const partsOfPhase = partsToEnd.filter((part) => part.phase === phase)
        await Promise.all(partsOfPhase.map(({ name, end }) => endPart(name, end, limits[phase])))
      }
    },
  }
}
