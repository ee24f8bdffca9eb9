import { type Incoming, json, type Reply } from '../http.ts'
import { CATALOGUE, describe } from '../items.ts'
import type { Sandbox } from '../sandbox.ts'
import { isTokenOf } from '../world/offers.ts'
import { pastOf } from '../world/past.ts'
import { traitsOf } from '../world/people.ts'
import { holdDaysOf, isProtectedApp } from '../world/trades.ts'
import {
  type Asset,
  DAY_S,
  findAccount,
  findOffer,
  OFFER_LIFE_S,
  type Offer,
  STATE,
  TRADE,
  type Trade,
  type TradedItem,
} from '../world/world.ts'

const OFFERS_A_PAGE = 100
const MOST_TRADES = 100

export type Method = (request: Incoming, sandbox: Sandbox, caller: string) => Reply

/** Methods of IEconService about holds, offers and trades. Each caller sees only its own offers and trades. */
export const ECONOMY: Record<string, Method> = {
  GetTradeHoldDurations: holdDurations,
  GetTradeOffers: tradeOffers,
  GetTradeOffer: tradeOffer,
  GetTradeOffersSummary: offersSummary,
  GetTradeStatus: tradeStatus,
  GetTradeHistory: tradeHistory,
}

export function answer(response: object, eresult = 1): Reply {
  return json({ response }, 200, { 'x-eresult': String(eresult) })
}

function holdDurations({ query }: Incoming, sandbox: Sandbox, caller: string): Reply {
  const world = sandbox.world()
  const partner = findAccount(world, query.get('steamid_target') ?? '')
  if (!partner || !isTokenOf(world, partner, query.get('trade_offer_access_token'))) return answer({}, 15)
  const hold = (days: number) => ({
    escrow_end_duration_seconds: days * DAY_S,
    ...(days > 0 ? { escrow_end_date: sandbox.nowS() + days * DAY_S } : {}),
  })
  const [mine, theirs] = [holdDaysOf(world, caller), holdDaysOf(world, partner.steamId)]
  return answer({
    my_escrow: hold(mine),
    their_escrow: hold(theirs),
    both_escrow: hold(Math.max(mine, theirs)),
  })
}

function isOn(query: URLSearchParams, name: string): boolean {
  return query.get(name) === '1' || query.get(name) === 'true'
}

function tradeOffers({ query }: Incoming, sandbox: Sandbox, caller: string): Reply {
  const cutoff = Number(query.get('time_historical_cutoff') ?? 0)
  const start = Number(query.get('cursor') ?? 0)
  const listed = [...pastIn(sandbox, caller).offers, ...sandbox.world().offers]
    .filter((offer) => {
      const isListed =
        (offer.sender === caller && isOn(query, 'get_sent_offers')) ||
        // An offer that waits for its sender's phone has not reached its partner yet.
        (isReceived(offer, caller) && isOn(query, 'get_received_offers'))
      const isLive = offer.state === STATE.active || offer.state === STATE.needsConfirmation
      if (isOn(query, 'historical_only')) return isListed && !isLive
      return isListed && (!isOn(query, 'active_only') || isLive || (cutoff > 0 && offer.updatedAtS >= cutoff))
    })
    .reverse()
  const page = listed.slice(start, start + OFFERS_A_PAGE)
  const sent = page.filter((offer) => offer.sender === caller)
  const received = page.filter((offer) => offer.partner === caller)
  const view = (offer: Offer) => offerView(offer, sandbox, caller)
  return answer({
    ...(sent.length > 0 ? { trade_offers_sent: sent.map(view) } : {}),
    ...(received.length > 0 ? { trade_offers_received: received.map(view) } : {}),
    ...descriptionsFor(
      query,
      page.flatMap(({ items, give }) => [...items, ...give]),
    ),
    next_cursor: start + OFFERS_A_PAGE < listed.length ? start + OFFERS_A_PAGE : 0,
  })
}

