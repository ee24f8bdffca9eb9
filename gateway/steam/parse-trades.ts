/**
 * Parses raw records of Steam trades. One unreadable field makes the whole record unreadable, unless it is the time at
 * which the trade began. So does an item that was given twice.
 */
import { z } from 'zod'
import { assetRow, count, dateOf, flag, id, nullIfZero } from './parse.ts'
import type { HistoryPlace, MovedAsset, SteamTrade, SteamTradeState } from './steam.ts'

/**
 * 8: the trade failed, and Steam has not undone it for all items yet. 9: Steam gave up undoing it. 11: the trade failed
 * in escrow. Steam's client libraries do not know 12.
 */
const TRADE_STATES: Record<number, SteamTradeState> = {
  0: 'pending',
  1: 'pending',
  2: 'committed',
  3: 'complete',
  4: 'failed',
  5: 'partly_rolled_back',
  6: 'rolled_back',
  7: 'partly_rolled_back',
  8: 'pending',
  9: 'abandoned',
  10: 'in_escrow',
  11: 'failed',
  12: 'rolled_back',
}

/**
 * Steam omits an empty list, so null or no value counts as one. Otherwise, a trade in which the bot only gave items
 * would be unreadable, and a theft could be overlooked.
 */
const assetList = z
  .array(z.unknown())
  .nullish()
  .transform((rows) => rows ?? [])

const tradeRow = z.object({
  tradeid: id,
  steamid_other: id,
  status: z.int(),
  time_init: count.catch(0),
  time_settlement: count.optional(),
  rollback_trade: id.optional(),
  assets_received: assetList,
  assets_given: assetList,
})

const movedAssetRow = assetRow.extend({
  new_assetid: id.optional(),
  rollback_new_assetid: id.optional(),
})

const tradesAnswer = z.object({ response: z.object({ trades: z.array(z.unknown()).optional() }) })

/** An answer with more than 500 rows is unreadable. We ask for 100. */
const historyAnswer = z.object({
  response: z.object({
    trades: z.array(z.unknown()).max(500).optional(),
    more: flag.optional(),
  }),
})

/** Without its time, the row would look older than everything, so the history would look complete. */
const historyPlace = z.object({ tradeid: id, time_init: count.refine((seconds) => seconds > 0) })

/** `undefined`: unreadable. `null`: Steam does not know the trade (yet). */
export function parseTrade(body: unknown, tradeId: string): SteamTrade | null | undefined {
  const answer = tradesAnswer.safeParse(body)
  if (!answer.success) return undefined
  const row = answer.data.response.trades?.[0]
  if (row === undefined) return null
  const trade = parseTradeRow(row)
  return trade?.tradeId === tradeId ? trade : undefined
}

type TradesPage = { trades: SteamTrade[]; unreadable: number; next: HistoryPlace | null }

/**
 * One page of the history; undefined if it cannot be read, or does not show where the next one begins. A response
 * without content proves nothing: Steam sends such answers while it has trouble, or when it was asked too often.
 */
export function parseTrades(body: unknown): TradesPage | undefined {
  const answer = historyAnswer.safeParse(body)
  if (!answer.success) return undefined
  const { trades: tradeRows, more } = answer.data.response
  if (tradeRows === undefined && more === undefined) return undefined
  const rows = tradeRows ?? []
  const trades = rows.flatMap((row) => parseTradeRow(row) ?? [])
  const page = { trades, unreadable: rows.length - trades.length }
  if (!more) return { ...page, next: null }
  // If the place of the last row is unreadable, the next page begins above that row, and so also shows those below it.
  const place = rows.flatMap((row) => historyPlace.safeParse(row).data ?? []).at(-1)
  if (place === undefined) return undefined
  return { ...page, next: { tradeId: place.tradeid, begunAt: new Date(place.time_init * 1000) } }
}

function parseTradeRow(row: unknown): SteamTrade | undefined {
  const parsed = tradeRow.safeParse(row)
  const state = parsed.success ? TRADE_STATES[parsed.data.status] : undefined
  if (!parsed.success || !state) return undefined
  const received = parseMoved(parsed.data.assets_received)
  const given = parseMoved(parsed.data.assets_given)
  if (!received || !given || repeatsAsset(given)) return undefined
  return {
    tradeId: parsed.data.tradeid,
    partnerSteamId: parsed.data.steamid_other,
    state,
    begunAt: new Date(parsed.data.time_init * 1000),
    received,
    given,
    settlesAt: dateOf(parsed.data.time_settlement ?? 0),
    rollbackOf: nullIfZero(parsed.data.rollback_trade),
  }
}

/** A list that has an asset twice is wrong about which items left. */
const repeatsAsset = (assets: readonly MovedAsset[]): boolean =>
  new Set(assets.map(({ appId, assetId }) => `${appId}/${assetId}`)).size < assets.length

/** `undefined` if one is unreadable: a trade with a missing asset would look like one for fewer items. */
function parseMoved(rows: readonly unknown[]): MovedAsset[] | undefined {
  const assets = z.array(movedAssetRow).safeParse(rows)
  return assets.data?.map((asset) => ({
    appId: asset.appid,
    contextId: asset.contextid,
    assetId: asset.assetid,
    newAssetId: nullIfZero(asset.new_assetid),
    rolledBackAssetId: nullIfZero(asset.rollback_new_assetid),
  }))
}
