/** The calls of the widget. Each returns a value: an answer, a refusal with the server's text, or a lost call. */
import type { ErrorCode, Problem } from '../../contract/errors.ts'
import type { Game } from '../../contract/games.ts'
import type { Language } from '../../contract/languages.ts'
import type {
  ErrorReportBody,
  MetricsBody,
  Payment,
  PriceQuery,
  PriceReason,
  TradeBody,
  TradeUrlBody,
  User,
} from '../../contract/widget-api.ts'
import { type Convert, deviceClock, inDeviceTime } from './device-clock.ts'
import type { InventoryAnswer } from './inventory-answer.ts'
import type { Refusal } from './state.ts'

export type Answer<T> =
  | { kind: 'ok'; status: number; body: T; etag: string | null }
  /** Status 304: the answer with this ETag is still current. */
  | { kind: 'unchanged' }
  /** Status 4xx, or a 5xx that is a decision: see `DECIDED`. */
  | { kind: 'refused'; status: number; refusal: Refusal }
  /** The network failed, the deadline passed, or the server broke: the outcome is unknown. */
  | { kind: 'lost'; refusal: Refusal }

type Call = {
  path: string
  method?: 'GET' | 'POST'
  body?: object
  language: Language
  etag?: string | null
  signal?: AbortSignal
  keepalive?: boolean
  /** The status alone is the answer: ignore the body. */
  isBodyIgnored?: true
}

const DEADLINE_MS = 30_000

const NO_DETAILS: Refusal = { code: null, detail: null }

export type Api = ReturnType<typeof createApi>

/**
 * Calls the page's own origin. Each call reads `cookies()` when it is sent, and sends their token. `renew` is called
 * when the token is refused.
 */
export function createApi(fetcher: typeof fetch, cookies: () => string, renew: () => void = () => {}) {
  async function call<T>(request: Call): Promise<Answer<T>> {
    const firstAnswer = await attempt<T>(request)
    const isTokenRefused =
      firstAnswer.kind === 'refused' && firstAnswer.refusal.code === ('cross_site_token' satisfies ErrorCode)
    if (!isTokenRefused) return firstAnswer
    renew()
    // Repeat once, with the cookie that the refusal set. A frame has no cookie: there, `renew` reloads the page if its
    // token may have expired.
    return attempt<T>(request)
  }

  async function attempt<T>(request: Call): Promise<Answer<T>> {
    const deadline = AbortSignal.timeout(DEADLINE_MS)
    const signal = request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline])
    try {
      const response = await fetcher(request.path, {
        method: request.method ?? 'GET',
        headers: headersOf(request, cookies()),
        cache: 'no-store',
        credentials: 'same-origin',
        redirect: 'error',
        keepalive: request.keepalive ?? false,
        signal,
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      })
      return await answerOf<T>(response, request.isBodyIgnored === true)
    } catch {
      return { kind: 'lost', refusal: NO_DETAILS }
    }
  }

  return {
    payment: (hash: string, options: { language: Language; etag: string | null; signal: AbortSignal }) =>
      call<Payment>({ path: `/api/payment?${new URLSearchParams({ hash })}`, ...options }),

    resolveUser: (body: TradeUrlBody, options: { language: Language; signal: AbortSignal }) =>
      call<User>({ path: '/api/trade-url', method: 'POST', body, ...options }),

    inventory: (
      query: { hash: string; game: Game; language: Language; isReload: boolean },
      signal: AbortSignal,
    ) => {
      const { hash, game, language, isReload } = query
      const parameters = new URLSearchParams({
        hash,
        game,
        language,
        ...(isReload ? { reload: 'true' } : {}),
      })
      return call<InventoryAnswer>({ path: `/api/inventory?${parameters}`, language, signal })
    },

    priceReason: (query: PriceQuery, options: { language: Language; signal: AbortSignal }) =>
      call<PriceReason>({ path: `/api/price?${new URLSearchParams(query)}`, ...options }),

    createTrade: (body: TradeBody, options: { language: Language; signal: AbortSignal }) =>
      call<null>({ path: '/api/trade', method: 'POST', body, isBodyIgnored: true, ...options }),

    reportError: (body: ErrorReportBody, language: Language) =>
      call<null>({ path: '/api/error-report', ...reportOptions(body, language) }),

    reportMetrics: (body: MetricsBody, language: Language) =>
      call<null>({ path: '/api/metrics', ...reportOptions(body, language) }),
  }
}

const reportOptions = (body: object, language: Language) =>
  ({ method: 'POST', body, language, keepalive: true, isBodyIgnored: true }) as const

function headersOf(request: Call, cookies: string): Record<string, string> {
  const token = crossSiteToken(cookies)
  return {
    accept: 'application/json',
    'accept-language': request.language,
    ...(token === undefined ? {} : { 'x-csrf-token': token }),
    ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(request.etag === undefined || request.etag === null ? {} : { 'if-none-match': request.etag }),
  }
}

/** Returns the token of the cookie, which is named __Host-csrf on https and csrf on http. */
export function crossSiteToken(cookies: string): string | undefined {
  return /(?:^|;\s*)(?:__Host-)?csrf=([^;]+)/.exec(cookies)?.[1]
}

async function answerOf<T>(response: Response, isBodyIgnored: boolean): Promise<Answer<T>> {
  const { status } = response
  if (status === 304) return { kind: 'unchanged' }
  if (response.ok) {
    const convert = clockOf(response)
    const body: unknown = isBodyIgnored ? null : await response.json()
    // Anything but an object counts as lost. An object's fields are not checked: the page trusts its own server.
    if (!isBodyIgnored && !isRecord(body)) return { kind: 'lost', refusal: NO_DETAILS }
    const converted = isRecord(body) ? inDeviceTime(body as Partial<Payment>, convert) : body
    return { kind: 'ok', status, body: converted as T, etag: response.headers.get('etag') }
  }
  const refusal = await refusalOf(response)
  return status >= 500 && !isDecided(refusal)
    ? { kind: 'lost', refusal }
    : { kind: 'refused', status, refusal }
}

/** Compares the server's clock with the device's. Call this as soon as the answer arrives. */
const clockOf = ({ headers }: Response): Convert =>
  deviceClock(Date.parse(headers.get('date') ?? ''), Date.now())

const isRecord = (body: unknown): boolean => typeof body === 'object' && body !== null && !Array.isArray(body)

/** 5xx answers that are decisions of the gateway: the outcome is known, so they count as refusals. */
const DECIDED: readonly string[] = [
  'steam_unavailable',
  'no_bot_available',
  'technical_works',
] satisfies ErrorCode[]

function isDecided(refusal: Refusal): boolean {
  return refusal.code !== null && DECIDED.includes(refusal.code)
}

async function refusalOf(response: Response): Promise<Refusal> {
  try {
    const convert = clockOf(response)
    const problem = (await response.json()) as Partial<Problem>
    const retryAfterS = Number(response.headers.get('retry-after'))
    const code = typeof problem.code === 'string' ? problem.code : null
    return {
      code,
      detail: typeof problem.detail === 'string' ? problem.detail : null,
      ...(retryAfterS > 0 && { retryAfterS }),
      ...(typeof problem.cause === 'string' && { cause: problem.cause }),
      ...(typeof problem.until === 'string' && { until: convert(problem.until) }),
      ...(code === null && { isFromProxy: true }),
    }
  } catch {
    return { ...NO_DETAILS, isFromProxy: true }
  }
}
