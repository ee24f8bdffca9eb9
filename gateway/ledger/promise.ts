/** Promises to shoppers before their trades. The very rule that decides at delivery is asked beforehand. */
import type { Db, Tx } from '../db/client.ts'
import type { CreditMode } from '../db/trade-tables.ts'
import { mostCareful, promisedPart, roomFor } from './entry.ts'
import { countPromise, readRoom } from './promise-store.ts'

type Asked = {
  deposit: { store_id: bigint; credit_mode: CreditMode | null }
  /** On release where the shopper took items back before. */
  ofShopper: CreditMode | null
  rateId: bigint
  /** In minor units of the rate's currency. */
  total: bigint
  /** Days in which Steam lets a sender take a trade of the game back. */
  days: number
}

export type Promised = { atOnce: bigint; days: number }

/**
 * Returns how much of the total would be credited at once, at the least; null where nothing would be held. It is kept for a
 * trade that is written with it in the same transaction: nobody else takes that room.
 */
export async function promise(tx: Tx, asked: Asked): Promise<Promised | null> {
  if (asked.days === 0) return null
  const { deposit, ofShopper, rateId, total } = asked
  // Nothing is credited at once, so no room is needed.
  if (ofShopper !== 'on_release') await countPromise(tx, { storeId: deposit.store_id, rateId, total })
  return forecast(tx, asked)
}

/** The same as a look: the room is another a moment later. */
export async function forecast(
  db: Db | Tx,
  { deposit, ofShopper, rateId, total, days }: Asked,
): Promise<Promised | null> {
  if (days === 0) return null
  const { mode, free, others } = await readRoom(db, { storeId: deposit.store_id, rateId })
  const riskRoom = roomFor({ free, others, own: 0n })
  const credit = {
    total,
    isProtected: true,
    mode: mostCareful([mode, deposit.credit_mode, ofShopper]),
    riskRoom,
  }
  return { atOnce: promisedPart(credit), days }
}
