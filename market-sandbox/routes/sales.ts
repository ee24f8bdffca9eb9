import { SCALES } from '../games.ts'
import { json, jsonText, type Reply } from '../http.ts'
import type { Market } from '../sandbox.ts'
import { markReady, openDeals, secondsLeft } from '../world/deals.ts'
import { OFFER, offerOf } from '../world/outcomes.ts'
import type { Deal, Listing } from '../world/world.ts'
import { type Call, type CallContext, refuse } from './call.ts'
import { accountIdOf, claimOf } from './claim.ts'

/** The market's digit for each status. A given item stays sold until its sale has settled. */
const STATUS: Record<Listing['status'], string> = {
  on_sale: '1',
  sold: '2',
  waiting: '7',
  given: '2',
  cancelled: '6',
}
/** How long ended sales stay in the list, whether the item was given or not. */
const SHOWN_S = 600

export const SALES: Record<string, Call> = {
  'GET items': async ({ market, seller, appId }) => {
    await market.look()
    const nowS = market.nowS()
    const ownItems = market
      .world()
      .items.filter((item) => item.seller === seller.steamId && item.appId === appId && isShown(item, nowS))
    if (market.faults.use('items-missing')) return json({ success: true, items: null })
    const emptyList = market.faults.isOn('empty-says-false') ? false : null
    const rows = [
      ...(market.faults.isOn('strange-rows') ? [BOUGHT_ROW] : []),
      ...ownItems.map((item) => row(market, item)),
    ]
    return json({ success: true, items: rows.length > 0 ? rows : emptyList })
  },
  'GET trade-request-give-p2p-all': async (context) => {
    if (context.market.faults.use('sold-meanwhile')) await buyOneMore(context)
    const offers = await readOffersToMake(context)
    if (context.market.faults.isOn('strange-rows')) offers.unshift(JSON.stringify(OFFER_WITHOUT_TOKEN))
    return offers.length > 0 ? jsonText(`{"success":true,"offers":[${offers.join(',')}]}`) : refuse('nothing')
  },
  'GET trade-request-give-p2p': async (context) => {
    const [offer] = await readOffersToMake(context)
    return offer === undefined
      ? refuse('nothing')
      : jsonText(`{"success":true,"hash":${JSON.stringify(hashOf(offer))},"offer":${offer}}`)
  },
  'GET trade-ready': tradeReady,
  'GET trades': async ({ market, seller }) => {
    await market.look()
    const deals = market.world().deals.filter((deal) => deal.seller === seller.steamId && deal.offerId)
    const trades = deals.map(({ offerId, buyer, madeAtS }) => ({
      dir: 'out',
      trade_id: offerId,
      bot_id: String(accountIdOf(buyer)),
      timestamp: madeAtS,
    }))
    return json({ success: true, trades })
  },
  'GET history': history,
  'GET operation-history': history,
}

/** The rows that the fault `strange-rows` adds. */
const BOUGHT_ROW = {
  item_id: '7',
  assetid: null,
  market_hash_name: 'Bought',
  price: 1,
  status: '4',
  left: null,
}
const OFFER_WITHOUT_TOKEN = {
  hash: 'without-token',
  partner: 1,
  token: null,
  tradeoffermessage: 'x',
  items: [],
}
const PAYOUT_ROW = { event: 'checkout', time: '1800000000', amount: '-100', stage: null, currency: 'USD' }

/** Lets a buyer buy one of the seller's items. */
async function buyOneMore({ market, seller, appId }: CallContext): Promise<void> {
  const item = market
    .world()
    .items.find((each) => each.seller === seller.steamId && each.appId === appId && each.status === 'on_sale')
  if (item !== undefined) await market.buy([item.itemId], 'accepts')
}

function isShown({ status, outcome, changedAtS }: Listing, nowS: number): boolean {
  if (status === 'cancelled') return changedAtS + SHOWN_S > nowS
  if (status !== 'given') return true
  return outcome?.kind === 'settling' || changedAtS + SHOWN_S > nowS
}

