import type { Log } from './log.ts'

type Repeated = {
  name: string
  everyMs: number
  log: Log
  /** False: the first time only after `everyMs`. */
  atOnce?: boolean
}

/** Runs `work` every `everyMs`, never twice at once; a failure is logged and the next turn comes. */
export function repeat(
  { name, everyMs, log, atOnce = true }: Repeated,
  work: () => Promise<void>,
): { stop(): Promise<void> } {
  let running: Promise<void> | undefined
  const turn = (): void => {
    running ??= work()
      .catch((error: unknown) => log.error({ err: error, work: name }, 'repeated work failed'))
      .finally(() => {
        running = undefined
      })
  }
  if (atOnce) turn()
  const timer = setInterval(turn, everyMs)
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
