/** How a process ends: phase after phase, each part with a limit, so that the whole has one too. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from './log.ts'

/**
 * Most milliseconds that each phase may take, in their order. `work` is longer than what a bot that is saying
 * something to Steam is given; a webhook that is on its way may be cut off, because its claim runs out and it is
 * sent again.
 */
const PHASES_MS = {
  calls: 3_000,
  work: 11_000,
  queue: 2_000,
  connections: 2_000,
  database: 8_000,
  folder: 1_000,
} as const

type Phase = keyof typeof PHASES_MS
type Limits = Record<Phase, number>

const PHASES: readonly Phase[] = ['calls', 'work', 'queue', 'connections', 'database', 'folder']
const SLACK_MS = 1_000

/** Longer than the phases together: whoever started the process may give it up after this. */
export const STOP_MS = PHASES.reduce((sum, phase) => sum + PHASES_MS[phase], SLACK_MS)

export type Ending = {
  /** A part that has begun, and how it is ended. Those of one phase end side by side. */
  add(phase: Phase, name: string, end: () => unknown): void
  /** Ends all parts; resolves within STOP_MS, whatever they do. */
  run(): Promise<void>
}

export function createEnding(log: Log, limits: Limits = PHASES_MS): Ending {
  const parts: { phase: Phase; name: string; end: () => unknown }[] = []

  const endPart = async (name: string, end: () => unknown, withinMs: number) => {
    const late = new AbortController()
    const ended = Promise.resolve()
      .then(end)
      .then(
        () => true,
        (error: unknown) => {
          log.error({ err: error, part: name }, 'a part did not stop cleanly')
          return true
        },
      )
    const timedOut = delay(withinMs, false, { signal: late.signal }).catch(() => true)
    if (!(await Promise.race([ended, timedOut]))) {
      log.warn({ part: name, withinMs }, 'a part did not stop in time and is cut off')
    }
    late.abort()
  }
  return {
    add: (phase, name, end) => parts.push({ phase, name, end }),
    async run() {
      const all = parts.splice(0)
      for (const phase of PHASES) {
        const own = all.filter((part) => part.phase === phase)
        await Promise.all(own.map(({ name, end }) => endPart(name, end, limits[phase])))
      }
    },
  }
}
