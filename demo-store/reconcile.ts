/** Reads the till's event log, and books the events that no webhook delivered. */
import { catchUp, type Till } from '../sdk/index.ts'
import type { Books } from './books.ts'

const EVERY_MS = 60_000

type Parties = { till: Till; books: Books; report(problem: string): void }

/** Reads the log at the start, once a minute, and on request. After a failed read, the next read catches up. */
export function startReconciling(parties: Parties): { now(): Promise<void>; stop(): Promise<void> } {
  let running: Promise<void> | undefined
  const stopping = new AbortController()
  const now = (): Promise<void> => {
    running ??= catchUp(parties.till, parties.books.log, { signal: stopping.signal })
      .catch((error: unknown) => {
        if (stopping.signal.aborted) return
        parties.report(
          `the till's log could not be read or booked: ${error instanceof Error ? error.message : 'unknown'}`,
        )
      })
      .finally(() => {
        running = undefined
      })
    return running
  }
  void now()
  const timer = setInterval(() => void now(), EVERY_MS)
  return {
    now,
    async stop() {
      stopping.abort()
      clearInterval(timer)
      await running
    },
  }
}
