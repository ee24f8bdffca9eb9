/** Sweeps of deliveries that no lane would send in time, or at all. */
import type { Db } from '../db/client.ts'
import { inRounds } from '../db/sweep-store.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import { disabledEndpointsWithDue, giveUpIfDisabled, MOST_GIVEN_UP } from './endpoint-store.ts'
import { LONGEST_WAIT_MS } from './schedule.ts'
import { bringForward, MOST_BROUGHT_FORWARD } from './store.ts'

/** The most endpoints of one sweep. The next sweep continues. */
const MOST_ENDPOINTS_SWEPT = 100

/**
 * Gives up the deliveries that were left when their endpoint was disabled or removed.
 *
 * An endpoint can have hundreds of thousands of waiting deliveries. They are given up in short transactions, because
 * each keeps the endpoint locked, and the calls of its store that change the endpoint wait for that lock.
 */
export async function sweepDisabledEndpoints({ db }: { db: Db }): Promise<void> {
  for (const id of await disabledEndpointsWithDue(db, MOST_ENDPOINTS_SWEPT)) {
    await inRounds(MOST_GIVEN_UP, () => inTransaction(db, (tx) => giveUpIfDisabled(tx, id)))
  }
}

/**
 * Makes deliveries due now that a wrong clock scheduled hours or years ahead. Without this sweep, they would wait until
 * then. A first attempt is always scheduled for at once, and a retry for at most `LONGEST_WAIT_MS` later.
 */
export async function sweepFarDeliveries({ db, clock }: { db: Db; clock: Clock }): Promise<void> {
  const now = clock.now()
  const waitsMs = { first: 0, again: LONGEST_WAIT_MS }
  for (const lane of ['first', 'again'] as const) {
    await inRounds(MOST_BROUGHT_FORWARD, () => bringForward(db, lane, { now, waitMs: waitsMs[lane] }))
  }
}
