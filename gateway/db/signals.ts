/** Waiting for a row that another process completes: PostgreSQL's NOTIFY wakes, the row decides. */
import type { Tx } from './client.ts'

/** How long a wait may take, and what ends it earlier. */
export type Within = { timeoutMs: number; signal?: AbortSignal | undefined }

export interface Signals {
  /** Wakes waiters of `topic` (for example `trade:12`) once the transaction commits. */
  notify(tx: Tx, topic: string): Promise<void>
  /**
   * Calls `check` now, at every notification of `topic` and once a second, until it gives a value;
   * resolves to undefined when `timeoutMs` has passed or `signal` aborts.
   */
  until<T>(topic: string, check: () => Promise<T | undefined>, within: Within): Promise<T | undefined>
  close(): Promise<void>
}
