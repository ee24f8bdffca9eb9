/** The page of a deposit in a frame: what others may read and call. Family 56. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, FastifyPluginAsync, LightMyRequestResponse } from 'fastify'
import { createApp } from '../../../gateway/http/app.ts'
import { createEmbedTokens } from '../../../gateway/http/embed-token.ts'
import { createSecretBox } from '../../../gateway/kit/secret-box.ts'
import { fakeClock } from '../../../gateway/testing/clock.ts'
import { captureLog } from '../../../gateway/testing/log.ts'
import { type Case, type Family, family } from '../attack.ts'
import { mustReply, problemIf } from './checks.ts'

const TOKEN = 'gateway/http/embed-token.ts'
const CSRF = 'gateway/http/csrf.ts'
const HEADERS = 'gateway/http/headers.ts'

const HASH = 'a'.repeat(32)
const OTHER_HASH = 'b'.repeat(32)
const STORE = 'https://store.example'
const TILL = 'https://till.test'
const NOW = new Date('2026-11-23T00:00:00Z')
const HOUR_MS = 3_600_000

type Defence =
  | 'the signature'
  | 'an expiry'
  | 'one deposit only'
  | 'calls from our own page only'
  | 'frames in its store only'
  | 'a plain origin'
  | 'the same answer for all origins'

const OUR_KEY = 7
const OTHER_KEY = 8

/** The tokens of a till. `key`: the value of every byte of its key. */
const tokensOf = (key: number, issuedAt = NOW) =>
  createEmbedTokens({ hmacs: createSecretBox(Buffer.alloc(32, key)).hmacs, clock: fakeClock(issuedAt) })
const validToken = (hash = HASH) => tokensOf(OUR_KEY).make({ hash, origin: STORE })

const routes: FastifyPluginAsync = async (scope) => {
  scope.post('/api/trade', async () => ({}))
  scope.post('/api/trade-url', async () => ({}))
}

/** Passes a gateway to `work`. `origin`: the one that may frame the deposit, according to the database. */
async function withApp<T>(work: (app: FastifyInstance) => Promise<T>, origin = STORE): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-attacks-'))
  writeFileSync(join(folder, 'index.html'), '<html data-mode="sandbox"><head><title>x</title></head></html>')
  const app = await createApp({
    log: captureLog().log,
    mode: 'live',
    publicUrl: new URL(TILL),
    imageOrigins: [],
    widgetFolder: folder,
    callerLookups: { deposit: async () => true, key: async () => false },
    healthy: async () => true,
    embed: { tokens: tokensOf(OUR_KEY), originOf: async (hash) => (hash === HASH ? origin : undefined) },
    routes: { widget: [routes] },
  })
  try {
    return await work(app)
  } finally {
    await app.close()
    rmSync(folder, { recursive: true })
  }
}

const PAGE_HEADERS = { host: 'till.test', origin: TILL, 'sec-fetch-site': 'same-origin' }
const PATHS = ['/api/trade', '/api/trade-url']

type TokenCall = { token: string; path: string; hash?: string; headers?: Record<string, string> }

const call = ({ token, path, hash = HASH, headers = {} }: TokenCall): Promise<LightMyRequestResponse> =>
  withApp((app) =>
    app.inject({
      method: 'POST',
      url: path,
      payload: { hash },
      headers: { ...PAGE_HEADERS, 'x-csrf-token': token, ...headers },
    }),
  )

/** Replaces a part of a token: 0 version, 1 hash, 2 expiry, 3 origin, 4 signature. */
const withPart = (index: number, value: string, token = validToken()): string =>
  token.split('.').with(index, value).join('.')

const encoded = (text: string): string => Buffer.from(text).toString('base64url')

