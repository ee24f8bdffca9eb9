/** The till's event log is the truth: what a webhook did not bring is read from there. */
import type { Books } from './books.ts'
import { readLog, type TillAccount } from './till.ts'

const EVERY_MS = 60_000

type Parties = { till: TillAccount; books: Books; report(problem: string): void }

/** Reads the log at the start, once a minute, and when asked. A till that is away is asked again later. */
export function startReconciling(parties: Parties): { now(): Promise<void>; stop(): Promise<void> } {
  let running: Promise<void> | undefined
  let stopping = false
  const now = (): Promise<void> => {
    running ??= reconcile(parties, () => stopping)
      .catch((error: unknown) => {
        parties.report(
          `the till's log could not be read: ${error instanceof Error ? error.message : 'unknown'}`,
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
      stopping = true
      clearInterval(timer)
      await running
    },
  }
}

async function reconcile({ till, books }: Parties, isStopping: () => boolean): Promise<void> {
  for (;;) {
    const page = await readLog(till, books.position())
    for (const event of page.events) books.take(event)
    // After the events: a crash in between reads them again, and each counts once.
    books.readUpTo(page.next)
    if (!page.hasMore || isStopping()) return
  }
}
