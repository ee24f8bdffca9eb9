/** Promises to shoppers before their trades. The very rule that decides at delivery is asked beforehand. */
import type { Tx } from '../db/client.ts'
import type { CreditMode } from '../db/trade-tables.ts'
import { mostCareful, promisedPart, roomFor } from './entry.ts'
import { lockPromises, readPromises } from './promise-store.ts'
import { riskRoom } from './room-store.ts'

type Asked = {
  deposit: { store_id: bigint; credit_mode: CreditMode | null }
  rateId: bigint
  /** In minor units of the rate's currency. */
  total: bigint
  /** Days in which Steam lets a sender take a trade of the game back. */
  days: number
}

export type Promised = { atOnce: bigint; days: number }

/** No trade has this number. */
const NO_TRADE = 0n

/**
 * Returns how much of the total would be credited at once, at the least; null where nothing would be held. It is kept for a trade that
 * is written with it in the same transaction: nobody else takes that room.
 */
export async function promise(tx: Tx, { deposit, days, ...asked }: Asked): Promise<Promised | null> {
  if (days === 0) return null
  const { total, rateId } = asked
  const of = { storeId: deposit.store_id, rateId, tradeId: NO_TRADE }
  await lockPromises(tx, of.storeId)
  const free = await riskRoom(tx, of)
  const { mode, others } = await readPromises(tx, of)
  const room = roomFor({ free, others, own: 0n })
  const credit = { total, isProtected: true, mode: mostCareful([mode, deposit.credit_mode]), riskRoom: room }
  return { atOnce: promisedPart(credit), days }
}
