/** Reads from Steam: an account's items, who sent them, and prices. */
import { HOUR_MS } from '../durations.ts'
import type { GivenAsset } from '../giving/gift.ts'
import { readOwnItems, readPrice, readTrade } from './answers.ts'
import { type Caller, isLimit } from './call.ts'
import type { Pace } from './pace.ts'
import type { Session } from './session.ts'

const MOST_PAGES = 10
const PAGE_SIZE = '1000'
/** Items traded under protection are in another context until they are free. */
const FREE_CONTEXT = '2'
/**
 * Steam's statuses of a trade that was not taken back: committed, which can last for long, and complete. A committed
 * trade may not have moved all items yet. Those that it moved have new ids.
 */
const NOT_TAKEN_BACK: ReadonlySet<number> = new Set([2, 3])
/** Steam's number for US dollars. */
const USD = '1'

export type OwnItem = { assetId: string; marketHashName: string; isTradable: boolean }

/**
 * Reads the account's items of a game, by asset id. Skips protected items, and items that Steam does not describe.
 * Undefined if Steam did not send every page, or there are more than `MOST_PAGES`.
 */
export async function readFreeItems(
  session: Pick<Session, 'steamId' | 'api'>,
  appId: number,
): Promise<Map<string, OwnItem> | undefined> {
  const items = new Map<string, OwnItem>()
  let start: string | undefined
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const reply = await session.api('inventory', 'IEconService/GetInventoryItemsWithDescriptions', {
      steamid: session.steamId,
      appid: String(appId),
      contextid: FREE_CONTEXT,
      get_descriptions: '1',
      count: PAGE_SIZE,
      ...(start === undefined ? {} : { start_assetid: start }),
    })
    const inventory = reply && readOwnItems(reply)
    if (inventory === undefined) return undefined
    const classOf = (row: { classid: string; instanceid?: string | undefined }) =>
      `${row.classid}/${row.instanceid ?? '0'}`
    const described = new Map(inventory.descriptions.map((row) => [classOf(row), row]))
    for (const asset of inventory.assets) {
      const description = described.get(classOf(asset))
      if (asset.appid !== appId || asset.contextid !== FREE_CONTEXT || description === undefined) continue
      items.set(asset.assetid, {
        assetId: asset.assetid,
        marketHashName: description.market_hash_name,
        isTradable: description.tradable === true || description.tradable === 1,
      })
    }
    if (!inventory.more_items) return items
    if (inventory.last_assetid === undefined) return undefined
    start = inventory.last_assetid
  }
  return undefined
}

/** Returns the account that sent these items in the Steam trade. Undefined if Steam's record does not prove it. */
export async function readGiver(
  session: Session,
  steamTradeId: string,
  assets: readonly GivenAsset[],
): Promise<string | undefined> {
  const reply = await session.api('trade', 'IEconService/GetTradeStatus', { tradeid: steamTradeId })
  const trade = reply && readTrade(reply)
  if (trade === undefined || trade.tradeid !== steamTradeId || !NOT_TAKEN_BACK.has(trade.status))
    return undefined
  const received = new Set(trade.assets_received.map(({ appid, new_assetid }) => `${appid}/${new_assetid}`))
  return assets.every(({ appId, assetId }) => received.has(`${appId}/${assetId}`))
    ? trade.steamid_other
    : undefined
}

/** How long a price stays in the cache. */
const PRICE_AGE_MS = 6 * HOUR_MS
/** A cache of this many prices is emptied before another is added. */
const MOST_PRICES = 20_000

/** Prices of Steam's own market, in US cents. The vault never uses the till's prices. */
export function createPrices({ caller, pace, nowMs }: { caller: Caller; pace: Pace; nowMs: () => number }) {
  const cache = new Map<string, { cents: bigint | undefined; atMs: number }>()
  /** Resolves to undefined if there is no price; to `unanswered` if Steam was not asked, or gave no usable answer. */
  return async (appId: number, name: string): Promise<bigint | undefined | 'unanswered'> => {
    const key = `${appId}/${name}`
    const cached = cache.get(key)
    if (cached !== undefined && nowMs() - cached.atMs < PRICE_AGE_MS) return cached.cents
    if (!(await pace.turn('price'))) return 'unanswered'
    const url = new URL('https://steamcommunity.com/market/priceoverview/')
    url.search = new URLSearchParams({
      appid: String(appId),
      currency: USD,
      market_hash_name: name,
    }).toString()
    const reply = await caller.call({ method: 'GET', url })
    if (reply.kind === 'failed') return 'unanswered'
    if (isLimit(reply)) pace.noteLimit('price')
    const cents = readPrice(reply)
    if (cents === 'unanswered') return cents
    pace.noteAnswer('price')
    if (cache.size >= MOST_PRICES) cache.clear()
    cache.set(key, { cents, atMs: nowMs() })
    return cents
  }
}
