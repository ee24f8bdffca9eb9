/** Calls that the shopper's browser sends because a foreign page tells it to: families 1 to 4. */
import { type Case, family } from '../attack.ts'
import { type Ask, type Target, TOKEN } from '../target.ts'

const CSRF = 'gateway/http/csrf.ts'
const OTHER_TOKEN = 'B'.repeat(43)
const LINK = 'https://steamcommunity.com/tradeoffer/new/?partner=12345678&token=abcDEF12'

/** Every call of the page that changes something. */
const changingCalls = (target: Target): Ask[] => {
  const hash = target.shoppers[0]?.hash ?? ''
  const report = { message: 'm', type: 'error', filename: 'f', lineno: 1, empty: false, url: `/${hash}` }
  return [
    { url: '/api/trade-url', body: { hash, tradeUrl: LINK } },
    { url: '/api/trade', body: { hash, game: 'dota', items: ['1'] } },
    { url: '/api/error-report', body: report },
    { url: '/api/metrics', body: { screen: 'deposit', metrics: [{ name: 'LCP', value: 1 }] } },
  ]
}

/** Resolves to undefined if the till takes a trade link from its own page. */
const mustTakeTradeLink = async (target: Target): Promise<string | undefined> => {
  const [call] = changingCalls(target)
  const { statusCode, body } = await target.callAsPage(call ?? { url: '/' })
  return statusCode === 200 ? undefined : `${statusCode} ${body}`
}

/** Resolves to undefined if the page's call was answered with this status. */
const mustBeRefused = async (target: Target, ask: Ask, status: number): Promise<string | undefined> => {
  const { statusCode } = await target.callAsPage(ask)
  return statusCode === status ? undefined : `answered ${statusCode} instead of ${status}`
}

type Headers = Record<string, string | undefined>

const withHeaders = <D extends string>(
  target: Target,
  status: number,
  tries: readonly (readonly [what: string, stoppedBy: D, headers: Headers])[],
): Case<D>[] =>
  changingCalls(target).flatMap((call) =>
    tries.map(([what, stoppedBy, headers]) => ({
      what: `${call.url} with ${what}`,
      stoppedBy,
      attack: () => mustBeRefused(target, { ...call, headers }, status),
    })),
  )

const cookie = (...tokens: string[]): string => tokens.map((token) => `__Host-csrf=${token}`).join('; ')

export const csrfToken = family({
  number: 1,
  name: 'cross-site token missing, wrong or planted',
  kind: 'till',
  defences: {
    'token of the cookie': {
      at: `${CSRF} hasMatchingToken`,
      off: [
        {
          file: CSRF,
          from: 'isOurOrigin(request, isOurs) && (framed !== undefined || hasMatchingToken(request, name))',
          to: 'isOurOrigin(request, isOurs)',
        },
      ],
    },
    'only one cookie with the name': {
      at: `${CSRF} tokenOf`,
      off: [{ file: CSRF, from: 'tokenCookies.length === 1 && ', to: '' }],
    },
  },
  honest: mustTakeTradeLink,
  cases: (target) =>
    withHeaders(target, 403, [
      ['no header', 'token of the cookie', { 'x-csrf-token': undefined }],
      ['an empty header', 'token of the cookie', { 'x-csrf-token': '' }],
      ['no cookie', 'token of the cookie', { cookie: undefined }],
      ['the token of another session', 'token of the cookie', { 'x-csrf-token': OTHER_TOKEN }],
      ['a token that is cut short', 'token of the cookie', { 'x-csrf-token': TOKEN.slice(1) }],
      ['a token that is too long', 'token of the cookie', { 'x-csrf-token': `${TOKEN}A` }],
      ['a token in lower case', 'token of the cookie', { 'x-csrf-token': TOKEN.toLowerCase() }],
      [
        'the cookie name for plain http',
        'token of the cookie',
        { cookie: `csrf=${OTHER_TOKEN}`, 'x-csrf-token': OTHER_TOKEN },
      ],
      [
        'a token with impossible characters',
        'token of the cookie',
        { cookie: cookie('!'), 'x-csrf-token': '!' },
      ],
      [
        'two planted cookies',
        'only one cookie with the name',
        { cookie: cookie(OTHER_TOKEN, OTHER_TOKEN), 'x-csrf-token': OTHER_TOKEN },
      ],
      [
        'a planted cookie before the real one',
        'only one cookie with the name',
        { cookie: cookie(OTHER_TOKEN, TOKEN), 'x-csrf-token': OTHER_TOKEN },
      ],
    ]),
})

