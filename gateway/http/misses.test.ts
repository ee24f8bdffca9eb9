import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { hashSchema, paymentQuerySchema } from '../../contract/widget-api.ts'
import { captureLog } from '../testing/log.ts'
import { createApp } from './app.ts'
import { createLimits, type Limits } from './limits.ts'
import { refuse } from './refusal.ts'

const HASH = 'a'.repeat(32)
const KEY = 'Bearer good'
const UNKNOWN_HASH = 'f'.repeat(32)
/** How many misses an address may have at once. */
const BURST = 200

let app: FastifyInstance
let folder: string
let limits: Limits
/** The hashes and `authorization` headers that were looked up. */
let lookups: string[]
let holdLookups: Promise<void> | undefined

const polled: FastifyPluginAsyncZod = async (scope) => {
  scope.get('/api/payment', { schema: { querystring: paymentQuerySchema } }, async (request) => {
    seen.push(request)
    return request.query.hash === HASH ? { ok: true } : refuse('deposit_not_found')
  })
}
const widget: FastifyPluginAsyncZod = async (scope) => {
  scope.get(
    '/api/inventory',
    { schema: { querystring: z.object({ hash: hashSchema }) } },
    async ({ query }) => (query.hash === HASH ? { ok: true } : refuse('deposit_not_found')),
  )
  scope.post('/api/trade-url', { schema: { body: z.object({ hash: z.string() }) } }, async ({ body }) =>
    body.hash === HASH ? refuse('user_not_found') : refuse('deposit_not_found'),
  )
}
const store: FastifyPluginAsyncZod = async (scope) => {
  scope.get('/v1/balances', async (request) => {
    if (request.headers.authorization !== KEY) refuse('unauthorized')
    request.call.store = { id: 1n, name: 'Ember Forge', origins: [], keyId: 'k', scopes: [] }
    return refuse('deposit_not_found')
  })
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tradetill-misses-'))
  lookups = []
  seen.length = 0
  holdLookups = undefined
  // The buckets never refill.
  limits = createLimits(() => 0)
  app = await createApp({
    log: captureLog().log,
    mode: 'sandbox',
    publicUrl: new URL('http://127.0.0.1:4300'),
    imageOrigins: [],
    widgetFolder: folder,
    trustedProxies: ['127.0.0.1', '10.0.0.0/8'],
    healthy: async () => true,
    limits,
    callerLookups: {
      deposit: async (hash) => {
        lookups.push(hash)
        await holdLookups
        return hash === HASH
      },
      key: async (authorization) => {
        lookups.push(authorization)
        return authorization === KEY
      },
    },
    routes: { polled: [polled], widget: [widget], store: [store] },
  })
})

afterEach(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
})

type Call = { method?: 'GET' | 'POST'; from?: string; key?: string; body?: object }

/** Makes a call that comes through two proxies of the operator. */
async function call(url: string, { method = 'GET', from = '203.0.113.9', key, body }: Call = {}) {
  const headers = {
    'x-forwarded-for': `${from}, 10.0.0.7`,
    ...(key !== undefined && { authorization: key }),
    ...(body !== undefined && { cookie: `csrf=${TOKEN}`, 'x-csrf-token': TOKEN, ...SAME_ORIGIN }),
  }
  const answer = await app.inject({ method, url, headers, ...(body !== undefined && { payload: body }) })
  return answer.statusCode
}

/** The requests that reached the polled route. */
const seen: FastifyRequest[] = []
const TOKEN = 'A'.repeat(43)
const SAME_ORIGIN = { origin: 'http://127.0.0.1:4300', 'sec-fetch-site': 'same-origin' }

