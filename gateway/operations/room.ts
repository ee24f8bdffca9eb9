import { counted } from '../kit/counted.ts'
import { freeLostRoom } from '../ledger/room-store.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, unchanged } from './operation.ts'
import { findStore } from './store.ts'
import { noStore } from './store-check.ts'

export type FreedRoom = { storeId: bigint; trades: number }

/** Frees the part of a store's limit that reversals use. Otherwise, each reversal uses its part for 30 days. */
export function freeRoom(deps: ActDeps, storeId: bigint): Promise<Answer<FreedRoom>> {
  const namedAct = {
    name: 'store free-room',
    needsReason: true,
    argumentsOf: (freed: FreedRoom) => ({ ...freed }),
  }
  return act(deps, namedAct, async (tx) => {
    if ((await findStore(tx, storeId)) === undefined) {
      return noStore(storeId)
    }
    const trades = await freeLostRoom(tx, storeId)
    const freed = { storeId, trades }
    if (trades === 0) return unchanged(freed, 'No reversal uses a part of the limit of this store.')
    return done(freed, `The room that ${counted(trades, 'reversed trade')} took is free again.`)
  })
}
