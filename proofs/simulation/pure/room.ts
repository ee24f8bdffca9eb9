/** The used part of each store's limit for credit at risk, checked against the store's trades. */
import { LOST_ROOM_MS } from '../../../gateway/trades/credit.ts'
import type { RoomChange } from '../../../gateway/trades/room.ts'
import { must } from '../violation.ts'
import type { Store, TillMemory, TradeRow } from './memory.ts'

export function changeRoom(memory: TillMemory, row: TradeRow, { exposed, lost }: RoomChange): void {
  const { store } = row.deposit
  store.atRisk += exposed.now - exposed.before
  if (lost !== null) {
    store.atRisk += lost.amount - (memory.lost.get(row)?.amount ?? 0n)
    memory.lost.delete(row)
    if (lost.amount > 0n) memory.lost.set(row, lost)
  }
}

export function freeExpiredRoom(memory: TillMemory, now: Date): void {
  for (const [row, { amount, until }] of memory.lost) {
    if (until > now) continue
    memory.lost.delete(row)
    row.deposit.store.atRisk -= amount
    row.atRisk = 0n
    checkRoom(memory, row.deposit.store)
  }
}

export function checkRoom({ atRisk }: TillMemory, store: Store): void {
  let taken = 0n
  for (const row of atRisk) if (row.deposit.store === store) taken += row.atRisk
  must(
    taken === store.atRisk,
    'I15',
    () => `store ${store.number} has ${store.atRisk} at risk, its trades ${taken}`,
  )
}

/** Losses that stop counting within this time are ignored, because clocks differ by minutes. */
const MARGIN_MS = 3_600_000

/** Checks a store's limit from the ledger, not from `atRisk`. */
export function checkLimit({ ledger, trades, engine }: TillMemory, store: Store): void {
  let taken = 0n
  for (const other of trades.values()) {
    if (other.deposit.store !== store || other.protectionFoundAt !== null) continue
    const { id } = other.facts
    // While a trade is held, only an operator can have released any of it.
    if (other.trade.state === 'held') taken += ledger.early(id) + ledger.released(id)
    else taken += ledger.lostSince(id, engine.now() - LOST_ROOM_MS + MARGIN_MS)
  }
  must(
    taken <= store.riskLimit,
    'I15',
    () => `store ${store.number} has ${taken} at risk, its limit is ${store.riskLimit}`,
  )
}
