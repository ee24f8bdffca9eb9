/** The package for stores, against a fake till: calls, the event log and credit. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type CreditStore,
  catchUp,
  createTill,
  type Deposit,
  type Kept,
  settle,
  type TillEvent,
  TillProblem,
  TillUnreachable,
  takeOnce,
} from './index.ts'

const DEPOSIT = { id: '7', status: 'succeeded', amount: 1_000, reversedAmount: 0, heldAmount: 0 }
const ORDER = { externalId: 'order-1', currency: 'USD', backToStoreUrl: 'https://store.example/' } as const

type SentRequest = { url: string; method: string; headers: Headers; body: unknown }

/** Returns a client of a till that gives these answers in order. */
function tillThatAnswers(...answers: (Response | Error)[]) {
  const requests: SentRequest[] = []
  const waits: number[] = []
  const fetcher: typeof fetch = async (input, init) => {
    const body = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined
    requests.push({
      url: String(input),
      method: init?.method ?? 'GET',
      headers: new Headers(init?.headers),
      body,
    })
    const answer = answers[requests.length - 1]
    if (answer === undefined) throw new Error('one call too many')
    if (answer instanceof Error) throw answer
    return answer
  }
  const till = createTill({
    url: 'https://pay.example/',
    apiKey: 'tt_test_1',
    fetch: fetcher,
    wait: async (ms) => void waits.push(ms),
  })
  return { till, requests, waits }
}

/** Refuses the option that Cloudflare Workers refuse. */
const fetchOfAnEdge: typeof fetch = async (input, init) => {
  if (init?.redirect === 'error') throw new TypeError('Invalid redirect value')
  return fetch(input, init)
}

const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ code, detail: `about ${code}`, errors: [{ path: 'a', message: 'b' }] }, { status, headers })
const answerOf = (body: unknown = DEPOSIT) => Response.json(body)

test.each([
  ['localhost:4750', 'tt_test_1', 'url must begin with http(s)://: "localhost:4750"'],
  ['', 'tt_test_1', 'url must'],
  ['https://', 'tt_test_1', 'url must'],
  ['https://pay.example', 'tt_test_ключ', 'apiKey is no key'],
  ['https://pay.example', 'tt_test_\n1', 'apiKey is no key'],
])('a client with the address %j and the key %j is refused before its first call', (url, apiKey, message) => {
  const create = () => createTill({ url, apiKey })
  expect(create).toThrow(TypeError)
  expect(create).toThrow(message)
})

test('a client takes a key with the line break of its file', async () => {
  const fetcher = async () => answerOf()
  const till = createTill({ url: 'https://pay.example', apiKey: 'tt_test_1\n', fetch: fetcher })
  expect(await till.get('7')).toEqual(DEPOSIT)
})

