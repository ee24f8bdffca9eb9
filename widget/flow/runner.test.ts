import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Payment } from '../../contract/widget-api.ts'
import { createApi } from './api.ts'
import type { Effect } from './events.ts'
import { inventory, item, LINK, OTHER_LINK, opening, payment, toggle, USER } from './given.ts'
import { type Flow, startFlow } from './runner.ts'
import type { FlowState } from './state.ts'
import { wait } from './wait.ts'

type Asked = { path: string; method: string; headers: Headers; body: unknown; signal: AbortSignal }
type Reply = Response | Promise<Response>

const json = (body: unknown, init: ResponseInit = {}): Response => Response.json(body, init)
const etagged = (body: Payment, etag: string): Response => json(body, { headers: { etag } })
const problem = (status: number, code: string): Response => json({ code, detail: code }, { status })
const pending = (): Payment => payment({ status: 'pending', timeLeft: 300 })

/** Calls by path; the last answer of a path is given again and again. */
type Server = Record<string, ((asked: Asked, times: number) => Reply) | undefined>

const flows: Flow[] = []
afterEach(() => {
  for (const flow of flows.splice(0)) flow.stop()
  vi.useRealTimers()
})

/** A flow on a clock that stands still and a server that answers at once. */
function started(server: Server, initial: FlowState = opening()) {
  vi.useFakeTimers()
  const asked: Asked[] = []
  const effects: Effect[] = []
  const fetcher: typeof fetch = async (input, init) => {
    const path = String(input).split('?')[0] ?? ''
    const call: Asked = {
      path: String(input),
      method: init?.method ?? 'GET',
      headers: new Headers(init?.headers),
      body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined,
      signal: init?.signal ?? new AbortController().signal,
    }
    asked.push(call)
    const times = asked.filter((other) => other.path.startsWith(path)).length
    const answer = server[path]
    if (answer === undefined) throw new TypeError(`no answer for ${path}`)
    return answer(call, times)
  }
  const flow = startFlow(initial, {
    api: createApi(fetcher, () => 'csrf=token'),
    now: () => performance.now(),
    wait,
    perform: (effect) => effects.push(effect),
  })
  flows.push(flow)
  const to = (path: string): Asked[] => asked.filter((call) => call.path.startsWith(path))
  return { flow, asked, effects, to, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) }
}

const created = (): Payment => payment({ user: null })
const atStand: Server = {
  '/api/payment': () => json(payment()),
  '/api/inventory': () => json(inventory([item('1'), item('2')])),
}

/** The page with two items picked and paid for. */
async function paid(server: Server) {
  const page = started({ ...atStand, ...server })
  await page.pass(0)
  for (const id of ['1', '2']) page.flow.dispatch(toggle(id))
  page.flow.dispatch({ type: 'payPressed' })
  await page.pass(0)
  return page
}

/** Answers only when told to. */
function held(): { reply: Promise<Response>; answer: (response: Response) => void } {
  const { promise, resolve } = Promise.withResolvers<Response>()
  return { reply: promise, answer: resolve }
}

describe('the first answer', () => {
  it('A-060 the deposit is asked for once, then its inventory', async () => {
    const { asked, flow, pass } = started(atStand)
    await pass(10_000)
    expect(asked.map(({ path }) => path.split('?')[0])).toEqual(['/api/payment', '/api/inventory'])
    expect(flow.state().page.stage).toBe('wait-for-select-items')
  })

  it('a deposit that could not be loaded is asked for again when the shopper wants it', async () => {
    const { flow, to, pass } = started({
      ...atStand,
      '/api/payment': (_asked, times) => (times === 1 ? problem(404, 'deposit_not_found') : json(payment())),
    })
    await pass(5000)
    expect(flow.state().page.stage).toBe('failed')
    expect(to('/api/payment')).toHaveLength(1)
    flow.dispatch({ type: 'retryPressed' })
    await pass(0)
    expect(flow.state().page.stage).toBe('wait-for-select-items')
  })
})

