import { lowestAsk } from '../asks.ts'
import { SCALES } from '../games.ts'
import { field, json, parseJson, type Reply } from '../http.ts'
import { isLive, isPrice, listItem, priceItem, unlistAll } from '../world/listings.ts'
import { askForInventory, inventoryOf } from '../world/sellers.ts'
import { findSeller } from '../world/world.ts'
import { type Call, type CallContext, change, refuse } from './call.ts'

const MOST_LINES = 50

/** Inventories, listings and prices. */
export const SELLING: Record<string, Call> = {
  'GET update-inventory': async (context) => {
    change(context, (seller, nowS) => askForInventory(seller, context.appId, nowS))
    return json({ success: true })
  },
  'GET inventory-status': async (context) => {
    const {
      dueAtS,
      readAtS = 0,
      triedAtS = 0,
      items,
    } = inventoryOf(await sellerAfterRead(context), context.appId)
    return json({
      success: true,
      is_updating: dueAtS !== undefined,
      last_time_update: triedAtS,
      last_time_success_update: readAtS,
      items: items.length,
    })
  },
  'GET my-inventory': async (context) => {
    const { market, appId } = context
    const seller = await sellerAfterRead(context)
    const listed = new Set(
      market
        .world()
        .items.filter((item) => isLive(item) && item.appId === appId)
        .map(({ assetId }) => assetId),
    )
    const items = inventoryOf(seller, appId)
      .items.filter(({ assetId }) => !listed.has(assetId))
      .map(({ assetId, classId, name, tradable }) => ({
        id: assetId,
        classid: classId,
        instanceid: '0',
        market_hash_name: name,
        market_price: lowestAsk(market, name, seller.currency) / SCALES[seller.currency],
        tradable: tradable ? 1 : 0,
      }))
    return json({ success: true, items })
  },
  'GET add-to-sale': async (context) => {
    const { market, appId, request } = context
    const seller = await sellerAfterRead(context)
    const refusal = refuseOtherCurrency(context)
    if (refusal) return refusal
    const { query } = request
    const line = { assetId: query.get('id') ?? '', price: Number(query.get('price') ?? Number.NaN) }
    const answer = market.change((world, nowS) => listItem(world, { seller, appId, line }, nowS))
    return answer.kind === 'listed'
      ? json({ success: true, item_id: answer.item.itemId })
      : refuse(answer.error)
  },
  'POST mass-add-to-sale': massList,
  'GET set-price': (context) => {
    const { query } = context.request
    const refusal = refuseOtherCurrency(context)
    if (refusal) return refusal
    const isDone = reprice(context, query.get('item_id'), Number(query.get('price') ?? Number.NaN))
    return isDone ? json({ success: true }) : refuse('bad_item')
  },
  'POST mass-set-price': (context) => {
    const refusal = refuseOtherCurrency(context)
    if (refusal) return refusal
    const lines = linesOf(context.request.body)
    if (!lines) return refuse('bad_input')
    const items = lines.map((line) => {
      const [itemId, price] = [field(line, 'item_id'), Number(field(line, 'price'))]
      const isDone = reprice(context, itemId, price)
      const failed = context.market.faults.isOn('failed-without-id') ? {} : { item_id: itemId }
      return isDone
        ? { success: true, item_id: itemId, price }
        : { success: false, ...failed, price, error: 'bad_item' }
    })
    return json({ success: true, items })
  },
  'GET remove-all-from-sale': ({ market, seller, appId }) => {
    const count = market.change((world) => unlistAll(world, { seller: seller.steamId, appId }))
    return json({ count, success: true })
  },
  'GET search-item-by-hash-name-specific': ({ market, seller, request }) => {
    const name = request.query.get('hash_name') ?? ''
    const lowest = market.prices.lowest(name, seller.currency)
    const data = [lowest, lowest + Math.ceil(lowest / 20)].map((price, index) => ({
      id: 1000 + index,
      market_hash_name: name,
      price,
      class: 0,
      instance: 0,
    }))
    return json({ success: true, currency: seller.currency, data })
  },
}

async function massList(context: CallContext): Promise<Reply> {
  const { market, appId, request } = context
  const seller = await sellerAfterRead(context)
  const refusal = refuseOtherCurrency(context)
  if (refusal) return refusal
  const lines = linesOf(request.body)
  if (!lines) return refuse('bad_input')
  const failsEveryLine = market.faults.isOn('envelope-lies')
  const items = lines.map((row) => {
    const line = { assetId: String(field(row, 'asset')), price: Number(field(row, 'price')) }
    const answer = failsEveryLine
      ? { kind: 'refused' as const, error: 'item_not_inserted' }
      : market.change((world, nowS) => listItem(world, { seller, appId, line }, nowS))
    const { assetId: asset, price } = line
    return answer.kind === 'listed'
      ? { success: true, asset, item_id: answer.item.itemId, price, market_hash_name: answer.item.name }
      : {
          success: false,
          ...(market.faults.isOn('failed-without-id') ? {} : { asset }),
          price,
          error: answer.error,
        }
  })
  // The market reports success even if some of the lines failed.
  return json({ success: true, items })
}

/** Asset ids arrive as bare numbers, which can be larger than JavaScript can hold. Ids in quotes are refused. */
function linesOf(body: string): unknown[] | undefined {
  const quoted = body.replaceAll(/"asset"\s*:\s*("?)(\d+)"?/g, (_, quote, digits) =>
    quote === '' ? `"asset":"${digits}"` : '"asset":"quoted"',
  )
  const items = field(parseJson(quoted), 'items')
  return Array.isArray(items) && items.length > 0 && items.length <= MOST_LINES ? items : undefined
}

/** Refuses prices in a currency other than the account's. `cur` names the currency of the prices. */
function refuseOtherCurrency({ request, seller }: CallContext): Reply | undefined {
  const cur = request.query.get('cur')
  return cur !== null && cur !== seller.currency ? refuse('bad_currency') : undefined
}

function reprice({ market, seller }: CallContext, id: unknown, price: number): boolean {
  const itemId = Number(id)
  // A price of 0 takes the listing down.
  if (price !== 0 && !isPrice(price)) return false
  return market.change((world, nowS) => priceItem(world, { seller: seller.steamId, itemId, price }, nowS))
}

async function sellerAfterRead({ market, seller }: CallContext) {
  await market.look()
  return findSeller(market.world(), seller.steamId) ?? seller
}
