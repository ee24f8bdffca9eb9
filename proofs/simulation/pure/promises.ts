/** Promises to shoppers with open offers. Each reserves a part of its store's limit. */
import { DEFAULT_PROTECTION_DAYS } from '../../../gateway/config.ts'
import { DELIVERED_TRADE_STATES, OPEN_TRADE_STATES } from '../../../gateway/db/trade-tables.ts'
import { promisedPart, type Room, roomFor } from '../../../gateway/ledger/entry.ts'
import type { Trade } from '../../../gateway/trades/trade.ts'
import type { Store, TillMemory, TradeRow } from './memory.ts'

const OPEN: readonly Trade['state'][] = OPEN_TRADE_STATES
/**
 * The states in which `promised` counts: the delivered ones too, because a trade's room is also computed after its
 * delivery. If the offer ended before the items came, `promised` is 0 by then.
 */
const PROMISED: readonly Trade['state'][] = [...OPEN_TRADE_STATES, ...DELIVERED_TRADE_STATES]

/** The credit, available immediately, that the page promises the shopper before the offer. */
export function promiseTo(memory: TillMemory, row: TradeRow): bigint {
  if (DEFAULT_PROTECTION_DAYS[row.facts.game] === 0) return 0n
  const riskRoom = roomFor(roomBeside(memory, row))
  const mode = memory.onRelease.has(row.trade.partnerSteamId) ? 'on_release' : row.deposit.store.mode
  return promisedPart({ total: row.total, isProtected: true, mode, riskRoom })
}

/**
 * The settings for the delivery of a trade: those of its store, but credit on release if the trade's shopper took items
 * back and is not forgiven.
 */
export function settingsFor(memory: TillMemory, row: TradeRow): Store {
  const { store } = row.deposit
  return { ...store, mode: tookBack(memory, row) ? 'on_release' : store.mode }
}

function tookBack({ trades, forgiven }: TillMemory, { trade: { partnerSteamId } }: TradeRow): boolean {
  return [...trades.values()].some(
    (other) => other.trade.partnerSteamId === partnerSteamId && other.reversals > (forgiven.get(other) ?? 0),
  )
}

/** The room in the store's limit for this trade, next to all other trades of the store. */
export function roomBeside(memory: TillMemory, row: TradeRow): Room {
  const { store } = row.deposit
  const isOther = (other: TradeRow) => other !== row && other.deposit.store === store
  let freeMinor = store.riskLimit
  for (const other of memory.atRisk) if (isOther(other)) freeMinor -= other.atRisk
  let otherPromisesMinor = 0n
  for (const { open } of memory.bots.values()) {
    for (const other of open)
      if (isOther(other) && OPEN.includes(other.trade.state)) otherPromisesMinor += other.promised
  }
  return {
    freeMinor,
    ownPromiseMinor: PROMISED.includes(row.trade.state) ? row.promised : 0n,
    otherPromisesMinor,
  }
}
