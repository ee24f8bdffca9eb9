import { Transaction } from 'kysely'
import type { Db, Tx } from './client.ts'
import { sqlState } from './sql-state.ts'

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const MOST_TRIES = 5

/** Thrown by the work of a transaction if another transaction has changed the data that the work is based on. */
export class Overtaken extends Error {
  readonly code = SERIALIZATION_FAILURE
}

/**
 * Runs `work` in a transaction, and repeats it if PostgreSQL aborted it in favour of another transaction, or if it was
 * `Overtaken`: `MOST_TRIES` tries in all. `work` must have no effect outside the transaction. If `db` is already a
 * transaction, `work` becomes a part of it: only the outer call repeats, and `tries` is always 1.
 */
export async function inTransaction<T>(db: Db | Tx, work: (tx: Tx, tries: number) => Promise<T>): Promise<T> {
  if (db instanceof Transaction) return work(db, 1)
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction().execute((tx) => work(tx, tries))
    } catch (error) {
      const code = sqlState(error)
      if ((code !== SERIALIZATION_FAILURE && code !== DEADLOCK) || tries >= MOST_TRIES) throw error
    }
  }
}

/** Runs `read` in a transaction in which every statement sees the database as the first one did. */
export const inSnapshot = <T>(db: Db, read: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read)
