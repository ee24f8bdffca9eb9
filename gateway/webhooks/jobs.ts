/** Gives up the deliveries that were left when their endpoint was disabled or removed. */
import type { Db } from '../db/client.ts'
import { inRounds } from '../db/sweep-store.ts'
import { inTransaction } from '../db/transaction.ts'
import { disabledEndpointsWithDue, giveUpIfDisabled, MOST_GIVEN_UP } from './endpoint-store.ts'

/** The most endpoints of one sweep. The next sweep continues. */
const MOST_ENDPOINTS = 100

/**
 * An endpoint can have hundreds of thousands of waiting deliveries. They are given up in short transactions, because
 * each keeps the endpoint locked, and its store's other calls and the publication of events wait for that lock.
 */
export async function sweepDisabledEndpoints({ db }: { db: Db }): Promise<void> {
  for (const id of await disabledEndpointsWithDue(db, MOST_ENDPOINTS)) {
    await inRounds(MOST_GIVEN_UP, () => inTransaction(db, (tx) => giveUpIfDisabled(tx, id)))
  }
}
