/** Judges Steam's record of a trade in which the vault gave items. Pure. */
import { type Gift, isSameSet } from '../giving/gift.ts'
import type { TradeRecord } from './answers.ts'

/** Steam's states of trades that went through, including trades that were later taken back in whole or in part. */
const WENT_THROUGH = new Set([3, 5, 6, 7, 12])
/** Steam's states of trades that moved nothing: failed at once (4), or called off in escrow (11). */
const FAILED = new Set([4, 11])
/** The items were exchanged, but Steam has not finished all work. A trade can stay in this state for long. */
const COMMITTED = 2
/** The trade failed, and Steam gave up undoing it: each side may have some of the items. */
const ABANDONED = 9

/** `isAbandoned`: Steam gave up undoing the trade, so the record may be wrong about where the items are. */
export type TradeResult = { kind: 'given' | 'failed'; isAbandoned: boolean }

/**
 * The result is `failed` for a trade that moved nothing, whatever it was about. Otherwise it is undefined if Steam has
 * not finished the trade, or if the record is not about this gift. If Steam gave up undoing a failed trade, the result
 * is `given` if the partner has one item or more.
 */
export function resultOfTrade(trade: TradeRecord, gift: Gift): TradeResult | undefined {
  const { status, assets_given: rows } = trade
  if (FAILED.has(status)) return { kind: 'failed', isAbandoned: false }
  const given = rows.map(({ appid, contextid, assetid }) => ({
    appId: appid,
    contextId: contextid,
    assetId: assetid,
  }))
  const isThisGift =
    trade.steamid_other === gift.partnerSteamId &&
    trade.assets_received.length === 0 &&
    isSameSet(gift.assets, given)
  if (!isThisGift) return undefined
  const haveAllMoved = rows.every(({ new_assetid }) => new_assetid !== undefined)
  if (WENT_THROUGH.has(status) || (status === COMMITTED && haveAllMoved))
    return { kind: 'given', isAbandoned: false }
  if (status !== ABANDONED) return undefined
  const hasAnyMoved = rows.some(
    (row) => row.new_assetid !== undefined && row.rollback_new_assetid === undefined,
  )
  return { kind: hasAnyMoved ? 'given' : 'failed', isAbandoned: true }
}
