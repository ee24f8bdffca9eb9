import type { Log } from './log.ts'
import { reasonOf } from './reason.ts'

/** How often the log repeats a failure that goes on. A line for every run would hide the other lines. */
const LOG_AGAIN_MS = 600_000

type RepeatOptions = {
  name: string
  everyMs: number
  log: Log
  /** False delays the first run by `everyMs`. True by default. */
  atOnce?: boolean
}

export type Repeating = {
  /** Starts an extra run, now or right after the current one. */
  again(): void
  stop(): Promise<void>
}

/**
 * Runs `work` every `everyMs`, but not while a run continues. A failure delays no later run. If the same failure goes
 * on, the log has it every ten minutes, and its end.
 */
export function repeat(
  { name, everyMs, log, atOnce = true }: RepeatOptions,
  work: () => Promise<void>,
): Repeating {
  let running: Promise<void> | undefined
  let isStopped = false
  const outcomes = logOutcomes({ name, everyMs, log })
  const run = (): void => {
    if (isStopped) return
    running ??= work()
      .then(outcomes.succeeded, outcomes.failed)
      .finally(() => {
        running = undefined
      })
  }
  if (atOnce) run()
  const timer = setInterval(run, everyMs)
  return {
    again: () => void (running ?? Promise.resolve()).then(run),
    async stop() {
      isStopped = true
      clearInterval(timer)
      await running
    },
  }
}

function logOutcomes({ name, everyMs, log }: RepeatOptions) {
  const runsPerLine = Math.max(1, Math.ceil(LOG_AGAIN_MS / everyMs))
  let reason: string | undefined
  /** Failed runs in a row, all with this reason. */
  let failures = 0
  return {
    succeeded(): void {
      if (failures > 0) log.info({ work: name, failures }, 'recurring work succeeded again')
      failures = 0
      reason = undefined
    },
    failed(error: unknown): void {
      failures = reasonOf(error) === reason ? failures + 1 : 1
      reason = reasonOf(error)
      if ((failures - 1) % runsPerLine !== 0) return
      log.error({ err: error, work: name, failures }, 'a run of recurring work failed')
    },
  }
}
