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
  let sum = 0n
  for (const row of atRisk) if (row.deposit.store === store) sum += row.atRisk
  must(
    sum === store.atRisk,
    'I15',
    () => `store ${store.number} has ${store.atRisk} at risk, its trades ${sum}`,
  )
}

/** Losses that stop counting within this time are ignored, because clocks differ by minutes. */
const MARGIN_MS = 3_600_000

/** Checks a store's limit from the ledger, not from `atRisk`. */
export function checkLimit({ ledger, trades, engine }: TillMemory, store: Store): void {
  let atRisk = 0n
  for (const row of trades.values()) {
    if (row.deposit.store !== store || row.protectionFoundAt !== null) continue
    const { id } = row.facts
    // While a trade is held, only an operator can have released any of it.
    if (row.trade.state === 'held') atRisk += ledger.spendableAtOnce(id) + ledger.released(id)
    else atRisk += ledger.lostSince(id, engine.now() - LOST_ROOM_MS + MARGIN_MS)
  }
  must(
    atRisk <= store.riskLimit,
    'I15',
    () => `store ${store.number} has ${atRisk} at risk, its limit is ${store.riskLimit}`,
  )
}
