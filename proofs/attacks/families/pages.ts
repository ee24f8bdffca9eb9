/** The headers of the answers, and the files of the page: families 5 to 7, 11, 31, 32, 36 and 39. */
import { type Case, type Family, family } from '../attack.ts'
import { MACHINE_SECRET, ORIGIN, type Target } from '../target.ts'
import { mustReply, problemIf } from './checks.ts'

const HEADERS = 'gateway/http/headers.ts'
const APP = 'gateway/http/app.ts'
const PAGE = 'gateway/http/page.ts'
/** The line of the source that sets the policy of all answers but pages. */
const POLICY_LINE = "['content-security-policy', \"default-src 'none'; frame-ancestors 'none'\"],"

const hashOf = (target: Target): string => target.shoppers[0]?.hash ?? ''

const pagePathsOf = (target: Target): string[] => ['/', `/${hashOf(target)}`, '/help', '/nothing/here']

const pathsOf = (target: Target): string[] => {
  const hash = hashOf(target)
  return [
    ...pagePathsOf(target),
    '/assets/app.js',
    '/healthz',
    '/readyz',
    '/api/nothing',
    '/api/trade',
    `/api/payment?hash=${hash}`,
    '/api/payment?hash=x',
    '/v1/deposits',
    '/v1/openapi.json',
    '/v1/nothing',
  ]
}

/** Resolves to the problem, or to undefined if the gateway serves the page. */
export const problemOfPage = (target: Target) => mustReply(target.ask({ url: '/' }), 200)

const ORIGINS = [
  'https://evil.example',
  'null',
  'https://store.test.evil.example',
  'http://till.test',
  ORIGIN,
]
const CORS_HEADERS = [
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-methods',
  'access-control-allow-headers',
]

const cors = family({
  number: 5,
  name: 'calls by scripts of other origins (CORS)',
  kind: 'till',
  defences: {
    'no permission for other origins': {
      at: `${HEADERS} commonHeaders`,
      off: [{ file: HEADERS, from: POLICY_LINE, to: `${POLICY_LINE} ['access-control-allow-origin', '*'],` }],
    },
  },
  honest: problemOfPage,
  cases: (target) =>
    pathsOf(target).flatMap((url) =>
      ORIGINS.flatMap((origin) =>
        ['GET', 'OPTIONS'].map((method) => ({
          what: `${method} ${url.split('?')[0]?.slice(0, 20)} from ${origin}`,
          stoppedBy: 'no permission for other origins' as const,
          async attack() {
            const headers = { origin, 'access-control-request-method': 'POST' }
            const { headers: result } = await target.ask({ url, method, headers })
            const found = CORS_HEADERS.filter((name) => result[name] !== undefined)
            return problemIf(found.length > 0, `answered ${found.join()}`)
          },
        })),
      ),
    ),
})

const policyOf = async (target: Target, url: string): Promise<string> =>
  String((await target.ask({ url })).headers['content-security-policy'])

const framing = family({
  number: 6,
  name: 'framing',
  kind: 'till',
  defences: {
    'no frame around other answers': {
      at: `${HEADERS} commonHeaders`,
      off: [{ file: HEADERS, from: POLICY_LINE, to: "['content-security-policy', \"default-src 'none'\"]," }],
    },
    'no frame around the page': {
      at: `${HEADERS} pageHeaders`,
      off: [{ file: HEADERS, from: `\`frame-ancestors \${framedBy}\`,`, to: '' }],
    },
  },
  honest: problemOfPage,
  cases: (target) =>
    pathsOf(target).map((url) => ({
      what: url,
      stoppedBy: pagePathsOf(target).includes(url)
        ? ('no frame around the page' as const)
        : ('no frame around other answers' as const),
      async attack() {
        const policy = await policyOf(target, url)
        return problemIf(!policy.includes("frame-ancestors 'none'"), policy)
      },
    })),
})

/** The directives of the page's policy, each with the change of the source that weakens it. */
const DIRECTIVES: Record<string, [from: string, to: string]> = {
  "default-src 'none'": ['"default-src \'none\'",', '"default-src *",'],
  "script-src 'self'": ['"script-src \'self\'",', "\"script-src 'self' 'unsafe-inline'\","],
  "style-src 'self'": ['style-src ${["\'self\'"', 'style-src ${["*"'],
  "img-src 'self' https://images.test": ['`img-src $', '`img-src * $'],
  "connect-src 'self'": ['"connect-src \'self\'",', '"connect-src *",'],
  "base-uri 'none'": ['"base-uri \'none\'",', ''],
  "form-action 'none'": ['"form-action \'none\'",', ''],
  "require-trusted-types-for 'script'": ['"require-trusted-types-for \'script\'",', ''],
  "trusted-types 'none'": ['"trusted-types \'none\'",', ''],
}