const FORGED: [what: string, token: () => string, hash?: string][] = [
  ['the hash of another deposit', () => withPart(1, OTHER_HASH), OTHER_HASH],
  ['a later expiry', () => withPart(2, '9999999999')],
  ['an expiry a second later', () => withPart(2, String(Number(validToken().split('.')[2]) + 1))],
  ['another origin', () => withPart(3, encoded('https://evil.example'))],
  ['no origin', () => withPart(3, encoded('null'))],
  ['a signature of zeros', () => withPart(4, 'A'.repeat(43))],
  ['the signature of another deposit', () => withPart(4, validToken(OTHER_HASH).split('.')[4] ?? '')],
  ['the key of another till', () => tokensOf(OTHER_KEY).make({ hash: HASH, origin: STORE })],
]

/** Resolves to undefined if only `who` may frame the page. */
async function mustBeFramedBy(path: string, dest: string, who: string): Promise<string | undefined> {
  const { headers } = await withApp((app) =>
    app.inject({ url: path, headers: { host: 'till.test', 'sec-fetch-dest': dest } }),
  )
  const framers = /frame-ancestors ([^;]*)/.exec(String(headers['content-security-policy']))?.[1] ?? 'all'
  return problemIf(framers !== who, `may be framed by ${framers}`)
}

const frames = (): Case<Defence>[] =>
  ['document', 'iframe', 'frame', 'object', 'embed', 'fencedframe', 'empty'].flatMap((dest) =>
    [
      '/',
      '/help',
      '/nothing',
      `/deposit/${OTHER_HASH}`,
      `/${OTHER_HASH}`,
      `/deposit/${HASH}`,
      `/${HASH}`,
    ].map((path) => ({
      what: `${path} as ${dest}`,
      stoppedBy: 'frames in its store only' as const,
      attack: () => mustBeFramedBy(path, dest, dest === 'iframe' && path.endsWith(HASH) ? STORE : "'none'"),
    })),
  )

/** Values from a manipulated database. They must not become part of the policy. */
const ORIGINS = [
  '*',
  'https://a.example https://evil.example',
  'https://a.example; script-src *',
  "https://a.example; script-src 'unsafe-inline'",
  'https://a.example, frame-ancestors *',
  'https:',
  'data:',
  'https://*.example',
]

const policies = (): Case<Defence>[] =>
  ORIGINS.map((origin) => ({
    what: `framed by ${origin}`,
    stoppedBy: 'a plain origin' as const,
    async attack() {
      const headers = { host: 'till.test', 'sec-fetch-dest': 'iframe' }
      const answer = await withApp((app) => app.inject({ url: `/deposit/${HASH}`, headers }), origin)
      const policy = String(answer.headers['content-security-policy'])
      return problemIf(policy.includes(`frame-ancestors ${origin}`), `the policy is ${policy}`)
    },
  }))

const FOREIGN_CALLERS: [what: string, headers: Record<string, string>][] = [
  ['the page of the store', { origin: STORE, 'sec-fetch-site': 'cross-site' }],
  ['a page of the same site', { origin: 'https://shop.till.test', 'sec-fetch-site': 'same-site' }],
  ['a page without an origin', { origin: 'null' }],
  ['our origin in a cross-site call', { 'sec-fetch-site': 'cross-site' }],
  ['a page over plain http', { origin: 'http://till.test' }],
]

const calls = (): Case<Defence>[] =>
  PATHS.flatMap((path) => [
    ...FORGED.map(([what, token, hash]) => ({
      what: `${path} with ${what}`,
      stoppedBy: 'the signature' as const,
      attack: () => mustReply(call({ token: token(), path, ...(hash !== undefined && { hash }) }), 403),
    })),
    // A token lives for 36 hours.
    ...[37, 48, 24 * 365].map((hours) => ({
      what: `${path} with a token that is ${hours} hours old`,
      stoppedBy: 'an expiry' as const,
      attack: () => {
        const issuedAt = new Date(NOW.getTime() - hours * HOUR_MS)
        const token = tokensOf(OUR_KEY, issuedAt).make({ hash: HASH, origin: STORE })
        return mustReply(call({ token, path }), 403)
      },
    })),
    ...[OTHER_HASH, 'c'.repeat(32), '0'.repeat(32)].map((hash) => ({
      what: `${path} about ${hash}`,
      stoppedBy: 'one deposit only' as const,
      attack: () => mustReply(call({ token: validToken(), path, hash }), 403),
    })),
    ...FOREIGN_CALLERS.map(([what, headers]) => ({
      what: `${path} by ${what}`,
      stoppedBy: 'calls from our own page only' as const,
      attack: () => mustReply(call({ token: validToken(), path, headers }), 403),
    })),
  ])

