import type { Db } from '../db/client.ts'
import { deleteBefore } from '../db/sweep-store.ts'
import type { Clock } from '../kit/clock.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import { sealTokens } from '../shoppers/jobs.ts'
import type { Keep } from './settings.ts'
import { type DepositPlace, deleteDeliveries, eraseProfiles, eraseTokens } from './store.ts'

type Deps = { db: Db; clock: Clock; box: SecretBox; keep: Keep }

/** The most rows in one batch. */
const MOST_ROWS = 500
/** The most batches of each kind in one run; the rest waits for the next run. */
const MOST_BATCHES = 200
/**
 * Added to the period for tokens: a trade that ended without its items is reviewed for a day, and a final one is looked
 * at again a day after settlement.
 */
const LAST_LOOK_MS = 24 * 3_600_000
const FIRST_PLACE: DepositPlace = { expiresAt: '-infinity', id: 0n }

/**
 * Erases and deletes data that the till must not keep any longer, and encrypts tokens that an earlier version stored
 * unencrypted.
 */
export async function sweepOldData({ db, clock, box, keep }: Deps): Promise<void> {
  const now = clock.now()
  const ago = (ms: number) => new Date(now.getTime() - ms)
  await sealTokens({ db, box })
  await deleteBefore(db, { table: 'webhook_attempt', column: 'at' }, ago(keep.attemptsMs))
  const deliveries = { before: ago(keep.deliveriesMs), limit: MOST_ROWS }
  await inBatches(0n, (after) => deleteDeliveries(db, { ...deliveries, after }))
  const endedBefore = ago(keep.tokensMs + LAST_LOOK_MS)
  const tokens = { before: ago(keep.tokensMs), endedBefore, now, limit: MOST_ROWS }
  await inBatches(FIRST_PLACE, (after) => eraseTokens(db, { ...tokens, after }))
  const profiles = { before: ago(keep.pagesMs), limit: MOST_ROWS }
  await inBatches(FIRST_PLACE, (after) => eraseProfiles(db, { ...profiles, after }))
}

/** `step` processes a batch from a place, and resolves to the next place. */
async function inBatches<Place>(
  first: Place,
  step: (after: Place) => Promise<Place | undefined>,
): Promise<void> {
  let after: Place | undefined = first
  for (let batches = 0; batches < MOST_BATCHES && after !== undefined; batches += 1) after = await step(after)
}