const policy = family({
  number: 7,
  name: 'injected scripts (the page’s policy)',
  kind: 'till',
  defences: Object.fromEntries(
    Object.entries(DIRECTIVES).map(([directive, [from, to]]) => [
      directive,
      { at: `${HEADERS} pageHeaders`, off: [{ file: HEADERS, from, to }] },
    ]),
  ),
  honest: problemOfPage,
  cases: (target) =>
    Object.keys(DIRECTIVES).flatMap((directive) =>
      pagePathsOf(target).map((url) => ({
        what: `${directive} at ${url}`,
        stoppedBy: directive,
        async attack() {
          const parts = (await policyOf(target, url)).split('; ')
          return problemIf(!parts.includes(directive), parts.join('; '))
        },
      })),
    ),
})

const headerValues = family({
  number: 11,
  name: 'a caller’s line breaks and ids in headers',
  kind: 'till',
  defences: {
    'our own ids': {
      at: `${APP} genReqId`,
      off: [
        {
          file: APP,
          from: 'genReqId: () => randomUUID(),',
          to: "genReqId: (raw) => decodeURIComponent(String(raw.headers['x-request-id'] ?? randomUUID())).replace(/[^\\x20-\\x7e]/g, ' '),",
        },
      ],
    },
  },
  honest: (target) => mustReply(target.callAsStore({ url: '/v1/deposits' }), 200),
  cases: (target) =>
    [
      'evil',
      '%0d%0aset-cookie: a=b',
      '%0aX: y',
      '%1b[31m',
      'x'.repeat(2_000),
      '../../etc/passwd',
      '<script>',
    ].flatMap((id) =>
      ['/v1/deposits', '/v1/nothing', '/v1/deposits/0'].map((url) => ({
        what: `x-request-id ${id.slice(0, 30)} at ${url}`,
        stoppedBy: 'our own ids' as const,
        async attack() {
          const { headers } = await target.callAsStore({ url, headers: { 'x-request-id': id } })
          const answeredId = String(headers['x-request-id'] ?? '')
          return problemIf(!/^(?:[0-9a-f-]{36})?$/.test(answeredId), `answered x-request-id ${answeredId}`)
        },
      })),
    ),
})

const PRIVATE_PATHS = [
  '/assets/app.js.map',
  '/assets/..%2f..%2fsecret.txt',
  '/assets/%2e%2e/%2e%2e/secret.txt',
  '/assets/..%2f.env',
  '/.env',
  '/assets/%2e%2e%2f.env',
  '/assets/../.env',
  '/assets//..//.env',
  '/%2e%2e/secret.txt',
  '/..%2fsecret.txt',
  '/assets/../../secret.txt',
]

const traversal = family({
  number: 31,
  name: 'paths outside the folder, source maps and dot files',
  kind: 'till',
  defences: {
    'known file names only': {
      at: `${PAGE} servePage`,
      off: [
        {
          file: PAGE,
          from: 'if (ASSET.test(path)) return sendFile(reply, path, YEAR_MS)',
          to: `try {
            return reply.type('text/plain').send(readFileSync(join(options.folder, decodeURIComponent(path)), 'utf8'))
          } catch {}`,
        },
      ],
    },
  },
  honest: (target) => mustReply(target.ask({ url: '/assets/app.js' }), 200),
  cases: (target) =>
    PRIVATE_PATHS.map((url) => ({
      what: url,
      stoppedBy: 'known file names only' as const,
      async attack() {
        const { body, statusCode } = await target.ask({ url })
        return problemIf(body.includes(MACHINE_SECRET) || statusCode < 400, `answered ${statusCode}`)
      },
    })),
})

