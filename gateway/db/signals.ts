/** Waits for a row that another process completes. PostgreSQL's NOTIFY wakes the waiter, which then reads the row. */
import type { Tx } from './client.ts'

/** The longest time of a wait. `signal`: ends the wait earlier. */
export type Within = { timeoutMs: number; signal?: AbortSignal | undefined }

export interface Signals {
  /** Wakes waiters of `topic` (for example `trade:12`) once the transaction commits. */
  notify(tx: Tx, topic: string): Promise<void>
  /**
   * Calls `check` now, at every notification of `topic` and once a second, until it returns a value; resolves to
   * undefined when `timeoutMs` has passed or `signal` aborts.
   */
  until<T>(topic: string, check: () => Promise<T | undefined>, within: Within): Promise<T | undefined>
  close(): Promise<void>
}
