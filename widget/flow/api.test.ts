import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createApi, crossSiteToken } from './api.ts'
import { HASH, LINK, payment } from './test-states.ts'

const problem = (status: number, code: string, detail: unknown = `about ${code}`): Response =>
  Response.json({ code, detail }, { status, headers: { 'content-type': 'application/problem+json' } })

const signal = new AbortController().signal
const NO_DETAILS = { code: null, detail: null }
const ANSWER_OF_PROXY = { ...NO_DETAILS, isFromProxy: true }

/** The API with a server that gives these answers in order. */
function apiWithAnswers(...answers: (Response | Error)[]) {
  const calls: { path: string; init: RequestInit; headers: Headers }[] = []
  let cookies = 'csrf=first'
  const fetcher: typeof fetch = async (path, init) => {
    calls.push({ path: String(path), init: init ?? {}, headers: new Headers(init?.headers) })
    const answer = answers[calls.length - 1]
    if (answer === undefined) throw new Error('one call too many')
    if (answer instanceof Error) throw answer
    cookies = `csrf=after-${calls.length}`
    return answer
  }
  const api = createApi(fetcher, () => cookies)
  return { api, calls, load: () => api.payment(HASH, { language: 'ru', etag: null, signal }) }
}

describe('an answer', () => {
  it('A-100 is returned with its body and its ETag', async () => {
    const { load, calls } = apiWithAnswers(Response.json(payment(), { headers: { etag: '"7"' } }))
    expect(await load()).toEqual({ kind: 'ok', status: 200, body: payment(), etag: '"7"' })
    expect(calls[0]?.path).toBe(`/api/payment?hash=${HASH}`)
    expect(calls[0]?.headers.get('accept-language')).toBe('ru')
    expect(calls[0]?.headers.has('if-none-match')).toBe(false)
    expect(calls[0]?.init).toMatchObject({ method: 'GET', cache: 'no-store', credentials: 'same-origin' })
  })

  it('D-23 with status 304 means "unchanged"', async () => {
    const { api, calls } = apiWithAnswers(new Response(null, { status: 304 }))
    expect(await api.payment(HASH, { language: 'en', etag: '"7"', signal })).toEqual({ kind: 'unchanged' })
    expect(calls[0]?.headers.get('if-none-match')).toBe('"7"')
  })

  it('D-17 that refuses becomes a refusal with its code and its text', async () => {
    const { load } = apiWithAnswers(problem(404, 'deposit_not_found'))
    const refusal = { code: 'deposit_not_found', detail: 'about deposit_not_found' }
    expect(await load()).toEqual({ kind: 'refused', status: 404, refusal })
  })

  it.each([
    ['an HTML page', new Response('<h1>no</h1>', { status: 403 }), ANSWER_OF_PROXY],
    ['JSON of another shape', Response.json({ code: 5, detail: ['x'] }, { status: 400 }), ANSWER_OF_PROXY],
    ['a text but no code', Response.json({ detail: 'no' }, { status: 400 }), { code: null, detail: 'no' }],
  ])('that refuses with %s becomes a refusal with the known facts', async (_what, answer, refusal) => {
    expect(await apiWithAnswers(answer).load()).toMatchObject({ kind: 'refused', refusal })
  })

  it.each([
    ['the network fails', new TypeError('failed to fetch'), NO_DETAILS],
    ['its body is not JSON', new Response('{'), NO_DETAILS],
    ['it should have a body but has none', new Response(null, { status: 204 }), NO_DETAILS],
    ['its body is null', Response.json(null), NO_DETAILS],
    ['its body is a list', Response.json([]), NO_DETAILS],
    ['the server breaks', problem(500, 'internal'), { code: 'internal', detail: 'about internal' }],
    ['a proxy gives up', new Response('', { status: 504 }), ANSWER_OF_PROXY],
  ])('counts as lost if %s', async (_what, answer, refusal) => {
    expect(await apiWithAnswers(answer).load()).toEqual({ kind: 'lost', refusal })
  })

  it.each(['steam_unavailable', 'no_bot_available', 'technical_works'])(
    'with the code %s is a refusal, although its status is 503',
    async (code) => {
      expect(await apiWithAnswers(problem(503, code)).load()).toMatchObject({ kind: 'refused', status: 503 })
    },
  )

  it('A-104 without content is a success if the call expects no content', async () => {
    const { api, calls } = apiWithAnswers(new Response(null, { status: 204 }))
    const report = { message: 'm', type: 't', filename: '', lineno: 1, empty: false, url: 'https://x/' }
    expect(await api.reportError(report, 'en')).toMatchObject({ kind: 'ok', body: null })
    expect(calls[0]?.init).toMatchObject({ method: 'POST', keepalive: true, body: JSON.stringify(report) })
    expect(calls[0]?.headers.get('x-csrf-token')).toBe('first')
  })

  it('is no longer awaited after the caller aborts', async () => {
    const caller = new AbortController()
    let signalOfCall: AbortSignal | null | undefined
    const hangs: typeof fetch = (_path, init) => {
      signalOfCall = init?.signal
      return new Promise((_, reject) => {
        signalOfCall?.addEventListener('abort', () => reject(signalOfCall?.reason))
      })
    }
    const options = { language: 'en', etag: null, signal: caller.signal } as const
    const answer = createApi(hangs, () => '').payment(HASH, options)
    expect(signalOfCall?.aborted).toBe(false)
    caller.abort()
    expect(signalOfCall?.aborted).toBe(true)
    expect(await answer).toEqual({ kind: 'lost', refusal: NO_DETAILS })
  })

  it('is no longer awaited after 30 s', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort())
    onTestFinished(() => timeout.mockRestore())
    const { load, calls } = apiWithAnswers(Response.json(payment()))
    await load()
    expect(timeout).toHaveBeenCalledWith(30_000)
    expect(calls[0]?.init.signal?.aborted).toBe(true)
  })
})

