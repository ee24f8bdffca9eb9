import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as rawRequest } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ERRORS } from '../../contract/errors.ts'
import { captureLog } from '../testing/log.ts'
import { createApp } from './app.ts'
import { createLimits } from './limits.ts'
import { refuse, type UnableReason } from './refusal.ts'

const HASH = '0123456789abcdef0123456789abcdef'
const REQUEST_ID = expect.stringMatching(/^[0-9a-f-]{36}$/)

const widgetRoutes: FastifyPluginAsyncZod = async (app) => {
  app.post('/api/error-report', async (_request, reply) => reply.code(204).send())
  app.get('/api/refused', async () => refuse('deposit_closed'))
  app.get('/api/broken', async () => {
    throw new Error('select secret from store')
  })
  app.get('/api/read', { schema: { querystring: z.object({ hash: z.string() }) } }, async () => ({
    ok: true,
  }))
  app.post(
    '/api/change',
    { schema: { body: z.object({ hash: z.string(), n: z.int() }) } },
    async (request) => ({
      n: request.body.n,
    }),
  )
}

const storeCalls: FastifyPluginAsyncZod = async (app) => {
  app.get('/v1/call', async () => ({ ok: true }))
  app.get('/v1/calls/newest', async () => ({ ok: true }))
  app.delete('/v1/calls/:id', async () => ({ ok: true }))
}

let app: FastifyInstance
let base: string
let folder: string
let unableReason: UnableReason | undefined
const captured = captureLog()

beforeEach(async () => {
  unableReason = undefined
  folder = mkdtempSync(join(tmpdir(), 'tradetill-page-'))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<html data-mode="sandbox">')
  writeFileSync(join(folder, 'assets/app-1a2b.js'), 'let plain')
  writeFileSync(join(folder, 'assets/app-1a2b.js.gz'), gzipSync('let plain'))
  app = await createApp({
    log: captured.log,
    mode: 'live',
    publicUrl: new URL('http://127.0.0.1:4300'),
    imageOrigins: ['http://127.0.0.1:4301'],
    widgetFolder: folder,
    healthy: async () => true,
    callerLookups: { deposit: async () => false, key: async () => false },
    // The buckets never refill, so the number of accepted calls does not depend on how long they take.
    limits: createLimits(() => 0),
    unableReason: () => unableReason,
    routes: { widget: [widgetRoutes], store: [storeCalls] },
  })
  base = await app.listen({ host: '127.0.0.1', port: 0 })
})

afterEach(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
})

/**
 * Makes a call that changes something, as the page does: with a matching cookie, header and origin, unless `headers`
 * changes them.
 */
async function change(headers: Record<string, string | undefined> = {}, body = '{"hash":"x","n":1}') {
  const token = (await fetch(base)).headers.get('set-cookie')?.match(/csrf=([^;]+)/)?.[1] ?? ''
  const merged = {
    cookie: `csrf=${token}`,
    'x-csrf-token': token,
    origin: base,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
    ...headers,
  }
  const sent = Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return send('POST', '/api/change', { headers: Object.fromEntries(sent), body })
}

/** fetch() sets some of these headers automatically, so these calls do not use it. */
function send(method: string, path: string, { headers = {}, body = '' }) {
  return new Promise<{ status: number; headers: Record<string, unknown>; json: unknown }>(
    (resolve, reject) => {
      const request = rawRequest(`${base}${path}`, { method, headers }, (response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => {
          const json = text.startsWith('{') ? JSON.parse(text) : text
          resolve({ status: response.statusCode ?? 0, headers: response.headers, json })
        })
      })
      request.on('error', reject).end(body)
    },
  )
}

/** Sends the text as it is, and returns everything that comes back until the connection ends. */
function sendRaw(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(base).port), '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    // The server does not read the rest of the request, so the connection may be reset.
    socket.on('error', () => {})
    socket.on('close', () => resolve(received))
    socket.write(text)
  })
}

