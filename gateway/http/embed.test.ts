/** D-32: the page of a deposit in a frame of its store, as the server sends it. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSecretBox } from '../kit/secret-box.ts'
import { fakeClock } from '../testing/clock.ts'
import { captureLog } from '../testing/log.ts'
import { createApp } from './app.ts'
import { LOADER_INTEGRITY, LOADER_PATH, ZIPPED_LOADER } from './embed-loader.ts'
import { createEmbedTokens } from './embed-token.ts'

const HASH = 'a'.repeat(32)
const OTHER_HASH = 'b'.repeat(32)
/** The hash of a deposit whose origin would add a rule to the policy of its page. */
const HOSTILE_HASH = 'c'.repeat(32)
const STORE = 'https://store.example'
const TILL = 'https://pay.example'
const DAY_MS = 86_400_000

const clock = fakeClock(new Date('2026-11-23T00:00:00Z'))
const { hmacs } = createSecretBox(Buffer.alloc(32, 7))
const tokens = createEmbedTokens({ hmacs, clock })
const folder = mkdtempSync(join(tmpdir(), 'tradetill-embed-'))
let app: FastifyInstance
let lookups: string[] = []
let holdLookups: Promise<void> | undefined

/** A call about a deposit, and a call that names no deposit. */
const routes: FastifyPluginAsync = async (scope) => {
  scope.post('/api/trade', async () => ({}))
  scope.post('/api/metrics', async () => ({}))
}

beforeAll(async () => {
  writeFileSync(join(folder, 'index.html'), '<html data-mode="sandbox"><head><title>x</title></head></html>')
  app = await createApp({
    log: captureLog().log,
    mode: 'live',
    publicUrl: new URL(TILL),
    imageOrigins: [],
    widgetFolder: folder,
    callerLookups: { deposit: async () => true, key: async () => false },
    healthy: async () => true,
    embed: {
      tokens,
      originOf: async (hash) => {
        lookups.push(hash)
        await holdLookups
        if (hash === HOSTILE_HASH) return `${STORE}; script-src *`
        return hash === HASH ? STORE : undefined
      },
    },
    routes: { widget: [routes] },
  })
})

afterAll(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
})

const open = (path: string, dest?: string) => {
  lookups = []
  const headers = { host: 'pay.example', ...(dest === undefined ? {} : { 'sec-fetch-dest': dest }) }
  return app.inject({ url: path, headers })
}

const tokenIn = (html: string): string =>
  /<meta name="tradetill-embed" content="([^"]+)"/.exec(html)?.[1] ?? ''

describe('the page', () => {
  test.each([`/deposit/${HASH}`, `/${HASH}`])(
    'at %s may be framed by its store alone, and sets no cookie',
    async (path) => {
      const { statusCode, headers, payload } = await open(path, 'iframe')
      expect(statusCode).toBe(200)
      expect(headers['content-security-policy']).toContain(`frame-ancestors ${STORE};`)
      expect(headers['content-security-policy']).toContain("script-src 'self';")
      expect(headers['x-frame-options']).toBeUndefined()
      expect(headers['set-cookie']).toBeUndefined()
      expect(headers['cache-control']).toBe('no-store')
      expect(payload).toContain(`data-origin="${STORE}"`)
      expect(tokens.read(tokenIn(payload))).toEqual({ hash: HASH, origin: STORE })
    },
  )

  test.each<[what: string, path: string, dest: string | undefined]>([
    ['of the same deposit at top level', `/deposit/${HASH}`, 'document'],
    ['for a browser that sends no Sec-Fetch-Dest', `/deposit/${HASH}`, undefined],
    ['in another kind of frame', `/deposit/${HASH}`, 'object'],
    ['of a deposit without an origin', `/deposit/${OTHER_HASH}`, 'iframe'],
    ['of the help', '/help', 'iframe'],
    ['of an invalid hash', `/deposit/${HASH.toUpperCase()}`, 'iframe'],
  ])('%s cannot be framed, and has no token', async (_what, path, dest) => {
    const { headers, payload } = await open(path, dest)
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none';")
    expect(headers['x-frame-options']).toBe('DENY')
    expect(headers['set-cookie']).toMatch(/^__Host-csrf=/)
    expect(payload).not.toContain('tradetill-embed')
    expect(lookups).toEqual(path === `/deposit/${OTHER_HASH}` ? [OTHER_HASH] : [])
  })

  test('of a deposit whose origin would add a rule to the policy cannot be framed', async () => {
    const { headers } = await open(`/deposit/${HOSTILE_HASH}`, 'iframe')
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none';")
    expect(headers['content-security-policy']).not.toContain('script-src *')
    expect(headers['x-frame-options']).toBe('DENY')
  })

  test('is refused in a frame while 200 such pages wait for a look-up, and two are looked up', async () => {
    const released = Promise.withResolvers<void>()
    holdLookups = released.promise
    lookups = []
    const openFrom = (n: number) =>
      app.inject({
        url: `/deposit/${HASH}`,
        headers: { host: 'pay.example', 'sec-fetch-dest': 'iframe' },
        // One address may not have that many open calls.
        remoteAddress: `203.0.113.${n % 200}`,
      })
    const waiting = Array.from({ length: 202 }, (_, n) => openFrom(n))
    await expect.poll(() => lookups.length).toBe(2)
    const refused = await openFrom(202)
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1'])
    released.resolve()
    holdLookups = undefined
    const statuses = (await Promise.all(waiting)).map(({ statusCode }) => statusCode)
    expect(statuses).toEqual(Array(202).fill(200))
  })
})