it('D-31 a refusal has the seconds to wait before another call, if the server names them', async () => {
  const body = JSON.stringify({ code: 'offers_paused', detail: 'wait' })
  const refused = (headers: Record<string, string>) => new Response(body, { status: 409, headers })
  const refusal = { code: 'offers_paused', detail: 'wait' }
  expect(await apiWithAnswers(refused({ 'retry-after': '240' })).load()).toMatchObject({
    refusal: { ...refusal, retryAfterS: 240 },
  })
  for (const headers of [{}, { 'retry-after': 'soon' }, { 'retry-after': '-1' }])
    expect(await apiWithAnswers(refused(headers)).load()).toEqual({ kind: 'refused', status: 409, refusal })
})

it('D-31 a refusal has the time of the next offer, if the server names that time', async () => {
  const refused = (until: unknown) =>
    new Response(JSON.stringify({ code: 'offers_paused', detail: 'wait', until }), { status: 409 })
  const refusal = { code: 'offers_paused', detail: 'wait' }
  const until = '2026-11-26T12:01:30.000Z'
  expect(await apiWithAnswers(refused(until)).load()).toMatchObject({ refusal: { ...refusal, until } })
  for (const other of [undefined, null, 7])
    expect(await apiWithAnswers(refused(other)).load()).toEqual({ kind: 'refused', status: 409, refusal })
})

