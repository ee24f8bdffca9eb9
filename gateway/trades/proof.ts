/** Judges Steam's trade record. Pure. No other answer of Steam moves money. */
import { DAY_MS } from '../kit/duration.ts'
import type { Offer, OfferAsset, SteamTrade } from '../steam/steam.ts'
import type { Trade } from './trade.ts'

export type Proof =
  | { kind: 'delivered' }
  /** Steam has not moved every item yet. */
  | { kind: 'not_yet' }
  /** `assetIds`: the shopper's asset ids. For a partial reversal, those that Steam marks. */
  | { kind: 'taken_back'; assetIds: readonly string[] }
  /** Steam could not exchange the items, and gave them back. */
  | { kind: 'failed' }
  /** The record contradicts the trade or itself, or Steam gave up undoing the trade. A person must look. */
  | { kind: 'contradiction' }

export function judgeSteamTrade(trade: Trade, steamTrade: SteamTrade): Proof {
  const isTheirs = steamTrade.partnerSteamId === trade.partnerSteamId && steamTrade.rollbackOf === null
  if (!isTheirs || !sameAssets(steamTrade.received, trade.items)) return { kind: 'contradiction' }
  const marked = steamTrade.received.filter((asset) => asset.rolledBackAssetId !== null)
  const allIds = steamTrade.received.map((asset) => asset.assetId)
  switch (steamTrade.state) {
    case 'complete':
      return { kind: 'delivered' }
    case 'committed':
      // Steam can leave trades in this state for a long time. They count once every item has its new id.
      return steamTrade.received.every((asset) => asset.newAssetId !== null)
        ? { kind: 'delivered' }
        : { kind: 'not_yet' }
    case 'pending':
    case 'in_escrow':
      return { kind: 'not_yet' }
    case 'rolled_back':
      // A full reversal, whichever rows Steam has marked so far.
      return { kind: 'taken_back', assetIds: allIds }
    case 'partly_rolled_back':
      return marked.length > 0
        ? { kind: 'taken_back', assetIds: marked.map((asset) => asset.assetId) }
        : { kind: 'contradiction' }
    case 'failed':
      return { kind: 'failed' }
    case 'abandoned':
      return { kind: 'contradiction' }
    default:
      return steamTrade.state satisfies never
  }
}

/** True if both lists have the same assets, each once. */
export function sameAssets(some: readonly OfferAsset[], others: readonly OfferAsset[]): boolean {
  const key = (asset: OfferAsset): string => `${asset.appId}/${asset.contextId}/${asset.assetId}`
  const otherKeys = new Set(others.map(key))
  const someKeys = new Set(some.map(key))
  return (
    some.length === others.length &&
    someKeys.size === others.length &&
    some.every((asset) => otherKeys.has(key(asset)))
  )
}

/** When a delivery can no longer be reversed; null if it never could be. `protectionDays`: of its game. */
export function settlementOf(steamTrade: SteamTrade, acceptedAt: Date, protectionDays: number): Date | null {
  const byGame = protectionDays > 0 ? acceptedAt.getTime() + protectionDays * DAY_MS : 0
  const latest = Math.max(byGame, steamTrade.settlesAt?.getTime() ?? 0)
  return latest > 0 ? new Date(latest) : null
}

/** When a delivery that is credited now can no longer be reversed: the later of two times; null if neither is ahead. */
export function settlementAhead(now: Date, [one, other]: readonly [Date | null, Date | null]): Date | null {
  const end = later(one, other)
  return end !== null && end > now ? end : null
}

/** The longest known trade protection of Steam. */
const LONGEST_PROTECTION_MS = 8 * DAY_MS

/**
 * When protection ends, from an accepted offer; null if the offer shows no protection. If it shows protection without
 * an end, the longest known protection counts.
 */
export function offeredSettlement({ settlesAt, delaysSettlement }: Offer, acceptedAt: Date): Date | null {
  if (settlesAt !== null) return settlesAt
  return delaysSettlement ? new Date(acceptedAt.getTime() + LONGEST_PROTECTION_MS) : null
}

/** The later of two times; null if neither is known. */
export function later(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one > other ? one : other
}
