import type { Log } from './log.ts'

/** Ends the process on an unhandled error, as Node would, but without printing the secrets in the error. */
export function endOnUnhandled(log: Log): void {
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error, origin }, 'the process ended: nothing handled an error')
    process.exit(1)
  })
}
