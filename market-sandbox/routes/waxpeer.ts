/** Waxpeer's calls for sellers, on one host. The asset id identifies a listing. */
import { lowestAsk, offeredNames } from '../asks.ts'
import { WAXPEER_GAMES } from '../games.ts'
import { field, type Incoming, json, parseJson, type Reply } from '../http.ts'
import type { Market } from '../sandbox.ts'
import { markReady, openDeals } from '../world/deals.ts'
import { listItem, priceItem, unlistAll } from '../world/listings.ts'
import { OFFER, offerOf, SELLER_SHARE } from '../world/outcomes.ts'
import { askForInventory, inventoryOf, isBanned, isOnline } from '../world/sellers.ts'
import { type Deal, findSeller, itemsOf, type Listing, type Seller } from '../world/world.ts'
import { type Call, type CallContext, change } from './call.ts'
import { handOverOf, handOverUntilS } from './waxpeer-deals.ts'

const HOST = 'api.waxpeer.com'
/** For this long after Waxpeer received it, an access token lets its seller sell. */
const TOKEN_LIFE_S = 6 * 3_600
const MOST_LINES = 100
/** Waxpeer's units in a dollar. */
const UNITS = 1_000
/** Rows on one page of the history. */
const HISTORY_ROWS = 100
/** The most rows of the history that a call can skip. */
const MOST_SKIPPED = 1_000
/** An item may be listed or changed `MOST_OF_ITEM` times within this time. */
const ITEM_WINDOW_MS = 120_000
const MOST_OF_ITEM = 2
/** Steam's states of an offer: active, and waiting for the sender's phone. */
const SENT = new Set([OFFER.active, OFFER.unconfirmed])

const refuse = (msg: string, status = 200): Reply => json({ success: false, msg }, status)

export async function waxpeer(request: Incoming, market: Market): Promise<Reply | undefined> {
  const name = request.host === HOST ? /^\/v1\/([\w/-]+)$/.exec(request.path)?.[1] : undefined
  if (name === undefined) return undefined
  const key = request.query.get('api') ?? ''
  const seller = market.world().sellers.find((other) => other.key === key)
  if (!seller) return refuse('wrong api', 403)
  const call = CALLS[`${request.method} ${name}`]
  await market.look()
  const current = findSeller(market.world(), seller.steamId) ?? seller
  const appId = WAXPEER_GAMES[request.query.get('game') ?? 'csgo'] ?? 730
  return call?.({ request, market, seller: current, appId })
}

export const isSelling = (seller: Seller, nowS: number): boolean =>
  isOnline(seller, nowS) && hasToken(seller, nowS)

const hasToken = ({ tokenAtS }: Seller, nowS: number): boolean =>
  tokenAtS !== undefined && nowS - tokenAtS < TOKEN_LIFE_S