describe('D-31 the time of the next offer', () => {
  const SERVER_NOW = Date.parse('2026-11-26T12:00:00Z')
  const nextOfferAt = '2026-11-26T12:01:30.000Z'
  const HOUR_MS = 3_600_000
  const headers = { date: new Date(SERVER_NOW).toUTCString() }
  const refused = (until: unknown, change: { headers?: Record<string, string> } = { headers }) =>
    Response.json({ code: 'offers_paused', detail: 'wait', until }, { status: 409, ...change })
  const atDeviceTime = (aheadMs: number): void => {
    vi.useFakeTimers({ now: SERVER_NOW + aheadMs, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
  }

  it.each([
    ['an hour ahead', HOUR_MS, '2026-11-26T13:01:30.000Z'],
    ['an hour behind', -HOUR_MS, '2026-11-26T11:01:30.000Z'],
    ['right, after an answer that took two seconds', 2_000, nextOfferAt],
  ])('is given by the clock of the device, which is %s', async (_, aheadMs, shown) => {
    atDeviceTime(aheadMs)
    const ended = payment({ status: 'tradeDeclined', nextOfferAt })
    const { load } = apiWithAnswers(Response.json(ended, { headers }), refused(nextOfferAt))
    expect(await load()).toMatchObject({ body: { ...ended, nextOfferAt: shown } })
    expect(await load()).toMatchObject({ refusal: { until: shown } })
  })

  it('stays as the server wrote it if the answer has no date, or if the text is not a time', async () => {
    atDeviceTime(HOUR_MS)
    const ended = payment({ status: 'tradeDeclined', nextOfferAt })
    const { load } = apiWithAnswers(Response.json(ended), refused(nextOfferAt, {}), refused('soon'))
    expect(await load()).toMatchObject({ body: { nextOfferAt } })
    expect(await load()).toMatchObject({ refusal: { until: nextOfferAt } })
    expect(await load()).toMatchObject({ refusal: { until: 'soon' } })
  })
})

it('D-17 a refusal has Steam’s reason, if the server knows the reason', async () => {
  const refused = (cause: unknown) =>
    new Response(JSON.stringify({ code: 'trade_refused', detail: 'no', cause }), { status: 422 })
  const refusal = { code: 'trade_refused', detail: 'no' }
  expect(await apiWithAnswers(refused('trade_ban')).load()).toMatchObject({
    refusal: { ...refusal, cause: 'trade_ban' },
  })
  for (const cause of [undefined, null, 7])
    expect(await apiWithAnswers(refused(cause)).load()).toEqual({ kind: 'refused', status: 422, refusal })
})

describe('D-29 the cross-site token', () => {
  it.each([
    ['csrf=abc', 'abc'],
    ['__Host-csrf=abc', 'abc'],
    ['theme=dark; __Host-csrf=a-b_c; x=1', 'a-b_c'],
    ['notcsrf=abc', undefined],
    ['', undefined],
  ])('in the cookies %j is %j', (cookies, token) => {
    expect(crossSiteToken(cookies)).toBe(token)
  })

  it('A-105 is sent with every call', async () => {
    const { api, calls } = apiWithAnswers(...Array.from({ length: 7 }, () => Response.json({})))
    await api.payment(HASH, { language: 'en', etag: null, signal })
    await api.resolveUser({ hash: HASH, tradeUrl: LINK }, { language: 'en', signal })
    await api.inventory({ hash: HASH, game: 'cs', language: 'en', isReload: true }, signal)
    await api.createTrade({ hash: HASH, game: 'cs', items: ['1'] }, { language: 'en', signal })
    await api.reportError({ message: '', type: '', filename: '', lineno: 0, empty: true, url: '' }, 'en')
    await api.priceReason({ hash: HASH, quoteId: 'quote-1', item: '1' }, { language: 'en', signal })
    await api.reportMetrics({ screen: 'deposit', metrics: [{ name: 'LCP', value: 1 }] }, 'en')
    const tokens = calls.map(({ headers }) => headers.get('x-csrf-token'))
    expect(tokens).toEqual(['first', ...[1, 2, 3, 4, 5, 6].map((call) => `after-${call}`)])
    expect(calls[2]?.path).toBe(`/api/inventory?hash=${HASH}&game=cs&language=en&reload=true`)
  })

  it('is read again after a refusal, and the call is repeated once', async () => {
    const { load, calls } = apiWithAnswers(problem(403, 'cross_site_token'), Response.json(payment()))
    expect(await load()).toMatchObject({ kind: 'ok' })
    expect(calls.map(({ headers }) => headers.get('x-csrf-token'))).toEqual(['first', 'after-1'])
  })

  it('that is refused twice makes the call fail', async () => {
    const { load, calls } = apiWithAnswers(problem(403, 'cross_site_token'), problem(403, 'cross_site_token'))
    expect(await load()).toMatchObject({ kind: 'refused', status: 403 })
    expect(calls).toHaveLength(2)
  })

  it('is not read again for a 403 with another code', async () => {
    const { load, calls } = apiWithAnswers(problem(403, 'forbidden'))
    await load()
    expect(calls).toHaveLength(1)
  })

  it('is missing from the headers if no cookie contains it', async () => {
    const headers: Headers[] = []
    const fetcher: typeof fetch = async (_path, init) => {
      headers.push(new Headers(init?.headers))
      return Response.json({})
    }
    await createApi(fetcher, () => '').payment(HASH, { language: 'en', etag: null, signal })
    expect(headers[0]?.has('x-csrf-token')).toBe(false)
  })
})
