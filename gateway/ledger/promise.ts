/** Promises to shoppers before their trades: how much of the credit the store can spend at delivery. */
import type { Db, Tx } from '../db/client.ts'
import type { CreditMode } from '../db/trade-tables.ts'
import { mostCareful, promisedPart, roomFor } from './entry.ts'
import { readRoom, reservePromise } from './promise-store.ts'

type PromiseQuery = {
  deposit: { store_id: bigint; credit_mode: CreditMode | null }
  /** The mode that the shopper's account requires; null if the store and the deposit decide. */
  shopperMode: CreditMode | null
  rateId: bigint
  /** In minor units of the rate's currency. */
  total: bigint
  /** Days during which Steam lets a sender reverse a trade of the game. */
  days: number
}

/** `by`: what holds the rest back, either the store's limit for credit at risk or credit on release. */
export type CreditPromise = { atOnce: bigint; days: number; by: 'limit' | 'release' }

/**
 * Returns how much of the total the store can spend at delivery: all, or a part, rounded down to 1, 2 or 5 times a
 * power of ten. Returns null if Steam does not protect trades of the game. The amount stays reserved for a trade that
 * is written in the same transaction.
 */
export async function makePromise(tx: Tx, query: PromiseQuery): Promise<CreditPromise | null> {
  if (query.days === 0) return null
  const { deposit, shopperMode, rateId, total } = query
  // On release, the store can spend nothing at delivery, so nothing has to be reserved.
  if (shopperMode !== 'on_release') await reservePromise(tx, { storeId: deposit.store_id, rateId, total })
  return forecastPromise(tx, query)
}

/** Like `makePromise`, but without a reservation, so the result may differ a moment later. */
export async function forecastPromise(
  db: Db | Tx,
  { deposit, shopperMode, rateId, total, days }: PromiseQuery,
): Promise<CreditPromise | null> {
  if (days === 0) return null
  const { mode, freeMinor, otherPromisesMinor } = await readRoom(db, { storeId: deposit.store_id, rateId })
  const riskRoom = roomFor({ freeMinor, otherPromisesMinor, ownPromiseMinor: 0n })
  const strictest = mostCareful([mode, deposit.credit_mode, shopperMode])
  const atOnce = promisedPart({ total, isProtected: true, mode: strictest, riskRoom })
  return { atOnce, days, by: strictest === 'on_release' ? 'release' : 'limit' }
}