const READ_PATHS = [
  '/',
  '/help',
  `/deposit/${HASH}`,
  '/embed/v0.js',
  '/embed/v1.js.map',
  '/embed/',
  '/healthz',
]

const reads = (): Case<Defence>[] =>
  READ_PATHS.flatMap((url) =>
    [STORE, 'null', 'https://evil.example'].map((origin) => ({
      what: `${url} read by ${origin}`,
      stoppedBy: 'the same answer for all origins' as const,
      async attack() {
        const { headers } = await withApp((app) =>
          app.inject({ url, headers: { host: 'till.test', origin } }),
        )
        const allowed = headers['access-control-allow-origin'] ?? headers['access-control-allow-credentials']
        return problemIf(allowed !== undefined, `allows ${String(allowed)}`)
      },
    })),
  )

/** The line of the source that sets the policy of all answers but pages. */
const POLICY_LINE = "['content-security-policy', \"default-src 'none'; frame-ancestors 'none'\"],"

export const embedding: Family = family<Defence>({
  number: 56,
  name: 'a deposit in a foreign page',
  kind: 'parts',
  defences: {
    'the signature': {
      at: `${TOKEN} createEmbedTokens`,
      off: [
        {
          file: TOKEN,
          from: 'return isOurs ? framed : undefined',
          to: 'return isOurs || hash !== "" ? framed : undefined',
        },
      ],
    },
    'an expiry': {
      at: `${TOKEN} createEmbedTokens`,
      off: [
        {
          file: TOKEN,
          from: 'if (Number(expires) * 1000 <= clock.now().getTime()) return undefined',
          to: '',
        },
      ],
    },
    'one deposit only': {
      at: `${CSRF} checkDeposit`,
      off: [{ file: CSRF, from: 'hash !== undefined && hash !== framedHash', to: 'false' }],
    },
    'calls from our own page only': {
      at: `${CSRF} isOurOrigin`,
      off: [{ file: CSRF, from: 'isOurOrigin(request, isOurs) && ', to: '' }],
    },
    'frames in its store only': {
      at: `${HEADERS} pageHeaders`,
      off: [{ file: HEADERS, from: 'framedBy = "\'none\'",', to: "framedBy = '*'," }],
    },
    'a plain origin': {
      at: `${HEADERS} allowFraming`,
      off: [{ file: HEADERS, from: 'if (!PLAIN_ORIGIN.test(origin)) return', to: '' }],
    },
    'the same answer for all origins': {
      at: `${HEADERS} commonHeaders`,
      off: [{ file: HEADERS, from: POLICY_LINE, to: `${POLICY_LINE} ['access-control-allow-origin', '*'],` }],
    },
  },
  async honest() {
    const called = await call({ token: validToken(), path: '/api/trade' })
    const loader = await withApp((app) => app.inject({ url: '/embed/v1.js', headers: { host: 'till.test' } }))
    const isRead = loader.headers['access-control-allow-origin'] === '*'
    return problemIf(
      called.statusCode !== 200 || !isRead,
      `the call gets ${called.statusCode}, the loader ${isRead ? 'is' : 'is not'} readable`,
    )
  },
  cases: () => [...calls(), ...frames(), ...policies(), ...reads()],
})
