import { field, type Incoming } from '../http.ts'
import { STATE, TRADE } from '../world/world.ts'
import {
  type BadDay,
  changedJson,
  DENIED_PAGE,
  type Effect,
  ERROR_PAGE,
  isRow,
  type Row,
  rowsOf,
} from './day.ts'

const ECONOMY = /^GET api\.steampowered\.com\/IEconService\//
const OFFERS = /^GET api\.steampowered\.com\/IEconService\/GetTradeOffers?\/v1\//
const OFFER_LIST = /^GET api\.steampowered\.com\/IEconService\/GetTradeOffers\/v1\//
const TRADES = /^GET api\.steampowered\.com\/IEconService\/GetTrade(Status|History)\/v1\//
const OFFERS_AND_TRADES = /^GET api\.steampowered\.com\/IEconService\/GetTrade(Offers?|Status|History)\/v1\//
const ONE_TRADE = /^GET api\.steampowered\.com\/IEconService\/GetTradeStatus\/v1\//
/** Steam's status of a trade whose items are exchanged, while Steam has work left. */
const COMMITTED = 2
/** Steam's status of a failed trade that is not rolled back yet, and of one whose rollback Steam abandoned. */
const ROLLBACK_FAILED = 8
const ROLLBACK_ABANDONED = 9
const HISTORY = /^GET api\.steampowered\.com\/IEconService\/GetTradeHistory\/v1\//
const CANCEL = /^POST steamcommunity\.com\/tradeoffer\/\d+\/cancel$/

const on = (at: RegExp, line: string, effect: Effect): BadDay => ({ line, at, effect })

const result = (eresult: number, body: object): Effect => ({
  status: 200,
  body,
  headers: { 'x-eresult': String(eresult) },
})

/** Changes every offer of an answer, whether the answer is a list or a single offer. */
function changeOffers(body: unknown, change: (offer: Row, index: number) => Row): unknown {
  const response = field(body, 'response')
  if (!isRow(response)) return body
  const { offer, trade_offers_sent: sent, trade_offers_received: received } = response
  return {
    response: {
      ...response,
      ...(isRow(offer) ? { offer: change(offer, 0) } : {}),
      ...(Array.isArray(sent) ? { trade_offers_sent: rowsOf(sent).map(change) } : {}),
      ...(Array.isArray(received) ? { trade_offers_received: rowsOf(received).map(change) } : {}),
    },
  }
}

const eachOffer = (change: (offer: Row, index: number) => Row): Effect =>
  changedJson((body) => changeOffers(body, change))

function changeTrades(body: unknown, change: (trade: Row) => Row): unknown {
  const response = field(body, 'response')
  if (!isRow(response) || !Array.isArray(response.trades)) return body
  return { response: { ...response, trades: rowsOf(response.trades).map(change) } }
}

/** In a fully reversed trade, leaves only the first asset marked. */
function unmarkAllButFirst(trade: Row): Row {
  if (trade.status !== TRADE.protectionRollback) return trade
  const unmark = ({ rollback_new_assetid: _, rollback_new_contextid: __, ...asset }: Row) => asset
  const assets = rowsOf(trade.assets_received)
  return { ...trade, assets_received: [...assets.slice(0, 1), ...assets.slice(1).map(unmark)] }
}

function asCommitted(trade: Row): Row {
  return trade.status === TRADE.complete ? { ...trade, status: COMMITTED } : trade
}

/** Removes the protection from the offers and trades of an answer. */
function removeProtection(body: unknown): unknown {
  const offers = changeOffers(body, ({ delay_settlement: _, settlement_date: __, ...offer }) => offer)
  return changeTrades(offers, ({ time_settlement: _, ...trade }) => trade)
}

/** A number that stands for none of Steam's states of an offer. */
const UNKNOWN_STATE = 77

/** An offer to another account, in an unknown state. */
const ODD_OFFER = {
  tradeofferid: '7',
  accountid_other: 4_000_000_007,
  message: 'by hand',
  trade_offer_state: UNKNOWN_STATE,
  is_our_offer: true,
  time_created: 1,
  time_updated: 1,
}

function withOddOffer(body: unknown): unknown {
  const response = field(body, 'response')
  if (!isRow(response)) return body
  return { response: { ...response, trade_offers_sent: [ODD_OFFER, ...rowsOf(response.trade_offers_sent)] } }
}

function withoutItems({ items_to_give: _, items_to_receive: __, ...offer }: Row): Row {
  return offer
}

function withoutClasses(offer: Row): Row {
  const strip = (items: unknown) => rowsOf(items).map(({ classid: _, ...item }) => item)
  const { items_to_give: give, items_to_receive: receive } = offer
  return {
    ...offer,
    ...(give ? { items_to_give: strip(give) } : {}),
    ...(receive ? { items_to_receive: strip(receive) } : {}),
  }
}

function withActiveState({ tradeid: _, ...offer }: Row): Row {
  return { ...offer, trade_offer_state: STATE.active }
}

function withoutTrade({ tradeid: _, ...offer }: Row): Row {
  return offer
}

function asReverted(offer: Row): Row {
  return offer.trade_offer_state === STATE.accepted ? { ...offer, trade_offer_state: STATE.reverted } : offer
}

