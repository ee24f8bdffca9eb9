import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, FastifyPluginAsync, InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { depositRoutes, paymentRoute } from '../deposits/routes.ts'
import { viewReader } from '../deposits/shopper-view.ts'
import { createViewCache, type ViewCache } from '../deposits/view-cache.ts'
import { inventoryRoutes } from '../inventory/routes.ts'
import { createMetrics } from '../metrics.ts'
import { storeRoutes } from '../store-api/routes.ts'
import { OPERATIONS } from '../store-api/table.ts'
import { type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeRoutes } from '../trades/routes.ts'
import { createApp } from './app.ts'
import { createLimits } from './limits.ts'
import { pageMetricsRoute } from './page-metrics.ts'

const UNKNOWN_HASH = '0'.repeat(32)
const PERMISSIONS = [
  'accelerometer=(), camera=(), clipboard-read=(), display-capture=(), geolocation=(), gyroscope=(),',
  'hid=(), magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), serial=(), usb=(),',
  'xr-spatial-tracking=()',
].join(' ')
/** The page has a Paste button. */
const PAGE_PERMISSIONS = PERMISSIONS.replace('clipboard-read=()', 'clipboard-read=(self)')
const COMMON = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'strict-transport-security': 'max-age=31536000',
}
const NOTHING_ALLOWED = "default-src 'none'; frame-ancestors 'none'"
const PAGE_POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https://images.example; media-src 'self';",
  "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';",
  "require-trusted-types-for 'script'; trusted-types 'none'",
].join(' ')
const REFERENCE_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"

let till: Till
let api: StoreApi
let views: ViewCache
let app: FastifyInstance
let folder: string
let hash: string
let isOverloaded = false

/** Creates an app with the routes of the page and of the store API. */
async function createAppFor(publicUrl: string): Promise<FastifyInstance> {
  const { db, queue, log } = till.deps
  const nowMs = () => 0
  const unableReason = () => (isOverloaded ? ('overloaded' as const) : undefined)
  const broken: FastifyPluginAsync = async (scope) => {
    scope.get('/api/broken', async () => {
      throw new Error('broken')
    })
  }
  return createApp({
    log,
    mode: 'live',
    publicUrl: new URL(publicUrl),
    imageOrigins: ['https://images.example'],
    widgetFolder: folder,
    unableReason,
    limits: createLimits(nowMs),
    callerLookups: { deposit: async () => true, key: async () => false },
    healthy: async () => true,
    routes: {
      polled: [paymentRoute({ db, queue, log, views, nowMs, unableReason })],
      widget: [
        depositRoutes(till.deps),
        inventoryRoutes({ ...till.deps, imageBase: 'https://images.example', maxItems: 50 }),
        tradeRoutes(till.deps),
        pageMetricsRoute(createMetrics()),
        broken,
      ],
      store: [storeRoutes(api.deps)],
    },
  })
}

beforeAll(async () => {
  till = await startTill()
  api = await startStoreApi(till)
  hash = (await aDeposit(till, await aStore(till))).hash
  folder = mkdtempSync(join(tmpdir(), 'tradetill-headers-'))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<html data-mode="sandbox">')
  writeFileSync(join(folder, 'assets/app-1a2b.js'), 'let plain')
  writeFileSync(join(folder, 'favicon.svg'), '<svg/>')
  const read = viewReader(till.db, 'https://steam.example')
  views = createViewCache({ read, log: till.deps.log, nowMs: () => 0 })
  app = await createAppFor('https://pay.example')
})

afterAll(async () => {
  views.stop()
  await app.close()
  await api.app.close()
  await till.close()
  rmSync(folder, { recursive: true })
})

const ask = ({ headers, ...call }: InjectOptions) =>
  app.inject({ ...call, headers: { host: 'pay.example', ...headers } })

/** Headers and cookie of a call that the page makes. */
const headersOfPage = (type = 'application/json') => ({
  'content-type': type,
  origin: 'https://pay.example',
  cookie: `__Host-csrf=${'A'.repeat(43)}`,
  'x-csrf-token': 'A'.repeat(43),
})
const changingCall = (url: string, payload: string, type?: string): InjectOptions => {
  return { method: 'POST', url, payload, headers: headersOfPage(type) }
}

const leaksOf = (headers: object): string[] =>
  Object.keys(headers).filter((name) => /^(?:access-control-|server$|x-powered-by$)/.test(name))

