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

/** Runs `work` every `everyMs`, but not while a run continues. A failure is logged, and delays no later run. */
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