const CALLS: Record<string, Call> = {
  'GET user': ({ seller, market }) =>
    json({
      success: true,
      user: {
        id: seller.steamId,
        id64: seller.steamId,
        wallet: market.faults.isOn('wallet-in-dollars') ? seller.free / UNITS + 0.5 : seller.free,
        // Despite its name, the field contains the seller's share.
        sell_fees: market.faults.isOn('lies-fee') ? 0.99 : SELLER_SHARE,
        can_p2p: isSelling(seller, market.nowS()),
        tradelink: seller.tradeToken ?? null,
        ban: isBanned(seller, market.nowS()),
      },
    }),
  'POST user/steam-token': receiveToken,
  'POST change-tradelink': (context) => {
    const link = field(parseJson(context.request.body), 'tradelink')
    if (typeof link !== 'string' || !/^https:\/\/steamcommunity\.com\/tradeoffer\/new\/\?/.test(link))
      return refuse('Invalid tradelink')
    change(context, (seller) => ({ ...seller, tradeToken: link }))
    return json({ success: true, link })
  },
  'GET check-wss-user': (context) => {
    const { isPaused: _, ...seller } = context.seller
    if (!isSelling(seller, context.market.nowS())) return refuse('Connect to the websocket first')
    change(context, ({ isPaused: __, ...current }) => current)
    return json({ success: true, step: 3, msg: 'You can sell now' })
  },
  'GET fetch-my-inventory': (context) => {
    change(context, (seller, nowS) => askForInventory(seller, context.appId, nowS))
    return json({
      success: true,
      total_inventory_count: inventoryOf(context.seller, context.appId).items.length,
    })
  },
  'GET get-my-inventory': ({ seller, appId }) => {
    const items = inventoryOf(seller, appId).items.map(({ assetId, name }) => ({ item_id: assetId, name }))
    return json({ success: true, items, count: items.length })
  },
  'POST list-items-steam': list,
  'GET list-items-steam': ({ market, seller, appId }) => {
    const listings = market
      .world()
      .items.filter(
        (item) => item.seller === seller.steamId && item.appId === appId && item.status === 'on_sale',
      )
    const price = (item: Listing) =>
      market.faults.isOn('lies-price') ? Math.floor(item.price / 2) : item.price
    const items = listings.map((item, index) => ({
      item_id: item.assetId,
      price: price(item),
      position: index + 1,
      name: item.name,
      date: new Date(item.listedAtS * 1000).toISOString(),
    }))
    const odd = market.faults.isOn('odd-rows') ? [{ item_id: '4243', price: null }] : []
    return json({ success: true, items: [...items, ...odd] })
  },
  'POST edit-items': edit,
  'GET remove-items': ({ market, seller, request }) => {
    const removed = request.query.getAll('id').filter((assetId) => {
      const item = onSale(market, seller, assetId)
      return item !== undefined && reprice(market, item, 0)
    })
    const names = market.faults.isOn('names-no-removed') ? {} : { removed }
    return json({ success: true, count: removed.length, ...names })
  },
  'GET remove-all': ({ market, seller, appId }) => {
    const count = market.change((world) => unlistAll(world, { seller: seller.steamId, appId }))
    return json({ success: true, count })
  },
  'GET ready-to-transfer-p2p': ({ market, seller }) => {
    if (market.faults.isOn('poll-refused')) return refuse('noSteamApi')
    const deals = [...WAXPEER_APPS].flatMap((appId) => openDeals(market.world(), seller.steamId, appId))
    const trades = deals
      .filter((deal) => market.nowS() < handOverUntilS(market, deal) && deal.offerId === undefined)
      .map((deal) => handOverOf(market, deal))
    const odd = market.faults.isOn('odd-rows') ? [{ costum_id: 'without-link', tradelink: null }] : []
    const [only] = [...odd, ...trades]
    if (only !== undefined && market.faults.isOn('one-object')) return json({ success: true, ...only })
    return json({ success: true, trades: [...odd, ...trades] })
  },
  'POST steam-trade': steamTrade,
  'GET check-many-steam': ({ market, seller, request }) => {
    if (market.faults.isOn('check-for-buyers')) return refuse('Invalid ID')
    const ids = request.query.getAll('id')
    const deals = market
      .world()
      .deals.filter((deal) => deal.seller === seller.steamId && ids.includes(deal.hash))
    const trades = deals.map((deal) => ({
      // `id`: the first item's number. `custom_id`: the deal's hash; other calls spell this field differently.
      id: deal.itemIds[0],
      custom_id: deal.hash,
      trade_id: deal.offerId ?? null,
      status: statusOf(market, deal),
      done: deal.state !== 'open',
      send_until: deal.deadlineS,
    }))
    return json({ success: true, trades })
  },
  'POST my-history': history,
  'GET prices': ({ market }) => {
    const items = [...offeredNames(market)].map((name) => ({
      name,
      count: 12,
      min: lowestAsk(market, name, 'USD'),
    }))
    return json({ success: true, items })
  },
}

const WAXPEER_APPS = new Set(Object.values(WAXPEER_GAMES))