/** The caller's long history with a shopper, if the behaviour `busy-for-nine-days` is on; otherwise empty. */
function pastIn(sandbox: Sandbox, caller: string): { offers: Offer[]; trades: Trade[] } {
  const world = sandbox.world()
  const account = findAccount(world, caller)
  const partner = world.accounts.find(({ kind, behaviour }) => kind === 'shopper' && behaviour !== undefined)
  const isBusy = account !== undefined && traitsOf(world, account).wasBusy === true
  if (!isBusy || partner === undefined) return { offers: [], trades: [] }
  return pastOf(caller, partner.steamId, sandbox.nowS())
}

function isReceived(offer: Offer, caller: string): boolean {
  return (
    offer.partner === caller &&
    offer.state !== STATE.needsConfirmation &&
    offer.state !== STATE.canceledBySecondFactor
  )
}

function tradeOffer({ query }: Incoming, sandbox: Sandbox, caller: string): Reply {
  const offer = findOffer(sandbox.world(), query.get('tradeofferid') ?? '')
  if (!offer || (offer.sender !== caller && !isReceived(offer, caller))) return answer({})
  const items = descriptionsFor(query, [...offer.items, ...offer.give])
  return answer({ offer: offerView(offer, sandbox, caller), ...items })
}

function offersSummary({ query }: Incoming, sandbox: Sandbox, caller: string): Reply {
  const since = Number(query.get('time_last_visit') ?? 0)
  const { offers } = sandbox.world()
  const sent = offers.filter(({ sender }) => sender === caller)
  const received = offers.filter((offer) => isReceived(offer, caller))
  const count = (list: Offer[], state: number) => list.filter((offer) => offer.state === state).length
  const isUpdated = (offer: Offer) => offer.state !== STATE.active && offer.updatedAtS > since
  return answer({
    pending_received_count: count(received, STATE.active),
    new_received_count: received.filter(({ createdAtS }) => createdAtS > since).length,
    updated_received_count: received.filter(isUpdated).length,
    historical_received_count: received.length - count(received, STATE.active),
    pending_sent_count: count(sent, STATE.active),
    newly_accepted_sent_count: sent.filter(
      (offer) => offer.state === STATE.accepted && offer.updatedAtS > since,
    ).length,
    updated_sent_count: sent.filter(isUpdated).length,
    historical_sent_count: sent.length - count(sent, STATE.active),
    escrow_received_count: count(received, STATE.inEscrow),
    escrow_sent_count: count(sent, STATE.inEscrow),
  })
}

function offerView(offer: Offer, sandbox: Sandbox, caller: string) {
  const isOurs = offer.sender === caller
  const world = sandbox.world()
  const otherSide = findAccount(world, isOurs ? offer.partner : offer.sender)
  const [give, receive] = isOurs ? [offer.give, offer.items] : [offer.items, offer.give]
  const [giver, receiver] = isOurs ? [offer.sender, offer.partner] : [offer.partner, offer.sender]
  const assetRows = (owner: string, items: Asset[]) => {
    const owned = new Set(findAccount(world, owner)?.assets.map(({ assetId }) => assetId))
    return items.map((item) => ({ ...assetView(item), missing: !owned.has(item.assetId), est_usd: '0' }))
  }
  return {
    tradeofferid: offer.id,
    accountid_other: otherSide?.accountId ?? 0,
    message: offer.message,
    expiration_time: offer.createdAtS + OFFER_LIFE_S,
    trade_offer_state: offer.state,
    ...(give.length > 0 ? { items_to_give: assetRows(giver, give) } : {}),
    ...(receive.length > 0 ? { items_to_receive: assetRows(receiver, receive) } : {}),
    is_our_offer: isOurs,
    time_created: offer.createdAtS,
    time_updated: offer.updatedAtS,
    ...(offer.tradeId ? { tradeid: offer.tradeId } : {}),
    from_real_time_trade: false,
    escrow_end_date: offer.escrowEndsAtS ?? 0,
    confirmation_method: offer.state === STATE.needsConfirmation || offer.waitsForPhone ? 2 : 0,
    eresult: 1,
    delay_settlement:
      world.protectionS > 0 &&
      [...offer.items, ...offer.give].some(({ appId }) => isProtectedApp(world, offer, appId)),
    settlement_date: world.trades.find(({ id }) => id === offer.tradeId)?.settlesAtS ?? 0,
  }
}

export function assetView(asset: Asset) {
  return {
    appid: asset.appId,
    contextid: asset.contextId,
    assetid: asset.assetId,
    classid: asset.classId,
    instanceid: '0',
    amount: '1',
  }
}

