/** Recurring work, such as sweeps. */
import type { Log } from './log.ts'

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
 * Runs `work` every `everyMs`, one run at a time. A failure is logged, and does not change the time of the next run.
 */
export function repeat(
  { name, everyMs, log, atOnce = true }: RepeatOptions,
  work: () => Promise<void>,
): Repeating {
  let running: Promise<void> | undefined
  let isStopped = false
  const run = (): void => {
    if (isStopped) return
    running ??= work()
      .catch((error: unknown) => log.error({ err: error, work: name }, 'a run of recurring work failed'))
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