async function receiveToken(context: CallContext): Promise<Reply> {
  const { market, seller, request } = context
  const encoded = field(parseJson(request.body), 'token')
  const token = typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString() : ''
  if (!(await market.steam.isTokenOf(token, seller.steamId))) return refuse('Need to refresh access token')
  change(context, (other, nowS) => ({ ...other, accessToken: token, tokenAtS: nowS }))
  return json({ success: true, msg: 'ok' })
}

const onSale = (market: Market, seller: Seller, assetId: string): Listing | undefined =>
  market
    .world()
    .items.find(
      (item) => item.seller === seller.steamId && item.assetId === assetId && item.status === 'on_sale',
    )

const reprice = (market: Market, { itemId, seller }: Listing, price: number): boolean =>
  market.change((world, nowS) => priceItem(world, { seller, itemId, price }, nowS))

type Line = { item_id: string; price: number }

/**
 * Reads ids in any form. A number that is too large for JavaScript, such as an asset id of the game Rust, is rounded,
 * and becomes the id of another item.
 */
function linesOf(body: string): Line[] | undefined {
  const items = field(parseJson(body), 'items')
  if (!Array.isArray(items) || items.length === 0 || items.length > MOST_LINES) return undefined
  return items.map((line) => ({
    item_id: String(field(line, 'item_id')),
    price: Number(field(line, 'price')),
  }))
}

/**
 * Counts this change of the item and returns 0. If the change is too early, returns the milliseconds until it is
 * allowed.
 */
function waitOf(market: Market, assetId: string): number {
  const nowMs = market.machineMs()
  const recent = (market.itemCalls.get(assetId) ?? []).filter((at) => nowMs - at < ITEM_WINDOW_MS)
  const [first] = recent
  if (recent.length >= MOST_OF_ITEM && first !== undefined) return first + ITEM_WINDOW_MS - nowMs
  market.itemCalls.set(assetId, [...recent, nowMs])
  return 0
}

const toSeconds = (ms: number): number => Math.ceil(ms / 1000)

/** Lists the items. The answer reports success even if some lines failed. */
function list({ market, seller, appId, request }: CallContext): Reply {
  const lines = linesOf(request.body)
  if (!lines) return refuse('no items')
  const [listed, failed]: [unknown[], unknown[]] = [[], []]
  for (const { item_id, price } of lines) {
    const msBeforeNext = waitOf(market, item_id)
    const line = { assetId: item_id, price }
    const answer =
      msBeforeNext > 0
        ? {
            kind: 'refused' as const,
            error: `You can list your item after ${toSeconds(msBeforeNext)} seconds`,
          }
        : market.change((world, nowS) => listItem(world, { seller, appId, line }, nowS))
    if (answer.kind === 'listed') listed.push({ item_id, price, name: answer.item.name, position: 1 })
    else
      failed.push({
        ...(market.faults.isOn('failed-without-id') ? {} : { item_id }),
        price,
        msg: MESSAGES[answer.error] ?? answer.error,
        msBeforeNext,
      })
  }
  return json({ success: true, listed, failed })
}

const MESSAGES: Readonly<Record<string, string>> = {
  inventory_not_loaded: 'Inventory is not loaded',
  item_not_in_inventory: 'Item not found in your inventory',
  item_not_inserted: 'Item is already listed',
}

function edit({ market, seller, request }: CallContext): Reply {
  const lines = linesOf(request.body)
  if (!lines) return refuse('no items')
  const [updated, failed, removed]: [unknown[], unknown[], string[]] = [[], [], []]
  for (const { item_id, price } of lines) {
    const item = onSale(market, seller, item_id)
    const msBeforeNext = waitOf(market, item_id)
    if (msBeforeNext > 0)
      failed.push({
        item_id,
        price,
        msg: `You can update price after ${toSeconds(msBeforeNext)} seconds`,
        msBeforeNext,
      })
    else if (item === undefined || !reprice(market, item, price))
      failed.push({ item_id, price, msg: 'Item not found' })
    else if (price === 0) removed.push(item_id)
    else updated.push({ item_id, price, position: 1 })
  }
  return json({ success: true, updated, failed, removed })
}