function row(market: Market, item: Listing) {
  const { status, outcome } = item
  const nowS = market.nowS()
  const isSold = status !== 'on_sale'
  const isOver = status === 'given' && outcome?.kind !== 'settling'
  const price = market.faults.isOn('lies-price') ? Math.floor(item.price / 2) : item.price
  return {
    item_id: item.itemId,
    assetid: item.assetId,
    classid: item.classId,
    instanceid: '0',
    real_instance: '0',
    market_hash_name: item.name,
    position: 1,
    price: market.faults.isOn('price-in-units') ? price : price / SCALES[item.currency],
    currency: item.currency,
    status: isOver ? '5' : STATUS[status],
    live_time: nowS - item.listedAtS,
    left: isSold ? secondsLeft(market.world(), item, nowS) : null,
    botid: '0',
    settlement: outcome?.kind === 'settling' ? outcome.settlesAtS : 0,
  }
}

/** The offers that the seller must make, each as JSON text, because asset ids are bare numbers of any size. */
async function readOffersToMake({ market, seller, appId }: CallContext): Promise<string[]> {
  await market.look()
  const world = market.world()
  const deals = openDeals(world, seller.steamId, appId).filter((deal) => market.nowS() < deal.deadlineS)
  return deals.map((deal) => offerText(market, deal))
}

function offerText(market: Market, deal: Deal): string {
  const { assets, partnerSteamId, token, message } = claimOf(market, deal)
  const appId = market.faults.isOn('lies-app') ? HUGE_APP : deal.appId
  const items = assets.map((assetId) => `{"appid":${appId},"contextid":2,"assetid":${assetId},"amount":1}`)
  const withoutItems = JSON.stringify({
    hash: deal.hash,
    partner: accountIdOf(partnerSteamId),
    token,
    tradeoffermessage: message,
  })
  return `${withoutItems.slice(0, -1)},"items":[${items.join(',')}]}`
}

const HUGE_APP = '9'.repeat(20)

function hashOf(offer: string): string {
  return /"hash":"(\w+)"/.exec(offer)?.[1] ?? ''
}

async function tradeReady({ market, seller, request }: CallContext): Promise<Reply> {
  const offerId = request.query.get('tradeoffer') ?? ''
  const offers = await market.steam.offers()
  const offer = offers.find(({ id, sender }) => id === offerId && sender === seller.steamId)
  if (!offer) return refuse('error get info about trade')
  const deal = market
    .world()
    .deals.find((each) => each.seller === seller.steamId && offerOf(each, [offer]) !== undefined)
  if (!deal) return refuse('error get info about trade')
  if (deal.state === 'given') return json({ success: true })
  if (offer.state !== OFFER.active) return refuse('error not active offers')
  market.change((world, nowS) => ({
    world: markReady(world, { hash: deal.hash, offerId }, nowS),
    answer: undefined,
  }))
  return json({ success: true })
}

/** The market's digits in the history, which differ from those of a listing. A sale is `1` until it is paid. */
const STAGES = { settling: '1', paid: '2', timed_out: '5', reversed: '5' } as const

async function history({ market, seller, request, appId }: CallContext): Promise<Reply> {
  await market.look()
  const [from, until] = [
    Number(request.query.get('date') ?? 0),
    Number(request.query.get('date_end') ?? Infinity),
  ]
  const perSecond = market.faults.isOn('times-in-ms') ? 1_000 : 1
  const data = market.world().items.flatMap((item) => {
    const { outcome } = item
    if (item.seller !== seller.steamId || item.appId !== appId || !outcome) return []
    if (outcome.soldAtS < from || outcome.soldAtS > until) return []
    const received = market.faults.isOn('lies-received')
      ? Math.floor(outcome.received / 10)
      : outcome.received
    return [
      {
        item_id: String(item.itemId),
        market_hash_name: item.name,
        class: item.classId,
        instance: '0',
        event: 'sell',
        app: String(item.appId),
        time: String(outcome.soldAtS * perSecond),
        paid: String(item.price),
        received: String(outcome.kind === 'timed_out' || outcome.kind === 'reversed' ? 0 : received),
        stage: STAGES[outcome.kind],
        currency: item.currency,
        settlement: outcome.kind === 'settling' ? outcome.settlesAtS * perSecond : 0,
        ...(outcome.kind === 'reversed'
          ? {
              causer: outcome.causer,
              refund_seller: String(outcome.refund ?? 0),
              refund_market: String(outcome.causer === 'buyer' ? Math.floor(item.price / 10) : 0),
            }
          : {}),
      },
    ]
  })
  if (data.length === 0 && market.faults.isOn('empty-says-false')) return json({ success: true, data: false })
  return json({ success: true, data: market.faults.isOn('strange-rows') ? [PAYOUT_ROW, ...data] : data })
}