describe('refusals', () => {
  test('are problem JSON from the catalogue, in the language of the call', async () => {
    const answer = await fetch(`${base}/api/refused?language=ru`, { headers: { 'accept-language': 'en' } })
    expect(answer.status).toBe(409)
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
    const { title, detail } = ERRORS.deposit_closed
    expect(await answer.json()).toEqual({
      type: 'urn:tradetill:problem:deposit_closed',
      status: 409,
      code: 'deposit_closed',
      title,
      detail: detail.ru,
    })
  })

  test.each([
    ['ru-RU,ru;q=0.9,en;q=0.8', 'ru'],
    ['xx,ru;q=0.5', 'ru'],
    ['xx', 'en'],
  ] as const)(
    'a call without a language is answered in its Accept-Language, or else in English: %s gets %s',
    async (header, language) => {
      const answer = await fetch(`${base}/api/refused`, { headers: { 'accept-language': header } })
      expect(await answer.json()).toMatchObject({ detail: ERRORS.deposit_closed.detail[language] })
    },
  )

  test('of an invalid request name the invalid fields', async () => {
    const answer = await fetch(`${base}/api/read?hash=a&hash=b`)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'invalid_request', errors: [{ path: 'hash' }] })
  })

  test('for a failure of the till do not show its cause, which is logged', async () => {
    const answer = await fetch(`${base}/api/broken`)
    expect(answer.status).toBe(500)
    const text = await answer.text()
    expect(text).toContain('internal')
    expect(text).not.toMatch(/select|stack|\.ts/)
    expect(captured.lines.join('')).toContain('select secret from store')
  })

  test.each([
    ['GET', '/api/nothing', 404, 'not_found'],
    ['GET', '/v1/nothing', 404, 'not_found'],
    ['GET', '/api/read/', 404, 'not_found'],
    ['DELETE', '/api/read', 405, 'method_not_allowed'],
    ['GET', '/api/change', 405, 'method_not_allowed'],
  ])('%s %s is refused with %i', async (method, path, status, code) => {
    expect(await send(method, path, {})).toMatchObject({ status, json: { code } })
  })

  test.each([
    ['DELETE', '/api/read?hash=a', 'GET, HEAD'],
    ['GET', '/api/change', 'POST'],
    ['PATCH', '/v1/call', 'GET, HEAD'],
    // Two routes have this path.
    ['POST', '/v1/calls/newest', 'DELETE, GET, HEAD'],
    ['POST', '/v1/calls/7', 'DELETE'],
    ['TRACE', '/v1/call', 'GET, HEAD'],
    ['TRACE', '/v1/nothing', ''],
    ['GET', '/v1/nothing', undefined],
  ])('of %s %s say which methods its path supports', async (method, path, allow) => {
    const { headers } = await send(method, path, {})
    expect(headers.allow).toBe(allow)
  })

  test.each([
    ['GET', '/v1/nothing', 'not_found'],
    ['PUT', '/v1/call', 'method_not_allowed'],
    ['GET', '/v1/call', 'database_unavailable'],
    ['GET', '/v1/call', 'overloaded'],
    ['GET', '/api/refused', 'deposit_closed'],
  ] as const)('of %s %s with the code %s have a request id', async (method, path, code) => {
    unableReason = code === 'database_unavailable' || code === 'overloaded' ? code : undefined
    const answer = await send(method, path, {})
    expect(answer).toMatchObject({ json: { code }, headers: { 'x-request-id': REQUEST_ID } })
  })

  test.each([
    [
      'has too long an address',
      `/v1/call?name=${'x'.repeat(17_000)}`,
      { status: 431, code: 'headers_too_large' },
    ],
    ['is not valid HTTP', '/v1/a call', { status: 400, code: 'invalid_request', errors: [{ path: '' }] }],
  ])(
    'of a request that %s are problem JSON with the headers of every answer',
    async (_what, path, problem) => {
      const received = await sendRaw(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:4300\r\n\r\n`)
      const [head = '', body = ''] = received.split('\r\n\r\n')
      expect(JSON.parse(body)).toMatchObject(problem)
      const headers = new Headers(
        head
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(': ') as [string, string]),
      )
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'application/problem+json; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'x-request-id': REQUEST_ID,
      })
    },
  )
})

describe('calls that change something, and their token', () => {
  test('A-105 a call with the token of its cookie passes', async () => {
    expect(await change()).toMatchObject({ status: 200, json: { n: 1 } })
  })

  test.each([
    ['no token header', { 'x-csrf-token': undefined }],
    ['no cookie', { cookie: undefined }],
    ['another token', { 'x-csrf-token': 'A'.repeat(43) }],
    [
      'a planted second cookie',
      { cookie: `csrf=${'A'.repeat(43)}; csrf=${'A'.repeat(43)}`, 'x-csrf-token': 'A'.repeat(43) },
    ],
    ['another origin', { origin: 'https://evil.example' }],
    ['the origin null', { origin: 'null' }],
    ['a cross-site fetch', { 'sec-fetch-site': 'cross-site' }],
    ['no header about its origin', { origin: undefined, 'sec-fetch-site': undefined }],
  ])('A-105 a call with %s is refused and gets a new token', async (_what, headers) => {
    const answer = await change(headers)
    expect(answer).toMatchObject({ status: 403, json: { code: 'cross_site_token' } })
    expect(String(answer.headers['set-cookie'])).toMatch(/^csrf=[\w-]{43}; Path=\/; SameSite=Lax$/)
  })

  test.each([['text/plain'], ['application/x-www-form-urlencoded'], [undefined]])(
    'a body of type %s is refused',
    async (type) => {
      expect(await change({ 'content-type': type })).toMatchObject({ status: 415 })
    },
  )

  test('a body over 64 KB is refused', async () => {
    const body = JSON.stringify({ hash: 'x'.repeat(70_000), n: 1 })
    expect(await change({}, body)).toMatchObject({ status: 413, json: { code: 'payload_too_large' } })
  })

  test('a body that is not JSON, or that has a key such as __proto__, is refused', async () => {
    expect(await change({}, '{')).toMatchObject({ status: 400, json: { code: 'invalid_request' } })
    expect(await change({}, '{"hash":"x","n":1,"__proto__":{"x":1}}')).toMatchObject({ status: 400 })
  })

  test.each(['[', '{"a":'])(
    'a body that nests %s thousands of times is refused, but a string of these characters is accepted',
    async (level) => {
      const deep = `{"hash":"x","n":${level.repeat(5_000)}`
      const answer = await change({}, deep)
      expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_request', errors: [{ path: '' }] } })
      // The escaped quote does not end the text.
      const text = `{"hash":${JSON.stringify(`"${level.repeat(5_000)}`)},"n":1}`
      expect(await change({}, text)).toMatchObject({ status: 200 })
    },
  )

  test('a browser keeps the token that its cookie has', async () => {
    const answer = await fetch(base, { headers: { cookie: `csrf=${'A'.repeat(43)}` } })
    expect(answer.headers.get('set-cookie')).toBeNull()
  })
})

describe('pages, files and answers', () => {
  test.each(['/', '/help', '/help/', '/deposit/anything', `/${HASH}`, `/${HASH}/`])(
    '%s is a route of the widget',
    async (path) => {
      const answer = await fetch(base + path)
      expect(answer.status).toBe(200)
      expect(await answer.text()).toBe('<html data-mode="live">')
      const policy = answer.headers.get('content-security-policy')
      expect(policy).toContain("img-src 'self' http://127.0.0.1:4301;")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(answer.headers.get('link')).toBe('<http://127.0.0.1:4301>; rel=preconnect')
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    },
  )

  test.each([
    '/deposit',
    '/deposit/',
    '//',
    '/unknown',
    '/home',
    '/deposit/a/b',
    '/.git/config',
    '/assets/../../package.json',
    '/assets/%2e%2e/x',
  ])('A-005 %s gets the page with status 404', async (path) => {
    const answer = await send('GET', path, {})
    expect(answer.status).toBe(404)
    expect(answer.json).toBe('<html data-mode="live">')
  })

  test('a file of the build is sent compressed, and may be cached forever', async () => {
    const answer = await fetch(`${base}/assets/app-1a2b.js`, { headers: { 'accept-encoding': 'gzip' } })
    expect(await answer.text()).toBe('let plain')
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(answer.headers.get('cache-control')).toContain('immutable')
    expect(answer.headers.get('content-type')).toContain('javascript')
  })

  test('answers of the API must not be stored', async () => {
    const answer = await fetch(`${base}/api/read?hash=a`)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  })
})

test('a page that keeps reporting errors can make its other calls', async () => {
  const token = (await fetch(base)).headers.get('set-cookie')?.match(/csrf=([^;]+)/)?.[1] ?? ''
  const headers = {
    cookie: `csrf=${token}`,
    'x-csrf-token': token,
    origin: base,
    'content-type': 'application/json',
  }
  const report = async (query = '') =>
    (await send('POST', `/api/error-report${query}`, { headers, body: '{}' })).status
  const statuses: number[] = []
  // More than the 300 changes that an address may make at once.
  for (let n = 0; n < 350; n += 1) statuses.push(await report(`?hash=${HASH}`))
  expect(statuses).toEqual([...Array(20).fill(204), ...Array(330).fill(429)])
  expect((await fetch(`${base}/api/read?hash=${HASH}`)).status).toBe(200)
  expect(await change()).toMatchObject({ status: 200 })
})

test('calls of the store API with a made-up key count towards the limit of their address', async () => {
  const headers = { authorization: 'Bearer tt_test_abcdefgh_made-up' }
  const statuses: number[] = []
  for (let n = 0; n < 310; n += 1) statuses.push((await send('GET', '/v1/call', { headers })).status)
  expect(statuses).toEqual([...Array(300).fill(200), ...Array(10).fill(429)])
})
