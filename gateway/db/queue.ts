/** The port of the job queue. A job is an alarm: it only wakes a worker. The work itself is in rows with `due_at`. */
import type { Tx } from './client.ts'

export type NewJob = {
  queue: string
  data: object
  /** By the till's clock. */
  startAfter?: Date
  /** At most one waiting job of the queue has this key and this start time; further ones are dropped. */
  singletonKey?: string
  /** Comes before waiting jobs that are not urgent, because a person is waiting for it. */
  urgent?: boolean
}

export interface Queue {
  /** Creates the queue if it does not exist. Call this before the first send to it. */
  ensure(name: string): Promise<void>
  /** Sends in the caller's transaction: the job exists only if the transaction commits. */
  send(tx: Tx, job: NewJob): Promise<void>
  /** Runs `handler` for the queue's jobs, up to `concurrency` (default 4) at a time. Resolves to a stop function. */
  work(
    name: string,
    handler: (data: unknown) => Promise<void>,
    options?: { concurrency?: number },
  ): Promise<() => Promise<void>>
  /** Waits for running handlers (at most 10 s), then stops. */
  stop(): Promise<void>
}
