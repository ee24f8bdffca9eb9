/** Sweeps of deliveries that no lane would send in time, or at all. */
import type { Db } from '../db/client.ts'
import { inRounds } from '../db/sweep-store.ts'
import { inTransaction } from '../db/transaction.ts'
import { type Clock, plus } from '../kit/clock.ts'
import { HOUR_MS } from '../kit/duration.ts'
import { disabledEndpointsWithDue, giveUpIfDisabled, MOST_GIVEN_UP } from './endpoint-store.ts'
import { LONGEST_WAIT_MS } from './schedule.ts'
import { bringForward, MOST_BROUGHT_FORWARD } from './store.ts'

/** The most endpoints of one sweep. The next sweep continues. */
const MOST_ENDPOINTS = 100

/**
 * Gives up the deliveries that were left when their endpoint was disabled or removed.
 *
 * An endpoint can have hundreds of thousands of waiting deliveries. They are given up in short transactions, because
 * each keeps the endpoint locked, and its store's other calls and the publication of events wait for that lock.
 */
export async function sweepDisabledEndpoints({ db }: { db: Db }): Promise<void> {
  for (const id of await disabledEndpointsWithDue(db, MOST_ENDPOINTS)) {
    await inRounds(MOST_GIVEN_UP, () => inTransaction(db, (tx) => giveUpIfDisabled(tx, id)))
  }
}

/** How far apart the clocks of two gateways may be. Neither may change what the other one scheduled. */
const APART_MS = HOUR_MS

/** A wrong clock may schedule a retry years ahead. Without this sweep, the delivery would wait for it. */
export async function sweepFarDeliveries({ db, clock }: { db: Db; clock: Clock }): Promise<void> {
  const now = clock.now()
  const latest = plus(now, LONGEST_WAIT_MS + APART_MS)
  await inRounds(MOST_BROUGHT_FORWARD, () => bringForward(db, { latest, now }))
}