describe('typing a link', () => {
  it('A-083 asks nothing 1 ms before 700 ms without typing, and at 700 ms it does', async () => {
    const { flow, to, effects, pass } = started({
      ...atStand,
      '/api/payment': () => json(created()),
      '/api/trade-url': () => json(USER),
    })
    await pass(0)
    flow.dispatch({ type: 'linkTyped', text: OTHER_LINK })
    await pass(600)
    flow.dispatch({ type: 'linkTyped', text: LINK })
    await pass(699)
    expect(to('/api/trade-url')).toHaveLength(0)
    await pass(1)
    expect(to('/api/trade-url')).toMatchObject([{ method: 'POST', body: { tradeUrl: LINK } }])
    expect(effects).toEqual([{ kind: 'storeLink', link: LINK }])
    expect(flow.state().page.stage).toBe('wait-for-select-items')
  })

  it('A-082 a link that is cleared in time is never asked about', async () => {
    const { flow, to, pass } = started({ '/api/payment': () => json(created()) })
    await pass(0)
    flow.dispatch({ type: 'linkTyped', text: LINK })
    await pass(699)
    flow.dispatch({ type: 'linkTyped', text: '' })
    await pass(5000)
    expect(to('/api/trade-url')).toHaveLength(0)
  })
})

describe('the inventory', () => {
  it.each([
    { type: 'gameChosen', game: 'dota' },
    { type: 'languageChosen', language: 'ru' },
    { type: 'linkTyped', text: '' },
  ] as const)('A-071 $type aborts the request under way, and its answer shows no error', async (event) => {
    const slow = held()
    const { flow, to, pass } = started({
      ...atStand,
      '/api/inventory': (_asked, times) => (times === 1 ? slow.reply : json(inventory([item('9')]))),
    })
    await pass(0)
    const [first] = to('/api/inventory')
    expect(first?.signal.aborted).toBe(false)
    flow.dispatch(event)
    expect(first?.signal.aborted).toBe(true)
    slow.answer(problem(500, 'internal'))
    await pass(0)
    const { page } = flow.state()
    if (event.type === 'linkTyped') expect(page.stage).toBe('wait-for-trade-url-input')
    else expect(page).toMatchObject({ stand: { inventory: { status: 'ready' } } })
  })

  it('A-102 a failed call is the internal error', async () => {
    const { flow, pass } = started({ ...atStand, '/api/inventory': () => problem(500, 'internal') })
    await pass(0)
    expect(flow.state().page).toMatchObject({ stand: { inventory: { status: 'error', type: 'internal' } } })
  })
})

describe('creating a trade', () => {
  it('A-062 A-103 creates it with what was picked, then polls at once', async () => {
    const { asked } = await paid({ '/api/trade': () => json({ state: 'active' }) })
    const calls = asked.slice(2).map(({ method, path }) => `${method} ${path.split('?')[0]}`)
    expect(calls).toEqual(['POST /api/trade', 'GET /api/payment'])
    expect(asked[2]?.body).toMatchObject({ game: 'cs', items: ['1', '2'], quoteId: 'quote-1' })
  })

  it.each([
    ['no answer at all', () => Promise.reject(new TypeError('network'))],
    ['a server that broke', () => problem(500, 'internal')],
    ['a gateway in between', () => new Response('<h1>Bad Gateway</h1>', { status: 502 })],
    ['an offer still being made', () => json({ state: 'sending', code: 'trade_sending' }, { status: 202 })],
    ['too many requests', () => problem(429, 'too_many_requests')],
  ] satisfies [string, () => Reply][])(
    'D-25 %s: the same call again after 2 s, the modal stays',
    async (_what, lost) => {
      const { flow, to, pass } = await paid({
        '/api/trade': (_asked, times) => (times < 3 ? lost() : json({ state: 'active' })),
      })
      await pass(1999)
      expect(to('/api/trade')).toHaveLength(1)
      await pass(1)
      expect(to('/api/trade')).toHaveLength(2)
      expect(flow.state().modal.kind).toBe('creating')
      await pass(2000)
      expect(to('/api/trade').map(({ body }) => body)).toEqual(Array(3).fill(to('/api/trade')[0]?.body))
      expect(flow.state().modal.kind).toBe('confirming')
    },
  )

  it.each(['trade_refused', 'steam_unavailable', 'no_bot_available'])(
    'A-063 %s is an error, not repeated',
    async (code) => {
      const status = code === 'trade_refused' ? 422 : 503
      const { flow, to, pass } = await paid({ '/api/trade': () => problem(status, code) })
      await pass(10_000)
      expect(to('/api/trade')).toHaveLength(1)
      expect(flow.state().modal).toEqual({ kind: 'creationError', refusal: { code, detail: code } })
    },
  )
})