describe('a call', () => {
  test('goes to its path with the API key, and returns the answer', async () => {
    const { till, requests } = tillThatAnswers(
      answerOf(),
      answerOf(),
      answerOf(),
      answerOf({ deposits: [], next: null }),
    )
    expect(await till.createDeposit(ORDER)).toEqual(DEPOSIT)
    // An id must not lead to another path.
    await till.get('7/../8')
    await till.lookup('order #1')
    await till.list({ status: 'succeeded', limit: 2 })
    expect(requests.map(({ method, url }) => `${method} ${url.slice('https://pay.example'.length)}`)).toEqual(
      [
        'POST /v1/deposits',
        'GET /v1/deposits/7%2F..%2F8',
        'GET /v1/deposits/lookup?externalId=order+%231',
        'GET /v1/deposits?status=succeeded&limit=2',
      ],
    )
    expect(requests[0]).toMatchObject({ body: ORDER })
    expect(requests[0]?.headers.get('authorization')).toBe('Bearer tt_test_1')
    expect(requests[0]?.headers.get('content-type')).toBe('application/json')
    expect(requests[1]?.headers.get('content-type')).toBeNull()
  })

  test('whose answer is lost is repeated with the same values', async () => {
    const cutResponse = new Response('{"id": "7', { headers: { 'content-type': 'application/json' } })
    const { till, requests, waits } = tillThatAnswers(
      new TypeError('broken'),
      cutResponse,
      problem(502, ''),
      answerOf(),
    )
    expect(await till.createDeposit(ORDER)).toEqual(DEPOSIT)
    expect(requests.map(({ body }) => body)).toEqual([ORDER, ORDER, ORDER, ORDER])
    // Each wait is about twice as long as the one before. The first is at least half of 500 ms.
    const [first = 0, , third = 0] = waits
    expect(first).toBeGreaterThanOrEqual(250)
    expect(third).toBeGreaterThanOrEqual(1_000)
  })

  test('is repeated after the wait that the till demands, unless that is longer than `longestWaitMs`', async () => {
    const soon = tillThatAnswers(problem(429, 'too_many_requests', { 'retry-after': '2' }), answerOf())
    await soon.till.get('7')
    expect(soon.waits).toEqual([2_000])
    const busy = tillThatAnswers(problem(409, 'deposit_busy', { 'retry-after': '1' }), answerOf())
    await busy.till.cancel('7')
    expect(busy.waits).toEqual([1_000])
    const late = tillThatAnswers(problem(429, 'too_many_deposits', { 'retry-after': '60' }))
    const refused = await late.till.createDeposit(ORDER).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'too_many_deposits', status: 429, retryAfterS: 60 })
    expect(late.waits).toEqual([])
  })

  test('that cancels a deposit has the same idempotency key in every attempt', async () => {
    const { till, requests } = tillThatAnswers(problem(503, 'overloaded'), answerOf(), answerOf())
    await till.cancel('7')
    await till.cancel('8')
    const keys = requests.map(({ headers }) => headers.get('idempotency-key'))
    expect(keys[0]).toMatch(/^[\da-f-]{36}$/)
    expect(keys[1]).toBe(keys[0])
    expect(keys[2]).not.toBe(keys[0])
  })

  test('is not repeated after a refusal, and reports the reason', async () => {
    const { till, requests } = tillThatAnswers(problem(400, 'invalid_request', { 'x-request-id': 'r1' }))
    const refused = await till.createDeposit(ORDER).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(TillProblem)
    expect(refused).toMatchObject({
      code: 'invalid_request',
      message: 'about invalid_request',
      errors: [{ path: 'a' }],
      requestId: 'r1',
    })
    expect(requests).toHaveLength(1)
  })

  test('is tried as often as `tries` says, with waits of at most `longestWaitMs`', async () => {
    const waits: number[] = []
    const till = createTill({
      url: 'https://pay.example',
      apiKey: 'tt_test_1',
      tries: 8,
      longestWaitMs: 1_000,
      fetch: () => Promise.reject(new TypeError('broken')),
      wait: async (ms) => void waits.push(ms),
    })
    await expect(till.get('7')).rejects.toBeInstanceOf(TillUnreachable)
    expect(waits).toHaveLength(7)
    expect(Math.max(...waits)).toBe(1_000)
  })

  test('without any answer is tried four times, and then reports that the till is unreachable', async () => {
    const { till, requests } = tillThatAnswers(...Array.from({ length: 4 }, () => new TypeError('broken')))
    const failed = await till.get('7').catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(TillUnreachable)
    expect(failed).toMatchObject({ cause: { message: 'broken' } })
    expect(requests).toHaveLength(4)
  })

  test('that is redirected reports the status, and takes the key nowhere else', async () => {
    const seen: (string | undefined)[] = []
    const server = createServer(({ url }, response) => {
      seen.push(url)
      response.writeHead(308, { location: '/elsewhere' }).end()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const till = createTill({ url: `http://127.0.0.1:${port}`, apiKey: 'tt_test_1', fetch: fetchOfAnEdge })
    const refused = await till.get('7').catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(TillProblem)
    expect(refused).toMatchObject({ status: 308, message: 'the till answered 308' })
    expect(seen).toEqual(['/v1/deposits/7'])
  })
})

const eventOf = (sequence: number, more: Partial<Deposit> = {}, type = 'deposit.succeeded') =>
  ({ id: `e${sequence}`, type, sequence, timestamp: '', data: { ...DEPOSIT, ...more } }) as TillEvent

describe('the event log', () => {
  const page = (events: TillEvent[], hasMore: boolean) =>
    answerOf({ events, next: events.at(-1)?.sequence ?? 0, hasMore })

  test('is read from the cursor to its end, page by page', async () => {
    const { till, requests } = tillThatAnswers(
      page([eventOf(6), eventOf(7)], true),
      page([eventOf(8)], false),
    )
    const read: number[] = []
    for await (const { sequence } of till.events({ after: 5 })) read.push(sequence)
    expect(read).toEqual([6, 7, 8])
    expect(requests.map(({ url }) => new URL(url).searchParams.get('after'))).toEqual(['5', '7'])
  })

  test('is followed until the store stops', async () => {
    const { till, waits } = tillThatAnswers(
      page([], false),
      page([eventOf(1)], false),
      page([eventOf(2)], false),
    )
    const stop = new AbortController()
    const read: number[] = []
    for await (const { sequence } of till.events({ follow: true, everyMs: 3, signal: stop.signal })) {
      read.push(sequence)
      if (sequence === 2) stop.abort()
    }
    expect([read, waits.slice(0, 2)]).toEqual([
      [1, 2],
      [3, 3],
    ])
  })

  test('ends without another wait if the store stops while it handles an event', async () => {
    const till = createTill({
      url: 'https://pay.example',
      apiKey: 'tt_test_1',
      fetch: async () => page([eventOf(1)], false),
    })
    const stop = new AbortController()
    const setTimer = vi.spyOn(globalThis, 'setTimeout')
    for await (const _event of till.events({ follow: true, everyMs: 7, signal: stop.signal })) stop.abort()
    const waits = setTimer.mock.calls.filter(([, ms]) => ms === 7)
    setTimer.mockRestore()
    expect(waits).toEqual([])
  })

  test.each([false, true])(
    'ends in the middle of a page if the store stops, with `follow` %s',
    async (follow) => {
      const { till } = tillThatAnswers(page([eventOf(1), eventOf(2), eventOf(3)], true))
      const stop = new AbortController()
      const read: number[] = []
      for await (const { sequence } of till.events({ follow, signal: stop.signal })) {
        read.push(sequence)
        stop.abort()
      }
      expect(read).toEqual([1])
    },
  )

  test.each([false, true])(
    'ends without an error if the store stops during a call, with `follow` %s',
    async (follow) => {
      const stop = new AbortController()
      const till = createTill({
        url: 'https://pay.example',
        apiKey: 'tt_test_1',
        fetch: async (_input, init) => {
          stop.abort()
          init?.signal?.throwIfAborted()
          return answerOf()
        },
      })
      const read: number[] = []
      for await (const { sequence } of till.events({ follow, signal: stop.signal })) read.push(sequence)
      expect(read).toEqual([])
    },
  )

  test('leaves no listener on the signal after a wait', async () => {
    const answers = [page([], false), page([], false), page([eventOf(1)], false)]
    const till = createTill({
      url: 'https://pay.example',
      apiKey: 'tt_test_1',
      fetch: async () => answers.shift() ?? answerOf(),
    })
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    for await (const { sequence } of till.events({ follow: true, everyMs: 1, signal }))
      if (sequence === 1) break
    expect(added).toHaveBeenCalledTimes(2)
    expect(removed.mock.calls).toEqual(added.mock.calls)
  })
})