const debugging = family({
  number: 32,
  name: 'debugging methods and headers',
  kind: 'till',
  defences: {
    'no TRACE': {
      at: `${APP} answerUnknownRoutes`,
      off: [
        {
          file: APP,
          from: 'rewriteUrl: readablePath,',
          to: "rewriteUrl: (raw) => { if (raw.method === 'TRACE') raw.method = 'GET'; return readablePath(raw) },",
        },
      ],
    },
    'no server versions': {
      at: `${HEADERS} commonHeaders`,
      off: [
        {
          file: HEADERS,
          from: POLICY_LINE,
          to: `${POLICY_LINE} ['server', 'fastify/5'], ['x-powered-by', 'node'],`,
        },
      ],
    },
  },
  honest: problemOfPage,
  cases: (target) =>
    pathsOf(target).flatMap((url) => [
      {
        what: `TRACE ${url}`,
        stoppedBy: 'no TRACE' as const,
        attack: () => mustReply(target.ask({ url, method: 'TRACE' }), 405),
      },
      {
        what: `versions at ${url}`,
        stoppedBy: 'no server versions' as const,
        async attack() {
          const { headers } = await target.ask({ url })
          return problemIf((headers.server ?? headers['x-powered-by']) !== undefined, 'names its server')
        },
      },
    ]),
})

const CSRF = 'gateway/http/csrf.ts'
/** Defences by name: the part of the cookie, and the change of the source that removes it. */
const COOKIE_PARTS: Record<string, [part: string, change: [from: string, to: string]]> = {
  'bound to the host': ['__Host-csrf=', ["isSecure ? '__Host-csrf' : 'csrf'", "'csrf'"]],
  'over https only': ['; Secure', ["isSecure ? '; Secure' : ''", "''"]],
  'not with cross-site calls': ['; SameSite=Lax', ['; SameSite=Lax', '']],
}

const cookies = family({
  number: 36,
  name: 'cookies',
  kind: 'till',
  defences: Object.fromEntries(
    Object.entries(COOKIE_PARTS).map(([name, [, [from, to]]]) => [
      name,
      { at: `${CSRF} createCsrf`, off: [{ file: CSRF, from, to }] },
    ]),
  ),
  honest: problemOfPage,
  cases: (target) =>
    Object.entries(COOKIE_PARTS).flatMap(([stoppedBy, [part]]) =>
      pagePathsOf(target).map((url) => ({
        what: `${part} at ${url}`,
        stoppedBy,
        async attack() {
          const cookie = String((await target.ask({ url })).headers['set-cookie'])
          return problemIf(!cookie.includes(part), cookie)
        },
      })),
    ),
})

const caches = family({
  number: 39,
  name: 'cached answers, and ETags of other deposits',
  kind: 'till',
  defences: {
    'not stored': {
      at: `${HEADERS} API_HEADERS`,
      off: [
        {
          file: HEADERS,
          from: "'cache-control': 'no-store' } as const",
          to: "'cache-control': 'public' } as const",
        },
      ],
    },
    'the ETag of this deposit only': {
      at: 'gateway/deposits/routes.ts paymentRoute',
      off: [
        {
          file: 'gateway/deposits/routes.ts',
          from: 'if (view !== undefined && knownEtag === view.etag)',
          to: 'if (view !== undefined && knownEtag !== undefined)',
        },
      ],
    },
  },
  honest: (target) => mustReply(target.ask({ url: `/api/payment?hash=${hashOf(target)}` }), 200),
  cases(target) {
    const paymentUrls = target.shoppers.map(({ hash }) => `/api/payment?hash=${hash}`)
    const cacheCases: Case<'not stored' | 'the ETag of this deposit only'>[] = [
      ...paymentUrls,
      '/v1/deposits',
      '/v1/balance',
    ].map((url) => ({
      what: url.replace(/[0-9a-f]{32}/, 'HASH'),
      stoppedBy: 'not stored',
      async attack() {
        const { headers } = await target.callAsStore({ url })
        return problemIf(headers['cache-control'] !== 'no-store', String(headers['cache-control']))
      },
    }))
    const etagCases = paymentUrls.flatMap((url, index) =>
      paymentUrls
        .filter((other) => other !== url)
        .map((other) => ({
          what: `the ETag of deposit ${paymentUrls.indexOf(other)} for deposit ${index}`,
          stoppedBy: 'the ETag of this deposit only' as const,
          async attack() {
            const etag = String((await target.ask({ url: other })).headers.etag)
            return mustReply(target.ask({ url, headers: { 'if-none-match': etag } }), 200)
          },
        })),
    )
    return [...cacheCases, ...etagCases]
  },
})

export const PAGE_FAMILIES: readonly Family[] = [
  cors,
  framing,
  policy,
  headerValues,
  traversal,
  debugging,
  cookies,
  caches,
]