describe('a call with an embed token', () => {
  const call = async (
    token: string,
    { hash = HASH, path = '/api/trade', ...headers }: Record<string, string> = {},
  ) =>
    app.inject({
      method: 'POST',
      url: path,
      payload: path === '/api/metrics' ? {} : { hash },
      headers: {
        host: 'pay.example',
        origin: TILL,
        'sec-fetch-site': 'same-origin',
        'x-csrf-token': token,
        ...headers,
      },
    })
  const validToken = () => tokens.make({ hash: HASH, origin: STORE })

  test('is accepted without a cookie', async () => {
    expect((await call(validToken())).statusCode).toBe(200)
    expect((await call(validToken(), { path: '/api/metrics' })).statusCode).toBe(200)
  })

  test('has a token that stays valid after a rotation of the master key', async () => {
    const before = createEmbedTokens({ ...createSecretBox(Buffer.alloc(32, 9)), clock })
    const token = before.make({ hash: HASH, origin: STORE })
    expect(tokens.read(token)).toBeUndefined()
    const after = createEmbedTokens({ ...createSecretBox(Buffer.alloc(32, 7), [Buffer.alloc(32, 9)]), clock })
    expect(after.read(token)).toEqual({ hash: HASH, origin: STORE })
  })

  const withPart = (token: string, index: number, value: string) =>
    token
      .split('.')
      .map((part, at) => (at === index ? value : part))
      .join('.')

  test.each<[what: string, token: () => string, changes: Record<string, string>]>([
    ['about another deposit', validToken, { hash: OTHER_HASH }],
    ['from another site', validToken, { 'sec-fetch-site': 'cross-site' }],
    ['from the page of the store', validToken, { origin: STORE, 'sec-fetch-site': 'same-site' }],
    [
      'with the hash of another deposit in its token',
      () => withPart(validToken(), 1, OTHER_HASH),
      { hash: OTHER_HASH },
    ],
    ['with a later expiry in its token', () => withPart(validToken(), 2, '9999999999'), {}],
    [
      'with another origin in its token',
      () => withPart(validToken(), 3, Buffer.from('https://evil.example').toString('base64url')),
      {},
    ],
    ['with another signature in its token', () => withPart(validToken(), 4, 'A'.repeat(43)), {}],
    ['whose token is cut short', () => validToken().slice(0, -1), {}],
    ['whose token is empty', () => 'e1.', {}],
    [
      'whose token is from another till',
      () =>
        createEmbedTokens({ ...createSecretBox(Buffer.alloc(32, 8)), clock }).make({
          hash: HASH,
          origin: STORE,
        }),
      {},
    ],
  ])('%s is refused, and gets no cookie', async (_what, token, changes) => {
    const answer = await call(token(), changes)
    expect([answer.statusCode, answer.json().code]).toEqual([403, 'cross_site_token'])
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  test('is refused once the token has expired', async () => {
    // A token is valid for 36 hours.
    const token = validToken()
    clock.jump(DAY_MS)
    expect((await call(token)).statusCode).toBe(200)
    clock.jump(DAY_MS / 2)
    expect((await call(token)).statusCode).toBe(403)
  })
})

describe('the loader', () => {
  const load = (encoding: string) =>
    app.inject({ url: LOADER_PATH, headers: { host: 'pay.example', 'accept-encoding': encoding } })

  test('has the bytes whose hash is in stores’ pages: a new version would be /embed/v2.js', async () => {
    const plain = await load('identity')
    const digest = `sha384-${createHash('sha384').update(plain.rawPayload).digest('base64')}`
    expect(digest).toBe('sha384-jcLGppugooSNgOHl35l2yQwiybKnxCrztRx1vE4TB83IsrkRe6VmMxfR+0I31qEg')
    expect(digest).toBe(LOADER_INTEGRITY)
    expect(gunzipSync((await load('br, gzip')).rawPayload)).toEqual(plain.rawPayload)
  })

  test('has at most 2 KB, compressed', () => {
    expect(ZIPPED_LOADER.length).toBeLessThanOrEqual(2_048)
  })

  test('can be read by every origin, but the page cannot', async () => {
    const { headers } = await load('gzip')
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    })
    const otherPage = await open('/', 'document')
    expect(otherPage.headers['access-control-allow-origin']).toBeUndefined()
    expect(otherPage.headers['cross-origin-resource-policy']).toBe('same-origin')
  })

  test('appears in the store guide with its hash', () => {
    const guide = readFileSync(join(import.meta.dirname, '../../docs/store-guide.md'), 'utf8')
    expect(/integrity="([^"]+)"/.exec(guide)?.[1]).toBe(LOADER_INTEGRITY)
  })
})
