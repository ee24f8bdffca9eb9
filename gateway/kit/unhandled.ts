import type { Log } from './log.ts'

/** Ends the process on an unhandled error, as Node does. Node alone would print the error with its secrets. */
export function endOnUnhandled(log: Log): void {
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error, origin }, 'the process ended: nothing handled an error')
    process.exit(1)
  })
}
