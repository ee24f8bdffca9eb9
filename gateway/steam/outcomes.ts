/** Judges Steam's answers. Pure. */
import type { Method } from './methods.ts'
import type {
  AcknowledgeAnswer,
  CancelAnswer,
  PartnerAnswer,
  RefusedReason,
  SendAnswer,
  Unavailable,
} from './steam.ts'
import { cleanText, refusalIn, resultIn, saysHidden } from './texts.ts'
import type { Outcome } from './turns.ts'

/**
 * The result of one HTTP request. `eresult`: Steam's result number in the headers, or null. `failed`: no complete
 * answer came, so Steam may or may not have acted.
 */
export type HttpResult =
  | { kind: 'reply'; status: number; eresult: number | null; body: unknown }
  | { kind: 'failed'; code: string }

const RESULT_INVALID_STATE = 11
const RESULT_ACCESS_DENIED = 15
const RESULT_RATE_LIMIT = 84

/**
 * Steam's result numbers that prove that no offer was made. After others, such as 2, 10, 11, 16, 20 and 28, the offer
 * sometimes existed.
 */
const REFUSING_RESULTS = new Map<number, RefusedReason>([
  [RESULT_ACCESS_DENIED, 'access_denied'],
  [24, 'bot_cannot_trade'],
  [25, 'too_many_offers'],
  [26, 'items_gone'],
  // One of the two accounts was renamed.
  [34, 'renamed'],
  [50, 'too_many_offers'],
  [RESULT_RATE_LIMIT, 'rate_limited'],
])

/** True if Steam no longer knows the session. In that case, Steam certainly did not act on the request. */
export function sessionEnded(http: HttpResult): boolean {
  if (http.kind !== 'reply') return false
  if (http.status === 401 || (http.status >= 300 && http.status < 400)) return true
  const { status, body } = http
  return status !== 200 && typeof body === 'string' && body.includes('Access is denied')
}

/** Judges what a request shows about Steam's limits and Steam's health. */
export function requestOutcome(method: Method, http: HttpResult): Outcome {
  if (http.kind === 'failed') return 'failed'
  // A public page answers 401 to a caller that asked too often.
  if (isLimit(http) || (method === 'inventory' && http.status === 401)) return 'limited'
  if (method === 'send' && isRateLimited(sendOutcome(http))) return 'limited'
  return http.status >= 500 ? 'failed' : 'answered'
}

const isRateLimited = (answer: SendAnswer): boolean =>
  answer.kind === 'refused' && answer.reason === 'rate_limited'

type HttpReply = Extract<HttpResult, { kind: 'reply' }>

function isLimit(http: HttpReply): boolean {
  return http.status === 429 || http.eresult === RESULT_RATE_LIMIT || isBlocked(http)
}

/**
 * True if the network in front of Steam refuses this address. After too many requests, it refuses an address for minutes
 * to hours.
 */
const isBlocked = ({ status, body }: HttpReply): boolean =>
  status === 403 && typeof body === 'string' && /<title>access denied<\/title>/i.test(body)

/** Returns why there is no usable answer. The detail never contains Steam's text. */
export function unavailableFrom(call: string, http: HttpResult): Unavailable {
  if (http.kind === 'failed') {
    const isLate = ['DEADLINE', 'ETIMEDOUT', 'ESOCKETTIMEDOUT'].includes(http.code)
    return {
      kind: 'unavailable',
      reason: isLate ? 'timeout' : 'steam_error',
      detail: `${call}: ${http.code}`,
    }
  }
  const result = http.eresult === null ? '' : `, result ${http.eresult}`
  return {
    kind: 'unavailable',
    reason: isLimit(http) ? 'rate_limited' : 'steam_error',
    detail: `${call}: HTTP ${http.status}${result}`,
  }
}

/** Judges the answer to a send. Unless it is an offer's number or a clear refusal, the offer may or may not exist. */
export function sendOutcome(http: HttpResult): SendAnswer {
  if (http.kind === 'failed') return { kind: 'unknown', detail: `send: ${http.code}` }
  const offerId = fieldOf(http.body, 'tradeofferid')
  if (http.status === 200 && offerId && /^\d{1,20}$/.test(offerId)) return { kind: 'sent', offerId }
  if (http.status === 429) return { kind: 'refused', reason: 'rate_limited' }
  const text = errorText(http.body)
  const reason = text === null ? undefined : refusalOf(text)
  if (reason) return { kind: 'refused', reason }
  const result = text === null ? undefined : resultIn(text)
  return { kind: 'unknown', detail: `send: HTTP ${http.status}, result ${result ?? 'none'}` }
}

export function cancelOutcome(call: string, offerId: string, http: HttpResult): CancelAnswer {
  if (http.kind === 'reply') {
    if (http.status === 200 && fieldOf(http.body, 'tradeofferid') === offerId) return { kind: 'done' }
    const text = errorText(http.body)
    if (text !== null && resultIn(text) === RESULT_INVALID_STATE) return { kind: 'not_active' }
  }
  return unavailableFrom(call, http)
}

/** Steam's answer has no content to judge by, so status 200 means that it accepted the call. */
export function acknowledgeOutcome(answer: HttpResult | Unavailable): AcknowledgeAnswer {
  if (answer.kind === 'unavailable') return answer
  const isAccepted = answer.kind === 'reply' && answer.status === 200
  return isAccepted ? { kind: 'done' } : unavailableFrom('acknowledge', answer)
}

/** Steam's call GetTradeHoldDurations refuses the token of a trade link with result 15. */
export function partnerRefusal(http: HttpResult): PartnerAnswer | undefined {
  if (http.kind !== 'reply' || http.eresult !== RESULT_ACCESS_DENIED) return undefined
  return { kind: 'refused', reason: 'invalid_token' }
}

const INVENTORY_REFUSALS: Partial<Record<RefusedReason, 'invalid_token' | 'cannot_trade'>> = {
  invalid_token: 'invalid_token',
  partner_cannot_trade: 'cannot_trade',
  partner_trade_ban: 'cannot_trade',
}

/** Returns why a partner's inventory is not shown. */
export function inventoryRefusal(
  http: HttpResult,
): 'hidden' | 'invalid_token' | 'cannot_trade' | 'not_owned' | undefined {
  if (http.kind !== 'reply') return undefined
  if (http.status === 403 && http.body === null) return 'hidden'
  const text = cleanText(fieldOf(http.body, 'error') ?? fieldOf(http.body, 'Error') ?? '')
  if (http.status === 500 && NOT_OWNED.test(text)) return 'not_owned'
  if (saysHidden(text)) return 'hidden'
  const reason = refusalIn(text)
  return reason && INVENTORY_REFUSALS[reason]
}

/** Steam's answer for a game in which the account has no inventory. */
const NOT_OWNED = /^EYldRefreshAppIfNecessary failed with EResult 55 \(/

function refusalOf(text: string): RefusedReason | undefined {
  const result = resultIn(text)
  return result === undefined ? refusalIn(text) : REFUSING_RESULTS.get(result)
}

function errorText(body: unknown): string | null {
  const text = fieldOf(body, 'strError')
  return text === undefined ? null : cleanText(text)
}

function fieldOf(body: unknown, name: string): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const value: unknown = Reflect.get(body, name)
  return typeof value === 'string' || Number.isSafeInteger(value) ? String(value) : undefined
}