/** Returns how often each status came. */
async function repeat(times: number, makeCall: () => Promise<number>): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (let n = 0; n < times; n += 1) {
    const status = await makeCall()
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

/** Uses up the address's misses except for `left` of them. */
async function leaveMisses(left: number, from = '203.0.113.9'): Promise<void> {
  await call(`/api/payment?hash=${UNKNOWN_HASH}`, { from })
  const request = seen.at(-1)
  if (request === undefined) throw new Error('the call was not seen')
  for (let n = 1; n < BURST - left; n += 1) limits.countMiss(request)
}

describe('a guesser', () => {
  test.each([
    ['an unknown path', () => call('/api/nothing'), 404],
    ['an unknown path under /v1', () => call('/v1/nothing'), 404],
    ['an unknown path, with a made-up key', () => call('/v1/nothing', { key: 'Bearer bad' }), 404],
    ['a poll with an unknown hash', () => call(`/api/payment?hash=${UNKNOWN_HASH}`), 404],
    ['another call with an unknown hash', () => call(`/api/inventory?hash=${UNKNOWN_HASH}`), 404],
    ['a wrong key', () => call('/v1/balances', { key: 'Bearer bad' }), 401],
    ['a call without the token of our page', () => call('/api/trade-url', { method: 'POST' }), 403],
  ])('is stopped after 200 misses, the last of them %s', async (_what, guess, status) => {
    await leaveMisses(1)
    expect(await guess()).toBe(status)
    expect(await call(`/api/payment?hash=${UNKNOWN_HASH}`)).toBe(429)
    expect(await call(`/api/inventory?hash=${UNKNOWN_HASH}`)).toBe(429)
    expect(await call('/api/inventory?hash=none')).toBe(400)
    expect(await call('/v1/balances', { key: 'Bearer bad' })).toBe(429)
    expect(await call('/v1/balances')).toBe(429)
  })

  test('gets a time to try again in Retry-After, and other addresses are not stopped', async () => {
    await leaveMisses(0)
    const answer = await app.inject({
      url: `/api/payment?hash=${UNKNOWN_HASH}`,
      headers: { 'x-forwarded-for': '203.0.113.9' },
    })
    expect(answer.headers['retry-after']).toBe('1')
    expect(await call(`/api/payment?hash=${UNKNOWN_HASH}`, { from: '203.0.113.10' })).toBe(404)
  })

  test('cannot pose as another address, because only the operator’s proxies are trusted', async () => {
    await leaveMisses(1)
    expect(await call('/api/nothing', { from: '198.51.100.1, 203.0.113.9' })).toBe(404)
    expect(await call(`/api/payment?hash=${UNKNOWN_HASH}`, { from: '198.51.100.1' })).toBe(404)
    expect(await call(`/api/payment?hash=${UNKNOWN_HASH}`)).toBe(429)
  })

  test('shares two simultaneous lookups and 200 waiting places with all other guessers', async () => {
    // A single address may not have that many open calls.
    const addresses = ['203.0.113.9', '203.0.113.10', '203.0.113.11']
    for (const from of addresses) await leaveMisses(0, from)
    const released = Promise.withResolvers<void>()
    holdLookups = released.promise
    const calls = addresses.flatMap((from) =>
      Array.from({ length: 100 }, () => call(`/api/payment?hash=${UNKNOWN_HASH}`, { from })),
    )
    // Calls that find no place are refused while the others wait.
    await Promise.race(calls)
    expect(lookups).toHaveLength(2)
    released.resolve()
    expect(new Set(await Promise.all(calls))).toEqual(new Set([429]))
    // Two ran and 200 waited.
    expect(lookups).toHaveLength(202)
  })
})

describe('a neighbour with the address of a guesser', () => {
  test('can still make calls about a known deposit, and calls with a valid key', async () => {
    const misses = await repeat(1_000, () => call(`/api/payment?hash=${UNKNOWN_HASH}`))
    expect(misses).toEqual({ 404: BURST, 429: 800 })
    expect(await call(`/api/payment?hash=${HASH}`)).toBe(200)
    expect(await call(`/api/inventory?hash=${HASH}`)).toBe(200)
    expect(await call('/api/trade-url', { method: 'POST', body: { hash: HASH } })).toBe(422)
    expect(await call('/v1/balances', { key: KEY })).toBe(404)
    expect(await call('/v1/nothing', { key: KEY })).toBe(404)
  })
})

test.each([
  ['a store’s call about an unknown deposit', () => call('/v1/balances', { key: KEY }), 404],
  ['an unknown path with a valid key', () => call('/v1/nothing', { key: KEY }), 404],
  [
    'a link that Steam does not know',
    () => call('/api/trade-url', { method: 'POST', body: { hash: HASH } }),
    422,
  ],
  ['a wrong method', () => call('/api/payment', { method: 'POST' }), 405],
])('%s is not a miss', async (_what, makeCall, status) => {
  await leaveMisses(1)
  expect(await makeCall()).toBe(status)
  expect(await call(`/api/payment?hash=${UNKNOWN_HASH}`)).toBe(404)
})

describe('IPv6', () => {
  test.each([
    ['2001:db8:0:1::1', '2001:0DB8:0000:0001:ffff:ffff:ffff:ffff'],
    ['2001:db8::1:0:0:0:2', '2001:DB8:0:1::a'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::FFFF:cb00:7109', '203.0.113.9'],
  ])('%s and %s are one caller', async (first, other) => {
    await leaveMisses(0, first)
    expect(await call(`/api/payment?hash=${UNKNOWN_HASH}`, { from: other })).toBe(429)
  })

  test('the next /64 is another caller', async () => {
    await leaveMisses(0, '2001:db8:0:1::1')
    expect(await call(`/api/payment?hash=${UNKNOWN_HASH}`, { from: '2001:db8:0:2::1' })).toBe(404)
  })
})
