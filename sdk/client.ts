import { TillProblem, TillUnreachable } from './problem.ts'
import type { Deposit, DepositList, Event, EventList, NewDeposit, Problem } from './types.ts'

export type TillOptions = {
  /**
   * Address of the till, such as `https://pay.example`. `createTill` throws a `TypeError` if it has no scheme: each call
   * would fail as if the till did not answer.
   */
  url: string
  /** The store's key, `tt_test_…` or `tt_live_…`. `createTill` throws a `TypeError` if no header can carry it. */
  apiKey: string
  /** The timeout of one try, in milliseconds. Default: 10,000. */
  deadlineMs?: number
  /** The most tries of a call, including the first. Default: 4. */
  tries?: number
  /**
   * The longest wait between two tries, in milliseconds. If the till asks for more, the call is not repeated.
   * Default: 10,000.
   */
  longestWaitMs?: number
  fetch?: typeof fetch
  /** Waits between two tries of a call, or two checks for events. For tests. */
  wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

export type EventOptions = {
  /** The `sequence` of your last event. Default: 0, which begins with the first event. */
  after?: number
  /**
   * True: waits for further events until `signal` aborts. False, the default: ends after the newest event. In both
   * cases, throws if the last try of a call fails.
   */
  follow?: boolean
  /** The wait between two checks for further events, in milliseconds. Default: 5,000. */
  everyMs?: number
  /** Ends the reading, without an error even during a call. */
  signal?: AbortSignal
}

export type ListQuery = {
  status?: Deposit['status']
  customerReference?: string
  createdFrom?: string
  createdBefore?: string
  after?: string
  limit?: number
}

export type Till = ReturnType<typeof createTill>

type Call = {
  method?: 'GET' | 'POST'
  path: string
  query?: Record<string, string | number | undefined>
  body?: object
  /** Identifies the call, so a repetition does nothing twice. */
  key?: string
  signal?: AbortSignal | undefined
}

const EVENTS_PAGE = 500
const CHECK_MS = 5_000

export function createTill(options: TillOptions) {
  const call = caller(options)
  const wait = options.wait ?? pause

  async function* events({
    after = 0,
    follow = false,
    everyMs = CHECK_MS,
    signal,
  }: EventOptions = {}): AsyncGenerator<Event, void, void> {
    while (signal?.aborted !== true) {
      const page = await call<EventList>({
        path: '/v1/events',
        query: { after, limit: EVENTS_PAGE },
        signal,
      }).catch((error: unknown) => {
        if (signal?.aborted !== true) throw error
      })
      if (!page) return
      for (const event of page.events) {
        if (signal?.aborted) return
        yield event
        after = event.sequence
      }
      after = Math.max(after, page.next)
      if (page.hasMore) continue
      if (!follow) return
      await wait(everyMs, signal)
    }
  }

  return {
    /** Creates a deposit. The same `externalId` returns the same deposit, so call it again after a lost answer. */
    createDeposit: (deposit: NewDeposit) =>
      call<Deposit>({ method: 'POST', path: '/v1/deposits', body: deposit }),
    get: (id: string) => call<Deposit>({ path: `/v1/deposits/${encodeURIComponent(id)}` }),
    /** Finds a deposit by your order id. */
    lookup: (externalId: string) => call<Deposit>({ path: '/v1/deposits/lookup', query: { externalId } }),
    /** Lists deposits page by page, newest first. Pass `next` as `after` for the next page. */
    list: (query: ListQuery = {}) => call<DepositList>({ path: '/v1/deposits', query }),
    /** Cancels a deposit. An open offer is first cancelled on Steam, and an event reports the result. */
    cancel: (id: string) =>
      call<Deposit>({
        method: 'POST',
        path: `/v1/deposits/${encodeURIComponent(id)}/cancel`,
        body: {},
        key: crypto.randomUUID(),
      }),
    /** The event log, in order and complete. Keep the `sequence` of your last booked event as your cursor. */
    events,
  }
}

const BACKOFF_MS = 500

function caller(options: TillOptions) {
  const { url, apiKey, deadlineMs = 10_000, tries = 4, longestWaitMs = 10_000, wait = pause } = options
  if (!/^https?:\/\/[^/]/i.test(url)) throw new TypeError(`url must begin with http(s)://: "${url}"`)
  if (/[^ -~]/.test(apiKey.trim())) throw new TypeError('apiKey is no key')
  const fetcher = options.fetch ?? fetch
  const base = url.replace(/\/$/, '')

  async function attempt(request: Call): Promise<Response> {
    const { method = 'GET', path, query = {}, body, key, signal } = request
    const params = new URLSearchParams()
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) params.set(name, String(value))
    const search = params.toString()
    const deadline = AbortSignal.timeout(deadlineMs)
    return await fetcher(`${base}${path}${search === '' ? '' : `?${search}`}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // Not `error`, which Cloudflare Workers refuse. A redirect must not be followed with the key.
      redirect: 'manual',
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    })
  }

  return async <T>(request: Call): Promise<T> => {
    for (let tried = 1; ; tried += 1) {
      let cause: unknown
      const answer = await attempt(request).catch((error: unknown) => {
        if (request.signal?.aborted === true) throw error
        cause = error
        return undefined
      })
      const body = answer === undefined ? undefined : await bodyOf(answer)
      if (answer?.ok === true && body !== undefined) return body as T
      const retryAfterS = Number(answer?.headers.get('retry-after')) || undefined
      const waitMs = retryAfterS === undefined ? Math.min(backoff(tried), longestWaitMs) : retryAfterS * 1_000
      if (tried >= tries || waitMs > longestWaitMs || !isTemporary(answer, retryAfterS)) {
        if (answer === undefined || answer.ok)
          throw new TillUnreachable(`no answer from ${base}${request.path}`, { cause })
        throw new TillProblem(answer, body ?? {}, retryAfterS)
      }
      await wait(waitMs, request.signal)
    }
  }
}

/** True if a retry may succeed. A 2xx gets here if its body was lost. */
function isTemporary(answer: Response | undefined, retryAfterS: number | undefined): boolean {
  if (answer === undefined || answer.ok) return true
  return answer.status >= 500 || answer.status === 429 || retryAfterS !== undefined
}

/** Random, so stores do not all retry at the same moment. */
const backoff = (tried: number): number => BACKOFF_MS * 2 ** (tried - 1) * (0.5 + Math.random())

/** Returns undefined for an answer that is not a JSON object, such as a truncated one or the page of a proxy. */
async function bodyOf(answer: Response): Promise<Partial<Problem> | undefined> {
  try {
    const body: unknown = await answer.json()
    return typeof body === 'object' && body !== null ? body : undefined
  } catch {
    return undefined
  }
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
