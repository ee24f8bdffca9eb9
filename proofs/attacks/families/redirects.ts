/** Addresses to which a store, or somebody with its key, could try to send shoppers: family 10. */
import { isAllowedUrl, parseOrigin } from '../../../gateway/deposits/origins.ts'
import { type Case, family } from '../attack.ts'
import { aBody, type Target } from '../target.ts'

const ORIGINS = 'gateway/deposits/origins.ts'
const REGISTERED = 'https://store.test'

/** Texts that the till must not accept as a URL of the store: other origins, and forms other than its plain URL. */
const FOREIGN = [
  '//store.test/',
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '///evil.example',
  'https:evil.example',
  'https:/evil.example',
  'https:///evil.example',
  'https:\\\\evil.example',
  'https:\\store.test',
  'http:///store.test',
  'https://store.test@evil.example',
  'https://store.test:443@evil.example/',
  'https://user@store.test/',
  'https://user:word@store.test/',
  'https://@store.test/',
  'https://store.test\\@evil.example',
  'https://evil.example\\@store.test',
  'https://evil.example\\.store.test',
  'https://store.test.evil.example/',
  'https://store.test.',
  'https://store.test:8443/',
  'https://storextest/',
  'https://evilstore.test/',
  'https://www.store.test/',
  'http://store.test/',
  'ftp://store.test/',
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'javascript://store.test/%0aalert(1)',
  'java\tscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  'file:///etc/passwd',
  'blob:https://store.test/1',
  'view-source:https://store.test/',
  'intent://store.test#Intent;end',
  'https://store.test/\r\nset-cookie: a=b',
  'https://store.test/%0d\n',
  'https://store.test/\u0000',
  'https://sto\tre.test/',
  ' https://store.test/',
  'https://store.test/ ',
  'https://store.test/a b',
  'https://store\u3002test/',
  'https://store\uff0etest/',
  'https://\uff53tore.test/',
  'https://st\u043ere.test/',
  'https://store.test\u2044evil.example/',
  'https://store.test\uff0fevil.example/',
  'https://store.test\u200b/',
  'https://\u202estore.test/',
  'https://store%2etest/',
  'https://store.test%2f.evil.example/',
  'https://store.test%00.evil.example/',
  'https://[store.test]/',
  'https://0x7f000001/',
  'https://127.0.0.1/',
  'https://',
  'https://#@store.test/',
  'https://?store.test',
  'store.test',
  'null',
  '',
]

const ALLOWED = [
  'https://store.test/',
  'https://store.test/a?b=c#d',
  'https://store.test',
  'https://store.test:443/',
]

const INVALID_ORIGINS = [
  'http://store.test',
  'https://store.test/path',
  'https://user@store.test',
  'https://store.test?x',
  'https://store.test#x',
  'https://STORE.test',
  'https://store.test:443',
  'ftp://store.test',
  'null',
  '*',
  'javascript:alert(1)',
  ' https://store.test',
  'https://store\u3002test',
]

type Defence = 'origin of the store' | 'form of an origin' | 'checked by the route'

const caseOfRoute = (
  target: Target,
  field: 'backToStoreUrl' | 'redirectUrl',
  url: string,
): Case<Defence> => ({
  what: `${field} ${JSON.stringify(url)}`,
  stoppedBy: 'checked by the route',
  async attack() {
    const body = { ...aBody(), [field]: url }
    const { statusCode } = await target.callAsStore({ method: 'POST', url: '/v1/deposits', body })
    return statusCode === 400 ? undefined : `answered ${statusCode}`
  },
})

export const redirects = family<Defence>({
  number: 10,
  name: 'open redirects',
  kind: 'till',
  defences: {
    'origin of the store': {
      at: `${ORIGINS} isAllowedUrl`,
      off: [
        {
          file: ORIGINS,
          from: 'if (!/^https?:\\/\\/[^/]/i.test(text)',
          to: 'if (text !== undefined) return true\n  if (!/^https?:\\/\\/[^/]/i.test(text)',
        },
      ],
    },
    'form of an origin': {
      at: `${ORIGINS} parseOrigin`,
      off: [
        {
          file: ORIGINS,
          from: 'const url = URL.parse(text)\n  if (url === null || !isHttp(url) || url.origin',
          to: 'if (text !== undefined) return text\n  const url = URL.parse(text)\n  if (url === null || !isHttp(url) || url.origin',
        },
      ],
    },
    'checked by the route': {
      at: 'gateway/store-api/deposit-operations.ts foreignUrls',
      off: [
        {
          file: 'gateway/store-api/deposit-operations.ts',
          from: 'foreignUrls(request, store.origins)',
          to: '[]',
        },
      ],
    },
  },
  async honest(target) {
    for (const url of ALLOWED) if (!isAllowedUrl(url, [REGISTERED])) return `${url} is refused`
    const body = { ...aBody(), redirectUrl: `${REGISTERED}/done` }
    const { statusCode } = await target.callAsStore({ method: 'POST', url: '/v1/deposits', body })
    return statusCode === 201 ? undefined : `answered ${statusCode}`
  },
  cases: (target) => [
    ...FOREIGN.map((url) => ({
      what: JSON.stringify(url),
      stoppedBy: 'origin of the store' as const,
      attack: () => (isAllowedUrl(url, [REGISTERED]) ? 'is allowed' : undefined),
    })),
    ...INVALID_ORIGINS.map((text) => ({
      what: `registering ${JSON.stringify(text)}`,
      stoppedBy: 'form of an origin' as const,
      attack: () => (parseOrigin(text, 'live') === undefined ? undefined : 'is accepted'),
    })),
    // Only every fourth, because the route passes every URL to `isAllowedUrl`.
    ...FOREIGN.filter((_url, index) => index % 4 === 1).flatMap((url) => [
      caseOfRoute(target, 'backToStoreUrl', url),
      caseOfRoute(target, 'redirectUrl', url),
    ]),
  ],
})