export const bodyTypes = family({
  number: 2,
  name: 'bodies that a form can send',
  kind: 'till',
  defences: {
    'JSON only': {
      at: `${CSRF} check, gateway/http/app.ts createApp`,
      off: [
        { file: CSRF, from: "refuse('unsupported_media_type')", to: '{}' },
        {
          file: 'gateway/http/app.ts',
          from: "app.removeContentTypeParser('text/plain')",
          to: `app.removeContentTypeParser('text/plain')
            app.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => done(null, JSON.parse(String(text))))`,
        },
      ],
    },
  },
  honest: mustTakeTradeLink,
  cases: (target) =>
    withHeaders(
      target,
      415,
      [
        'text/plain',
        'text/plain;charset=UTF-8',
        'TEXT/PLAIN',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'text/json',
        'application/jsonx',
        'text/plain; application/json',
        'application/octet-stream',
      ].map((type) => [`the type ${type}`, 'JSON only', { 'content-type': type }]),
    ),
})

export const origins = family({
  number: 3,
  name: 'calls from another origin',
  kind: 'till',
  defences: {
    'Origin is ours': {
      at: `${CSRF} isOurOrigin`,
      off: [
        { file: CSRF, from: 'return origin === undefined || isOurs(request, origin)', to: 'return true' },
      ],
    },
    'Sec-Fetch-Site is same-origin': {
      at: `${CSRF} isOurOrigin`,
      off: [{ file: CSRF, from: "if (site !== undefined && site !== 'same-origin') return false", to: '' }],
    },
    'Origin or Sec-Fetch-Site is present': {
      at: `${CSRF} isOurOrigin`,
      off: [{ file: CSRF, from: 'if (site === undefined && origin === undefined) return false', to: '' }],
    },
  },
  honest: mustTakeTradeLink,
  cases: (target) =>
    withHeaders(target, 403, [
      ...[
        'null',
        '',
        'https://evil.example',
        'http://till.test',
        'https://till.test.evil.example',
        'https://till.test:8443',
        'https://eviltill.test',
        'https://a.till.test',
        'https://till.test/',
        'HTTPS://TILL.TEST',
        'https://till.test@evil.example',
      ].map((origin) => [`the origin '${origin}'`, 'Origin is ours', { origin }] as const),
      ...['cross-site', 'same-site', 'none', '', 'Same-Origin', 'same-origin, cross-site'].map(
        (site) =>
          [
            `Sec-Fetch-Site '${site}'`,
            'Sec-Fetch-Site is same-origin',
            { 'sec-fetch-site': site, origin: undefined },
          ] as const,
      ),
      [
        'neither Origin nor Sec-Fetch-Site',
        'Origin or Sec-Fetch-Site is present',
        { origin: undefined, 'sec-fetch-site': undefined },
      ],
    ]),
})

const OVERRIDES = ['x-http-method-override', 'x-method-override', 'x-http-method']

export const methods = family({
  number: 4,
  name: 'changes by a wrong method, or by a method in a header',
  kind: 'till',
  defences: {
    'one method per route': {
      at: 'gateway/http/app.ts answerUnknownRoutes',
      off: [
        {
          file: 'gateway/http/app.ts',
          // The router refuses other methods, so a call gets through only if its method is changed.
          from: 'rewriteUrl: readablePath,',
          to: `rewriteUrl: (raw) => {
            if (raw.url.startsWith('/api/trade-url')) raw.method = 'POST'
            return readablePath(raw)
          },`,
        },
      ],
    },
  },
  honest: mustTakeTradeLink,
  cases: (target) => {
    const [call] = changingCalls(target)
    const url = call?.url ?? ''
    const query = `hash=${target.shoppers[0]?.hash}&tradeUrl=${encodeURIComponent(LINK)}`
    const plain = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => ({
      what: `${method} ${url}`,
      headers: {},
      method,
    }))
    const overridden = OVERRIDES.flatMap((name) =>
      ['GET', 'HEAD'].map((method) => ({
        what: `${method} with ${name}`,
        headers: { [name]: 'POST' },
        method,
      })),
    )
    return [...plain, ...overridden].map(({ what, headers, method }) => ({
      what,
      stoppedBy: 'one method per route' as const,
      attack: () => mustBeRefused(target, { url: `${url}?${query}`, method, headers }, 405),
    }))
  },
})