function tradeStatus({ query }: Incoming, sandbox: Sandbox, caller: string): Reply {
  const trade = sandbox.world().trades.find(({ id }) => id === query.get('tradeid'))
  if (!trade || (trade.sender !== caller && trade.partner !== caller)) return answer({})
  return answer({ trades: [tradeView(trade, caller)], ...descriptionsFor(query, trade.items) })
}

/**
 * Lists trades, newest first. `start_after_*` continues with older trades, or with newer ones if `navigating_back` is
 * set.
 */
function tradeHistory({ query }: Incoming, sandbox: Sandbox, caller: string): Reply {
  const most = Math.min(Number(query.get('max_trades')) || MOST_TRADES, MOST_TRADES)
  const ownTrades = [...pastIn(sandbox, caller).trades, ...sandbox.world().trades]
    .sort((a, b) => a.atS - b.atS)
    .filter(({ sender, partner }) => sender === caller || partner === caller)
    .filter(({ status }) => isOn(query, 'include_failed') || VISIBLE.has(status))
    .reverse()
  const { newer, older } = aroundStart(ownTrades, query)
  const isBack = isOn(query, 'navigating_back')
  const rest = isBack ? newer : older
  const page = isBack ? rest.slice(-most) : rest.slice(0, most)
  return answer({
    ...(isOn(query, 'include_total') ? { total_trades: ownTrades.length } : {}),
    more: rest.length > page.length,
    trades: page.map((trade) => tradeView(trade, caller)),
    ...descriptionsFor(
      query,
      page.flatMap(({ items }) => items),
    ),
  })
}

function aroundStart(trades: Trade[], query: URLSearchParams): { newer: Trade[]; older: Trade[] } {
  const startS = Number(query.get('start_after_time') ?? 0)
  const start = trades.findIndex(({ id }) => id === query.get('start_after_tradeid'))
  if (start >= 0) return { newer: trades.slice(0, start), older: trades.slice(start + 1) }
  if (!(startS > 0)) return { newer: [], older: trades }
  return {
    newer: trades.filter(({ atS }) => atS > startS),
    older: trades.filter(({ atS }) => atS < startS),
  }
}

/** The statuses of the trades that the history shows even if failed trades are left out. */
const VISIBLE: ReadonlySet<number> = new Set([
  TRADE.complete,
  TRADE.supportRollback,
  TRADE.selectiveRollback,
  TRADE.inEscrow,
  TRADE.protectionRollback,
])

function tradeView(trade: Trade, caller: string) {
  const received = trade.items.filter(({ from }) => from !== caller)
  const given = trade.items.filter(({ from }) => from === caller)
  return {
    tradeid: trade.id,
    steamid_other: trade.sender === caller ? trade.partner : trade.sender,
    time_init: trade.atS,
    ...(trade.modifiedAtS ? { time_mod: trade.modifiedAtS } : {}),
    ...(trade.settlesAtS > 0 ? { time_settlement: trade.settlesAtS } : {}),
    ...(trade.escrowEndsAtS ? { time_escrow_end: trade.escrowEndsAtS } : {}),
    status: trade.status,
    ...(received.length > 0 ? { assets_received: received.map(tradedView) } : {}),
    ...(given.length > 0 ? { assets_given: given.map(tradedView) } : {}),
    ...(trade.rollbackOf ? { rollback_trade: trade.rollbackOf } : {}),
  }
}

function tradedView(item: TradedItem) {
  return {
    ...assetView(item),
    ...(item.newAssetId ? { new_assetid: item.newAssetId, new_contextid: item.newContextId } : {}),
    ...(item.rolledBackAssetId
      ? { rollback_new_assetid: item.rolledBackAssetId, rollback_new_contextid: '2' }
      : {}),
  }
}

function descriptionsFor(query: URLSearchParams, items: Asset[]): { descriptions?: object[] } {
  if (!isOn(query, 'get_descriptions')) return {}
  const ids = new Set(items.map(({ classId }) => classId))
  return {
    descriptions: [...CATALOGUE.values()]
      .filter(({ classId }) => ids.has(classId))
      .map((entry) => describe(entry)),
  }
}
