import { accountOf } from '../../../contract/steam-id.ts'
import type { Method } from '../methods.ts'
import { cancelOutcome, type HttpResult, sendOutcome, unavailableFrom } from '../outcomes.ts'
import { parseOffer, parseOffers } from '../parse.ts'
import { parseTrade, parseTrades } from '../parse-trades.ts'
import type {
  CancelAnswer,
  HistoryPlace,
  Offer,
  OfferAnswer,
  OffersAnswer,
  SendAnswer,
  SteamTradeAnswer,
  SteamTradesAnswer,
  Unavailable,
} from '../steam.ts'
import type { Call, Connection, NewOffer } from './connection.ts'

const RESULT_FAIL = 2
const RESULT_NO_MATCH = 42
const MOST_PARTNERS = 1000
/** Steam's limit for callers with an access token. */
const TRADES_A_PAGE = 100

export function economyCall(method: Method, query: Record<string, string | number>): Call {
  return {
    name: method,
    url: `https://api.steampowered.com/IEconService/${method}/v1/`,
    query,
    proof: 'access_token',
  }
}

export async function sendOffer(connection: Connection, offer: NewOffer, ms: number): Promise<SendAnswer> {
  const answer = await connection.send(offer, ms)
  // The connection gives up only before it sends the offer, or after Steam has refused the session.
  if (answer.kind === 'unavailable') return { kind: 'refused', reason: reasonNotSent(answer) }
  return sendOutcome(answer)
}

/** Any other reason, even a timeout, means that the session has ended and was not renewed in time. */
function reasonNotSent({ reason }: Unavailable): 'rate_limited' | 'not_our_turn' | 'session_dead' {
  return reason === 'rate_limited' || reason === 'not_our_turn' ? reason : 'session_dead'
}

export async function readOffer(connection: Connection, offerId: string, ms: number): Promise<OfferAnswer> {
  const answer = await connection.request(economyCall('GetTradeOffer', { tradeofferid: offerId }), ms)
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'reply' && answer.eresult === RESULT_NO_MATCH) return { kind: 'missing' }
  const offer = parseOffer(economyBody(answer))
  if (offer === undefined || (offer !== null && offer.offerId !== offerId)) {
    return unavailableFrom('GetTradeOffer', answer)
  }
  return offer === null ? { kind: 'missing' } : { kind: 'offer', offer }
}

export async function listOffers(
  connection: Connection,
  { since, cursor }: { since: Date; cursor: string | null },
  ms: number,
): Promise<OffersAnswer> {
  const answer = await connection.request(offersCall(since, cursor), ms)
  if (answer.kind === 'unavailable') return answer
  const page = parseOffers(economyBody(answer))
  if (!page) return unavailableFrom('GetTradeOffers', answer)
  if (page === 'nothing') return { kind: 'nothing' }
  const { sent, received, unreadable, nextCursor } = page
  const next = nextCursor === 0 ? null : String(nextCursor)
  // Otherwise the same page would be read forever.
  if (next !== null && next === cursor) return pageLeadsToItself('GetTradeOffers')
  return {
    kind: 'offers',
    sent: withoutRepeats(sent),
    received: withoutRepeats(received),
    unreadable,
    next,
  }
}

const withoutRepeats = (offers: readonly Offer[]): Offer[] => [
  ...new Map(offers.map((offer) => [offer.offerId, offer])).values(),
]

function pageLeadsToItself(name: string): Unavailable {
  return { kind: 'unavailable', reason: 'steam_error', detail: `${name}: a page leads to itself` }
}

function offersCall(since: Date, cursor: string | null): Call {
  return economyCall('GetTradeOffers', {
    get_sent_offers: 1,
    get_received_offers: 1,
    get_descriptions: 0,
    // With a cutoff, this also includes offers in any state that changed after it.
    active_only: 1,
    historical_only: 0,
    time_historical_cutoff: Math.floor(since.getTime() / 1000),
    cursor: cursor ?? 0,
  })
}

export async function endOffer(
  connection: Connection,
  end: { offerId: string; how: 'cancel' | 'decline'; partnerSteamId: string | undefined },
  ms: number,
): Promise<CancelAnswer> {
  const url = `https://steamcommunity.com/tradeoffer/${end.offerId}`
  const call: Call = {
    name: end.how,
    url: `${url}/${end.how}`,
    method: 'POST',
    // The same referer as in the libraries.
    referer: `${url}/${end.partnerSteamId === undefined ? '' : `?partner=${accountOf(end.partnerSteamId)}`}`,
    proof: 'cookies',
  }
  const answer = await connection.request(call, ms)
  return answer.kind === 'unavailable' ? answer : cancelOutcome(end.how, end.offerId, answer)
}

export async function readSteamTrade(
  connection: Connection,
  tradeId: string,
  ms: number,
): Promise<SteamTradeAnswer> {
  const call = economyCall('GetTradeStatus', { tradeid: tradeId })
  const answer = await connection.request(call, ms)
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'reply' && answer.eresult === RESULT_NO_MATCH) return { kind: 'missing' }
  const trade = parseTrade(economyBody(answer), tradeId)
  if (trade === undefined) return unavailableFrom('GetTradeStatus', answer)
  return trade === null ? { kind: 'missing' } : { kind: 'trade', trade }
}

export async function listSteamTrades(
  connection: Connection,
  after: HistoryPlace | null,
  ms: number,
): Promise<SteamTradesAnswer> {
  const answer = await connection.request(historyCall(after), ms)
  if (answer.kind === 'unavailable') return answer
  const page = parseTrades(economyBody(answer))
  if (!page) return unavailableFrom('GetTradeHistory', answer)
  const { trades, unreadable, next } = page
  if (next !== null && next.tradeId === after?.tradeId) return pageLeadsToItself('GetTradeHistory')
  return { kind: 'trades', trades, unreadable, next }
}

function historyCall(after: HistoryPlace | null): Call {
  return economyCall('GetTradeHistory', {
    max_trades: TRADES_A_PAGE,
    start_after_time: after === null ? 0 : Math.floor(after.begunAt.getTime() / 1000),
    start_after_tradeid: after?.tradeId ?? '0',
    navigating_back: 0,
    get_descriptions: 0,
    include_failed: 1,
    include_total: 0,
  })
}

/**
 * The body of a successful answer; otherwise undefined. Steam sometimes sends 'Fail' (2) with a complete answer. It
 * counts as successful unless all its lists are empty, which would prove nothing.
 */
export function economyBody(answer: HttpResult): unknown {
  if (answer.kind === 'failed' || answer.status !== 200) return undefined
  const { eresult, body } = answer
  if (eresult === null || eresult === 1) return body
  const response = isObject(body) && 'response' in body ? body.response : undefined
  const isFilled =
    isObject(response) &&
    Object.values(response).some((part) => isObject(part) && Object.keys(part).length > 0)
  return eresult === RESULT_FAIL && isFilled ? body : undefined
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Remembers the partners of the latest offers that this session has seen. */
export function rememberPartners() {
  const partners = new Map<string, string>()
  return {
    of: (offerId: string) => partners.get(offerId),
    add(offers: readonly Pick<Offer, 'offerId' | 'partnerSteamId'>[]) {
      for (const { offerId, partnerSteamId } of offers) {
        partners.delete(offerId)
        partners.set(offerId, partnerSteamId)
      }
      for (const offerId of partners.keys()) {
        if (partners.size <= MOST_PARTNERS) return
        partners.delete(offerId)
      }
    },
  }
}