/** Needs an existing offer. The seller may confirm the offer after this call. */
async function steamTrade(context: CallContext): Promise<Reply> {
  const { market, seller, request } = context
  const body = parseJson(request.body)
  const [offerId, hash] = [String(field(body, 'tradeid')), String(field(body, 'waxid'))]
  if (market.faults.isOn('steam-trade-false')) return refuse('Need to refresh access token')
  if (market.faults.use('token-forgotten')) {
    change(context, ({ tokenAtS: _, ...other }) => other)
    return refuse('No token found')
  }
  if (!hasToken(seller, market.nowS())) return refuse('No token found')
  const deal = market.world().deals.find((each) => each.seller === seller.steamId && each.hash === hash)
  const offer = (await market.steam.offers()).find(({ id }) => id === offerId)
  const isOfDeal = deal && offer && offerOf(deal, [offer]) !== undefined && SENT.has(offer.state)
  if (deal?.state !== 'open' || !isOfDeal) return refuse('Trade not found')
  market.change((world, nowS) => ({ world: markReady(world, { hash, offerId }, nowS), answer: undefined }))
  return json({ success: true })
}

/** Waxpeer's numbers: 0 new, 4 sent, 5 accepted, 6 cancelled. */
function statusOf({ faults }: Market, { state, offerId }: Deal): number {
  if (state === 'given') return 5
  if (state === 'failed') return 6
  if (offerId === undefined) return 0
  return faults.isOn('status-unknown') ? 2 : 4
}

const GAME_NAMES = new Map(Object.entries(WAXPEER_GAMES).map(([name, appId]) => [appId, name]))

function history({ market, seller, request }: CallContext): Reply {
  const body = parseJson(request.body)
  const [start, end] = [Date.parse(String(field(body, 'start'))), Date.parse(String(field(body, 'end')))]
  const skip = Number(field(body, 'skip') ?? 0)
  if (skip > MOST_SKIPPED) return refuse('skip must be at most 1000')
  const world = market.world()
  const isShown = (deal: Deal) => deal.state !== 'open' || !market.faults.isOn('history-late')
  const rows = world.deals
    .filter(
      (deal) => deal.seller === seller.steamId && deal.madeAtS * 1000 >= start && deal.madeAtS * 1000 <= end,
    )
    .filter(isShown)
    .toReversed()
    .flatMap((deal) => itemsOf(world, deal).map((item) => rowOf(market, deal, item)))
  const odd = market.faults.isOn('odd-rows') && skip === 0 ? [oddRow(market)] : []
  const trades = [...odd, ...rows.slice(skip, skip + HISTORY_ROWS - odd.length)]
  const filling = market.faults.isOn('history-endless') ? HISTORY_ROWS - trades.length : 0
  const fillingRows = Array.from({ length: filling }, (_, index) => ({
    ...oddRow(market),
    id: skip + index + 2,
  }))
  return json({ success: true, data: { trades: [...trades, ...fillingRows], transactions: [] } })
}

/** A sale without an amount or a status. */
const oddRow = (market: Market) => ({
  id: 1,
  item_id: '4242',
  price: 1000,
  give_amount: null,
  game: 'csgo',
  name: 'an item that is gone',
  status: null,
  action: 'sell',
  created: new Date(market.nowS() * 1000).toISOString(),
})

function rowOf(market: Market, deal: Deal, item: Listing) {
  const { outcome } = item
  const isUndone = outcome?.kind === 'timed_out' || outcome?.kind === 'reversed'
  const received =
    outcome === undefined || isUndone ? Math.floor(item.price * SELLER_SHARE) : outcome.received
  return {
    id: item.itemId,
    item_id: item.assetId,
    price: item.price,
    give_amount: market.faults.isOn('lies-received') ? Math.floor(received / 10) : received,
    game: GAME_NAMES.get(item.appId) ?? 'csgo',
    name: item.name,
    status: isUndone ? 6 : statusOf(market, deal),
    action: 'sell',
    created: new Date(deal.madeAtS * 1000).toISOString(),
    date: new Date(item.changedAtS * 1000).toISOString(),
  }
}
