/** Calls for another host, or with a scheme other than https: family 49. */
import { type Family, family } from '../attack.ts'
import { mustReply } from './checks.ts'
import { problemOfPage } from './pages.ts'

const HOSTS = [
  'evil.example',
  'till.test.evil.example',
  'eviltill.test',
  'till.test:8443',
  'till.test@evil.example',
  'evil.example#till.test',
  'evil.example, till.test',
  'till.test.',
  'localhost',
  '127.0.0.1',
  '[::1]',
  '169.254.169.254',
  '',
  'till.test/evil',
]

export const hosts: Family = family({
  number: 49,
  name: 'a foreign Host header, or a scheme other than https',
  kind: 'till',
  defences: {
    'our own host': {
      at: 'gateway/http/host.ts hostCheck',
      off: [{ file: 'gateway/http/host.ts', from: '!isOurs(request.headers.host) || ', to: '' }],
    },
    'https only': {
      at: 'gateway/http/host.ts guardHost',
      off: [{ file: 'gateway/http/host.ts', from: 'if (needsHttps && !isHttps(request))', to: 'if (false)' }],
    },
  },
  honest: problemOfPage,
  cases: (target) => [
    ...HOSTS.flatMap((host) =>
      ['/', '/v1/deposits', `/api/payment?hash=${target.shoppers[0]?.hash}`].map((url) => ({
        what: `${host || 'an empty host'} at ${url.split('?')[0]}`,
        stoppedBy: 'our own host' as const,
        attack: () => mustReply(target.callAsStore({ url, headers: { host } }), 421),
      })),
    ),
    ...['http', 'ftp', 'ws', '', 'https, http'].map((protocol) => ({
      what: `a proxy that reports the scheme '${protocol}'`,
      stoppedBy: 'https only' as const,
      attack: () => mustReply(target.ask({ url: '/', headers: { 'x-forwarded-proto': protocol } }), 400),
    })),
  ],
})
