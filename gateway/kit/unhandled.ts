import type { Log } from './log.ts'

/** Ends the process when nothing handles an error, as Node does. But Node prints it as it is, with the secrets in it. */
export function endOnUnhandled(log: Log): void {
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error, origin }, 'the process ended: nothing handled an error')
    process.exit(1)
  })
}
