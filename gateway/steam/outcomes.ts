/** What an answer of Steam means. Pure; the texts stand in texts.ts. */
import type {
  AcknowledgeAnswer,
  CancelAnswer,
  PartnerAnswer,
  RefusedReason,
  SendAnswer,
  Unavailable,
} from './steam.ts'
import { cleanText, refusalIn, resultIn, saysHidden } from './texts.ts'
import type { Exchange } from './transport.ts'

const RESULT_INVALID_STATE = 11
const RESULT_ACCESS_DENIED = 15
const RESULT_RATE_LIMIT = 84

/** Results that prove no offer was made. 2, 10, 11, 16, 20, 28 and the like came along with offers that existed. */
const REFUSING_RESULTS = new Map<number, RefusedReason>([
  [RESULT_ACCESS_DENIED, 'access_denied'],
  [24, 'bot_cannot_trade'],
  [25, 'too_many_offers'],
  [26, 'items_gone'],
  [34, 'partner_cannot_trade'],
  [50, 'too_many_offers'],
  [RESULT_RATE_LIMIT, 'rate_limited'],
])

/** True if Steam no longer knows the session: it certainly did nothing of what was asked. */
export function sessionEnded(exchange: Exchange): boolean {
  if (exchange.kind !== 'reply') return false
  if (exchange.status === 401 || (exchange.status >= 300 && exchange.status < 400)) return true
  const { status, body } = exchange
  return status !== 200 && typeof body === 'string' && body.includes('Access is denied')
}

/** Why nothing is known. The detail holds numbers and codes only, never a text of Steam's. */
export function unavailableFrom(call: string, exchange: Exchange): Unavailable {
  if (exchange.kind === 'failed') {
    const late = ['DEADLINE', 'ETIMEDOUT', 'ESOCKETTIMEDOUT'].includes(exchange.code)
    return {
      kind: 'unavailable',
      reason: late ? 'timeout' : 'steam_error',
      detail: `${call}: ${exchange.code}`,
    }
  }
  const limited = exchange.status === 429 || exchange.eresult === RESULT_RATE_LIMIT
  const result = exchange.eresult === null ? '' : `, result ${exchange.eresult}`
  return {
    kind: 'unavailable',
    reason: limited ? 'rate_limited' : 'steam_error',
    detail: `${call}: HTTP ${exchange.status}${result}`,
  }
}

/** Sent, clearly refused, or unknown: an error on the way back does not mean that no offer was made. */
export function sendOutcome(exchange: Exchange): SendAnswer {
  if (exchange.kind === 'failed') return { kind: 'unknown', detail: `send: ${exchange.code}` }
  const offerId = fieldOf(exchange.body, 'tradeofferid')
  if (exchange.status === 200 && offerId && /^\d{1,20}$/.test(offerId)) return { kind: 'sent', offerId }
  if (exchange.status === 429) return { kind: 'refused', reason: 'rate_limited' }
  const text = errorText(exchange.body)
  const reason = text === null ? undefined : refusalOf(text)
  if (reason) return { kind: 'refused', reason }
  const result = text === null ? undefined : resultIn(text)
  return { kind: 'unknown', detail: `send: HTTP ${exchange.status}, result ${result ?? 'none'}` }
}

export function cancelOutcome(call: string, offerId: string, exchange: Exchange): CancelAnswer {
  if (exchange.kind === 'reply') {
    if (exchange.status === 200 && fieldOf(exchange.body, 'tradeofferid') === offerId) return { kind: 'done' }
    const text = errorText(exchange.body)
    if (text !== null && resultIn(text) === RESULT_INVALID_STATE) return { kind: 'not_active' }
  }
  return unavailableFrom(call, exchange)
}

/** Steam's answer has no content to judge by: a page that was not refused was taken. */
export function acknowledgeOutcome(answer: Exchange | Unavailable): AcknowledgeAnswer {
  if (answer.kind === 'unavailable') return answer
  const isTaken = answer.kind === 'reply' && answer.status === 200
  return isTaken ? { kind: 'done' } : unavailableFrom('acknowledge', answer)
}

/** What GetTradeHoldDurations refuses: the token of the trade link. */
export function partnerRefusal(exchange: Exchange): PartnerAnswer | undefined {
  if (exchange.kind !== 'reply' || exchange.eresult !== RESULT_ACCESS_DENIED) return undefined
  return { kind: 'refused', reason: 'invalid_token' }
}

const HIDING_TEXTS: Partial<Record<RefusedReason, 'invalid_token' | 'cannot_trade'>> = {
  invalid_token: 'invalid_token',
  partner_cannot_trade: 'cannot_trade',
  partner_trade_ban: 'cannot_trade',
}

/** Why a partner's inventory is not shown. */
export function inventoryRefusal(
  exchange: Exchange,
): 'hidden' | 'invalid_token' | 'cannot_trade' | 'not_owned' | undefined {
  if (exchange.kind !== 'reply') return undefined
  if (exchange.status === 403 && exchange.body === null) return 'hidden'
  const text = cleanText(fieldOf(exchange.body, 'error') ?? fieldOf(exchange.body, 'Error') ?? '')
  if (exchange.status === 500 && NOT_OWNED.test(text)) return 'not_owned'
  if (saysHidden(text)) return 'hidden'
  const reason = refusalIn(text)
  return reason && HIDING_TEXTS[reason]
}

/** So Steam answers for a game in which the person has no inventory. */
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