describe('an answer has the common headers, and none that names the server or opens the answer to other origins', () => {
  const calls: [what: string, status: number, policy: string, call: () => InjectOptions][] = [
    ['the landing page', 200, PAGE_POLICY, () => ({ url: '/' })],
    ['the page of a deposit', 200, PAGE_POLICY, () => ({ url: `/deposit/${hash}` })],
    ['an unknown page', 404, PAGE_POLICY, () => ({ url: '/unknown' })],
    ['a page whose path cannot be decoded', 404, PAGE_POLICY, () => ({ url: '/%ff?x=%ff' })],
    ['the page of a link that was cut inside a character', 200, PAGE_POLICY, () => ({ url: '/deposit/%D0' })],
    ['an asset', 200, NOTHING_ALLOWED, () => ({ url: '/assets/app-1a2b.js' })],
    ['a file', 200, NOTHING_ALLOWED, () => ({ url: '/favicon.svg' })],
    ['an unknown asset', 404, NOTHING_ALLOWED, () => ({ url: '/assets/none.js' })],
    ['the health check', 200, NOTHING_ALLOWED, () => ({ url: '/healthz' })],
    ['the readiness check', 200, NOTHING_ALLOWED, () => ({ url: '/readyz' })],
    [
      'a call for another host',
      421,
      NOTHING_ALLOWED,
      () => ({ url: '/', headers: { host: 'evil.example' } }),
    ],
    ['a payment', 200, NOTHING_ALLOWED, () => ({ url: `/api/payment?hash=${hash}` })],
    ['an unknown payment', 404, NOTHING_ALLOWED, () => ({ url: `/api/payment?hash=${UNKNOWN_HASH}` })],
    ['a malformed hash', 404, NOTHING_ALLOWED, () => ({ url: '/api/payment?hash=x' })],
    ['no hash', 400, NOTHING_ALLOWED, () => ({ url: '/api/payment' })],
    [
      'an unknown inventory',
      404,
      NOTHING_ALLOWED,
      () => ({ url: `/api/inventory?hash=${UNKNOWN_HASH}&game=cs` }),
    ],
    [
      'a trade without a token',
      403,
      NOTHING_ALLOWED,
      () => ({ method: 'POST', url: '/api/trade', payload: {} }),
    ],
    ['a call without its trade link', 400, NOTHING_ALLOWED, () => changingCall('/api/trade-url', '{}')],
    [
      'an unsupported content type',
      415,
      NOTHING_ALLOWED,
      () => changingCall('/api/trade', 'a=1', 'text/plain'),
    ],
    [
      'an oversized body',
      413,
      NOTHING_ALLOWED,
      () => changingCall('/api/metrics', `"${'x'.repeat(70_000)}"`),
    ],
    [
      'a report',
      204,
      NOTHING_ALLOWED,
      () =>
        changingCall(
          '/api/error-report',
          JSON.stringify({ message: '', type: '', filename: '', lineno: 0, empty: true, url: '' }),
        ),
    ],
    ['a fault', 500, NOTHING_ALLOWED, () => ({ url: '/api/broken' })],
    ['an unknown call', 404, NOTHING_ALLOWED, () => ({ url: '/api/nothing' })],
    ['an unsupported method', 405, NOTHING_ALLOWED, () => ({ method: 'DELETE', url: '/api/payment' })],
    [
      'a preflight',
      405,
      NOTHING_ALLOWED,
      () => ({
        method: 'OPTIONS',
        url: '/api/trade',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      }),
    ],
    ['a store’s call without a key', 401, NOTHING_ALLOWED, () => ({ url: '/v1/health' })],
    [
      'a store’s call',
      200,
      NOTHING_ALLOWED,
      () => ({ url: '/v1/health', headers: { authorization: `Bearer ${api.key}` } }),
    ],
    [
      'a store’s call whose path cannot be decoded',
      400,
      NOTHING_ALLOWED,
      () => ({ url: '/v1/deposits/%ff', headers: { authorization: `Bearer ${api.key}` } }),
    ],
    ['the reference', 200, REFERENCE_POLICY, () => ({ url: '/v1/reference' })],
    ['the style of the reference', 200, REFERENCE_POLICY, () => ({ url: '/v1/reference.css' })],
    ['the OpenAPI document', 200, REFERENCE_POLICY, () => ({ url: '/v1/openapi.json' })],
    ...OPERATIONS.map(({ method, path }): (typeof calls)[number] => [
      `${method} ${path}`,
      401,
      NOTHING_ALLOWED,
      () => ({ method, url: path.replace(/:\w+/, '1') }),
    ]),
  ]

  test.each(calls)('%s (%i)', async (_what, status, policy, call) => {
    const { statusCode, headers } = await ask(call())
    expect(statusCode).toBe(status)
    const permissions = policy === PAGE_POLICY ? PAGE_PERMISSIONS : PERMISSIONS
    expect(headers).toMatchObject({
      ...COMMON,
      'content-security-policy': policy,
      'permissions-policy': permissions,
    })
    expect(leaksOf(headers)).toEqual([])
  })

  test('a call while the till is too busy (503)', async () => {
    isOverloaded = true
    const { statusCode, headers } = await ask({ url: `/api/inventory?hash=${hash}&game=cs` })
    isOverloaded = false
    expect(statusCode).toBe(503)
    expect(headers).toMatchObject({
      ...COMMON,
      'permissions-policy': PERMISSIONS,
      'content-security-policy': NOTHING_ALLOWED,
    })
    expect(leaksOf(headers)).toEqual([])
  })
})

test.each(['/', '/assets/app-1a2b.js', '/api/payment', '/v1/deposits', '/healthz'])(
  'TRACE %s is refused, and the answer does not repeat the request',
  async (url) => {
    const headers = { cookie: 'csrf=canary', authorization: 'Bearer canary' }
    const answer = await ask({ method: 'TRACE', url, headers })
    expect([answer.statusCode, answer.json().code]).toEqual([405, 'method_not_allowed'])
    expect(answer.payload).not.toContain('canary')
    expect(answer.headers).toMatchObject({ ...COMMON, 'permissions-policy': PERMISSIONS })
  },
)

test('over https the cross-site token is a cookie of this host alone', async () => {
  const { headers } = await ask({ url: '/' })
  expect(headers['set-cookie']).toMatch(/^__Host-csrf=[\w-]{43}; Path=\/; SameSite=Lax; Secure$/)
})

test('over plain http no header asks for https', async () => {
  const local = await createAppFor('http://localhost:4300')
  const { headers } = await local.inject('/')
  expect(headers['strict-transport-security']).toBeUndefined()
  expect(headers['set-cookie']).toMatch(/^csrf=[\w-]{43}; Path=\/; SameSite=Lax$/)
  await local.close()
})