/** Ends each page of a list after one offer, because Steam can end a page after any number. */
function onePerPage(body: unknown, { query }: Incoming): unknown {
  const remaining = rowsOf(field(field(body, 'response'), 'trade_offers_sent'))
  const sent = remaining.slice(0, 1)
  const next = remaining.length > 1 ? Number(query.get('cursor') ?? 0) + 1 : 0
  return { response: { ...(sent.length > 0 ? { trade_offers_sent: sent } : {}), next_cursor: next } }
}

/** Faults of reading offers and trades, and of cancelling. */
export const READS: Record<string, BadDay> = {
  'read-401': on(ECONOMY, 'A read gets 401 and "Access is denied", as if the session had ended.', {
    status: 401,
    body: DENIED_PAGE,
  }),
  'read-403': on(ECONOMY, 'A read gets 403 and "Access is denied".', { status: 403, body: DENIED_PAGE }),
  'read-429': on(ECONOMY, 'A read gets 429 and `null`.', { status: 429, body: null }),
  'read-500': on(ECONOMY, 'A read gets 500 and an HTML page.', { status: 500, body: ERROR_PAGE }),
  'read-502': on(ECONOMY, 'A read gets 502 and an HTML page.', { status: 502, body: ERROR_PAGE }),
  'read-result-15': on(ECONOMY, 'A read gets result 15 and no data.', result(15, {})),
  'read-result-2': on(ECONOMY, 'A read gets result 2 and no data.', result(2, {})),
  'read-result-2-with-data': on(ECONOMY, 'A read gets result 2, but correct data.', {
    change: (reply) => ({ ...reply, headers: { ...reply.headers, 'x-eresult': '2' } }),
  }),
  'read-empty': on(ECONOMY, 'A read gets `{}`, which lacks the field `response`.', result(1, {})),
  'read-null': on(ECONOMY, 'A read gets `null`.', { status: 200, body: null, headers: { 'x-eresult': '1' } }),
  'read-hang': on(ECONOMY, 'A read gets no answer.', { hang: 'before' }),
  'offers-without-items': on(OFFERS, 'Offers lack their items.', eachOffer(withoutItems)),
  'first-offer-without-items': on(
    OFFERS,
    'The first offer of an answer lacks its items.',
    eachOffer((offer, index) => (index === 0 ? withoutItems(offer) : offer)),
  ),
  'offers-without-message': on(
    OFFERS,
    'Offers lack their message.',
    eachOffer(({ message: _, ...offer }) => offer),
  ),
  'items-without-class': on(OFFERS, 'Items lack their class.', eachOffer(withoutClasses)),
  'one-offer-a-page': on(OFFER_LIST, 'Lists have one offer per page.', changedJson(onePerPage)),
  'accepted-without-trade': on(
    OFFERS,
    'Accepted offers do not have a trade id yet.',
    eachOffer(withoutTrade),
  ),
  'trade-not-there-yet': on(ONE_TRADE, 'The answer about a trade is empty.', result(1, { response: {} })),
  'history-not-there': on(HISTORY, 'The answer about the history is empty.', result(1, { response: {} })),
  'offers-not-there': on(OFFER_LIST, 'The answer about the offers is empty.', result(1, { response: {} })),
  'offers-left-out': on(
    OFFER_LIST,
    'Lists have an end, but none of the offers.',
    result(1, { response: { next_cursor: 0 } }),
  ),
  'late-state': on(OFFERS, 'Offers that have ended still appear as active.', eachOffer(withActiveState)),
  'offer-reverted': on(OFFERS, 'Accepted offers show state 12 (reverted).', eachOffer(asReverted)),
  'cancel-429': on(CANCEL, 'A cancellation gets 429 and `null`.', { status: 429, body: null }),
  'odd-offer-in-lists': on(
    OFFER_LIST,
    'Every page of the list has an additional offer, to another account and in an unknown state.',
    changedJson(withOddOffer),
  ),
  'states-nobody-knows': on(
    OFFERS,
    'All offers are in an unknown state.',
    eachOffer((offer) => ({ ...offer, trade_offer_state: UNKNOWN_STATE })),
  ),
  'protection-untold': on(
    OFFERS_AND_TRADES,
    'Steam does not report that it protects a trade. If you switch this off, Steam reports it late.',
    changedJson(removeProtection),
  ),
  'rollback-half-marked': on(
    TRADES,
    'A trade is taken back completely, but only its first item is marked.',
    changedJson((body) => changeTrades(body, unmarkAllButFirst)),
  ),
  'trade-committed': on(
    TRADES,
    'A trade stays in state 2 (committed), although its items have moved.',
    changedJson((body) => changeTrades(body, asCommitted)),
  ),
  'rollback-failed': on(
    TRADES,
    'A trade failed, and Steam has not undone it for all items yet (state 8).',
    changedJson((body) => changeTrades(body, (trade) => ({ ...trade, status: ROLLBACK_FAILED }))),
  ),
  'rollback-abandoned': on(
    TRADES,
    'A trade failed, and Steam gave up undoing it (state 9).',
    changedJson((body) => changeTrades(body, (trade) => ({ ...trade, status: ROLLBACK_ABANDONED }))),
  ),
  'cancel-drop-after': on(CANCEL, 'The connection breaks after Steam has cancelled the offer.', {
    drop: 'after',
  }),
}