/** A store with a single balance, in memory. */
function createMemoryStore() {
  const kept = new Map<string, Kept>()
  const state = { balance: 0, cursor: 0 }
  const store: CreditStore = {
    update({ id }, decide) {
      const settled = decide(kept.get(id))
      if (settled === undefined) return
      kept.set(id, settled.kept)
      state.balance += settled.change
    },
    cursor: () => state.cursor,
    saveCursor: (sequence) => {
      state.cursor = sequence
    },
  }
  return { store, state }
}

describe('credit', () => {
  const life = [
    eventOf(1, { status: 'pending', amount: null }, 'deposit.pending'),
    eventOf(2, { amount: 1_000, heldAmount: 400 }),
    eventOf(3, { amount: 1_500, heldAmount: 400 }, 'deposit.amount_increased'),
    eventOf(4, { amount: 1_500, heldAmount: 0, reversedAmount: 400 }, 'deposit.reversed'),
    eventOf(5, { amount: 1_500, reversedAmount: 1_500 }, 'deposit.reversed'),
  ]

  test('rises and falls with the deposit', () => {
    const changes = [600, 500, 0, -1_100]
    let before: Kept | undefined
    for (const [index, { data, sequence }] of life.slice(1).entries()) {
      const settled = settle(before, data as Deposit, sequence)
      expect(settled?.change).toBe(changes[index])
      before = settled?.kept
    }
  })

  test('is the same if events arrive twice, or in another order', async () => {
    const orders = life.flatMap((_, start) => [
      [...life.slice(start), ...life.slice(0, start), ...life],
      [...life.slice(start), ...life.slice(0, start)].reverse(),
    ])
    for (const order of orders) {
      const { store, state } = createMemoryStore()
      for (const event of order) await takeOnce(store, event)
      expect(state.balance).toBe(0)
    }
    const { store, state } = createMemoryStore()
    for (const event of [life[2], life[1], life[2]]) if (event !== undefined) await takeOnce(store, event)
    expect(state.balance).toBe(1_100)
  })

  test('stays if a restored till, which lost the payment, reports the deposit as unpaid', async () => {
    const { store, state } = createMemoryStore()
    const unpaid = { status: 'paymentTimeout', amount: null } as const
    await takeOnce(store, eventOf(2, { heldAmount: 400 }))
    await takeOnce(store, eventOf(1_000_003, unpaid, 'deposit.payment_timeout'))
    expect(state.balance).toBe(600)
    await takeOnce(store, eventOf(1_000_004))
    expect(state.balance).toBe(1_000)
  })

  test('comes from the log if a webhook is missing; events of other types are skipped', async () => {
    const { store, state } = createMemoryStore()
    const epoch = { ...eventOf(9, {}, 'epoch.started'), data: { epoch: 2, previousSequence: 3 } } as TillEvent
    const { till } = tillThatAnswers(
      answerOf({ events: [...life.slice(0, 3), epoch], next: 9, hasMore: false }),
    )
    await catchUp(till, store)
    expect(state).toEqual({ balance: 1_100, cursor: 9 })
  })

  test('that the store cannot save does not move the cursor', async () => {
    const { store, state } = createMemoryStore()
    const { till } = tillThatAnswers(answerOf({ events: life, next: 5, hasMore: false }))
    const failingUpdate = async () => {
      throw new Error('the disk is full')
    }
    await expect(catchUp(till, { ...store, update: failingUpdate })).rejects.toThrow('full')
    expect(state.cursor).toBe(0)
  })
})