describe('coming back while a call hangs', () => {
  const hangs = ({ signal }: Asked) =>
    new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const first = (answer: () => Response) => (asked: Asked, times: number) =>
    times === 1 ? hangs(asked) : answer()

  it('asks for the deposit again', async () => {
    const { flow, to, pass } = started({ ...atStand, '/api/payment': first(() => json(payment())) })
    await pass(5000)
    flow.returned()
    await pass(0)
    expect(to('/api/payment')).toHaveLength(2)
    expect(flow.state().page.stage).toBe('wait-for-select-items')
  })

  it('asks for the inventory again: no spinner stays', async () => {
    const { flow, to, pass } = started({
      ...atStand,
      '/api/inventory': first(() => json(inventory([item('1')]))),
    })
    await pass(5000)
    flow.returned()
    await pass(0)
    expect(to('/api/inventory')[0]?.signal.aborted).toBe(true)
    expect(flow.state().page).toMatchObject({ stand: { inventory: { status: 'ready' } } })
  })

  it('asks for the user again', async () => {
    const { flow, pass } = started({
      ...atStand,
      '/api/payment': () => json(created()),
      '/api/trade-url': first(() => json(USER)),
    })
    await pass(0)
    flow.dispatch({ type: 'linkTyped', text: LINK })
    await pass(5000)
    flow.returned()
    await pass(0)
    expect(flow.state().page.stage).toBe('wait-for-select-items')
  })

  it('D-25 asks for the same trade again, which joins what the first call began', async () => {
    const { flow, to, pass } = await paid({ '/api/trade': first(() => json({ state: 'active' })) })
    await pass(5000)
    flow.returned()
    await pass(0)
    const bodies = to('/api/trade').map(({ body }) => body)
    expect(bodies).toHaveLength(2)
    expect(bodies[1]).toEqual(bodies[0])
    expect(flow.state().modal.kind).toBe('confirming')
  })

  it('D-25 does not wait for the time of the next repetition', async () => {
    const { flow, to, pass } = await paid({
      '/api/trade': (_asked, times) => (times === 1 ? problem(500, 'internal') : json({ state: 'active' })),
    })
    await pass(100)
    flow.returned()
    await pass(0)
    expect(to('/api/trade')).toHaveLength(2)
  })

  it('leaves a call alone that has just begun', async () => {
    const { flow, to, pass } = started({ ...atStand, '/api/inventory': hangs })
    await pass(999)
    flow.returned()
    await pass(0)
    expect(to('/api/inventory')).toHaveLength(1)
  })
})

