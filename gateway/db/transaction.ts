/** Transactions that start again if PostgreSQL aborted them in favour of another one. */
import { Transaction } from 'kysely'
import type { Db, Tx } from './client.ts'
import { sqlState } from './sql-state.ts'

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const MOST_TRIES = 5

/** Another transaction has changed the data that the work is based on. Run the work again. */
export class Overtaken extends Error {
  readonly code = SERIALIZATION_FAILURE
}

/**
 * Runs `work` in a transaction, and again if PostgreSQL aborted it in favour of another one. `work` must have no effect
 * outside the transaction. If `db` is already a transaction, `work` becomes a part of it, and the outer call repeats it.
 * `tries` counts from 1.
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
