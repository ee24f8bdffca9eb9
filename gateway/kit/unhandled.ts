import type { Log } from './log.ts'

/** Ends the process on an unhandled error, as Node would, but without printing the secrets in the error. */
export function endOnUnhandled(log: Log): void {
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error, origin }, 'the process ended: an error was not handled')
    process.exit(1)
  })
  // A line that cannot be written, as on a full disk, is lost; the next one is tried again.
  process.stderr.on('error', () => {})
}