describe('polling', () => {
  it('A-061 once a second, the first at once', async () => {
    const { to, pass } = started({ ...atStand, '/api/payment': () => json(pending()) })
    await pass(0)
    // The first answer opened the page; the poll follows it at once.
    expect(to('/api/payment')).toHaveLength(2)
    await pass(999)
    expect(to('/api/payment')).toHaveLength(2)
    await pass(1)
    expect(to('/api/payment')).toHaveLength(3)
    await pass(10_000)
    expect(to('/api/payment')).toHaveLength(13)
  })

  it('D-23 asks with the last ETag and takes a 304 as no news: the deadline stays', async () => {
    const { flow, to, pass } = started({
      ...atStand,
      '/api/payment': ({ headers }) =>
        headers.get('if-none-match') === '"1"'
          ? new Response(null, { status: 304 })
          : etagged(pending(), '"1"'),
    })
    await pass(0)
    const { deadlineMs } = flow.state()
    await pass(3000)
    const etags = to('/api/payment').map(({ headers }) => headers.get('if-none-match'))
    expect(etags).toEqual([null, null, '"1"', '"1"', '"1"'])
    expect(flow.state().deadlineMs).toBe(deadlineMs)
  })

  it('D-23 one in flight: a slow answer holds the next poll back, which then follows at once', async () => {
    const slow = held()
    const { to, pass } = started({
      ...atStand,
      '/api/payment': (_asked, times) => (times === 2 ? slow.reply : json(pending())),
    })
    await pass(5000)
    expect(to('/api/payment')).toHaveLength(2)
    slow.answer(json(pending()))
    await pass(0)
    expect(to('/api/payment')).toHaveLength(3)
  })

  it('A-061 leaving aborts the poll in flight and stops the polling; coming back polls the whole answer', async () => {
    const slow = held()
    const { flow, to, pass } = started({
      ...atStand,
      '/api/payment': (_asked, times) => (times === 3 ? slow.reply : etagged(pending(), '"1"')),
    })
    await pass(1000)
    flow.dispatch({ type: 'confirmationLeft' })
    expect(to('/api/payment')[2]?.signal.aborted).toBe(true)
    slow.answer(json(payment({ status: 'succeeded' })))
    await pass(10_000)
    expect(to('/api/payment')).toHaveLength(3)
    expect(flow.state().modal.kind).toBe('none')
    flow.dispatch({ type: 'confirmationReopened' })
    await pass(0)
    expect(to('/api/payment')[3]?.headers.get('if-none-match')).toBeNull()
    expect(to('/api/payment')).toHaveLength(4)
  })

  it('A-052 ends with the outcome', async () => {
    const { flow, to, pass } = started({
      ...atStand,
      '/api/payment': (_asked, times) => json(times < 4 ? pending() : payment({ status: 'succeeded' })),
    })
    await pass(20_000)
    expect(to('/api/payment')).toHaveLength(4)
    expect(flow.state().modal).toMatchObject({ kind: 'completed', outcome: 'succeeded' })
  })

  it('D-17 goes on through an outage, told once', async () => {
    const { flow, effects, to, pass } = started({
      ...atStand,
      '/api/payment': (_asked, times) => (times === 1 ? json(pending()) : problem(503, 'internal')),
    })
    await pass(5000)
    expect(to('/api/payment')).toHaveLength(7)
    expect(effects).toEqual([{ kind: 'toast', toast: { text: 'depositFailed', detail: 'internal' } }])
    expect(flow.state().modal.kind).toBe('confirming')
  })

  it('D-23 a page that returns asks for the whole answer at once', async () => {
    const { flow, to, pass } = started({ ...atStand, '/api/payment': () => etagged(pending(), '"1"') })
    await pass(1500)
    const before = to('/api/payment').length
    flow.returned()
    await pass(0)
    expect(to('/api/payment')).toHaveLength(before + 1)
    expect(to('/api/payment').at(-1)?.headers.get('if-none-match')).toBeNull()
  })

  it('D-23 an answer that was under way when the page returned is asked for anew, whole and at once', async () => {
    const slow = held()
    const { flow, to, pass } = started({
      ...atStand,
      '/api/payment': (_asked, times) => (times === 3 ? slow.reply : etagged(pending(), '"1"')),
    })
    await pass(1000)
    flow.returned()
    slow.answer(etagged(pending(), '"2"'))
    await pass(0)
    expect(to('/api/payment')).toHaveLength(4)
    expect(to('/api/payment')[3]?.headers.get('if-none-match')).toBeNull()
  })

  it('D-23 a call that hangs since before the page slept is given up, and holds nothing up', async () => {
    const hangs = ({ signal }: Asked) =>
      new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const { flow, to, pass, effects } = started({
      ...atStand,
      '/api/payment': (asked, times) => (times === 3 ? hangs(asked) : json(pending())),
    })
    await pass(1000)
    expect(to('/api/payment')).toHaveLength(3)
    flow.returned()
    await pass(0)
    expect(to('/api/payment')).toHaveLength(4)
    expect(effects).toEqual([])
  })

  it('D-23 a gap of more than 2 s between two polls asks for the whole answer', async () => {
    const slow = held()
    const { to, pass } = started({
      ...atStand,
      '/api/payment': (_asked, times) => (times === 3 ? slow.reply : etagged(pending(), '"1"')),
    })
    await pass(1000)
    expect(to('/api/payment')[2]?.headers.get('if-none-match')).toBe('"1"')
    await pass(2001)
    slow.answer(etagged(pending(), '"1"'))
    await pass(0)
    expect(to('/api/payment')[3]?.headers.get('if-none-match')).toBeNull()
  })

  it('a flow that is stopped aborts what is under way and asks nothing more', async () => {
    const { flow, to, pass } = started({ ...atStand, '/api/payment': () => json(pending()) })
    await pass(1000)
    const before = to('/api/payment').length
    flow.stop()
    await pass(10_000)
    expect(to('/api/payment')).toHaveLength(before)
  })
})

it('listeners hear of changes, and of nothing else', async () => {
  const { flow, pass } = started({ ...atStand, '/api/payment': () => json(created()) })
  const listener = vi.fn()
  const unsubscribe = flow.subscribe(listener)
  await pass(0)
  expect(listener).toHaveBeenCalledTimes(1)
  flow.dispatch({ type: 'typingEnded' })
  expect(listener).toHaveBeenCalledTimes(1)
  unsubscribe()
  flow.dispatch({ type: 'linkTyped', text: 'x' })
  expect(listener).toHaveBeenCalledTimes(1)
})
