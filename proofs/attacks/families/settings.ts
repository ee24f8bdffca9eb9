/** Settings that would expose a till, by mistake or on bad advice: family 51. */
import { readConfig } from '../../../gateway/config.ts'
import { type Case, type Family, family } from '../attack.ts'
import { problemIf } from './checks.ts'

const CHECKS = 'gateway/mode-checks.ts'
const PROXIES = 'gateway/kit/trusted-proxies.ts'
const ADDRESS = 'contract/database-address.ts'

const SANDBOX = { TRADETILL_DATA: '/nonexistent/tradetill' }
const LIVE = {
  ...SANDBOX,
  TRADETILL_MODE: 'live',
  TRADETILL_PUBLIC_URL: 'https://pay.example.com',
  DATABASE_URL: 'postgres://till:secret@db.example.com/till?sslmode=verify-full',
  TRADETILL_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
  TRADETILL_TRUSTED_PROXIES: '127.0.0.1',
}

type Settings = Record<string, string | undefined>

/** Returns undefined if the till does not start with these settings. */
const mustNotStart = (settings: Settings): string | undefined =>
  problemIf(readConfig(settings).kind === 'config', 'the till starts')

/** Sets of proxies that contain a large part of the internet. */
const EVERYBODY = [
  '0.0.0.0/0',
  '::/0',
  '0.0.0.0/1',
  '128.0.0.0/1',
  '127.0.0.1,0.0.0.0/0',
  '8.0.0.0/7',
  '2000::/3',
  '2001::/15',
  '::ffff:0:0/96',
  '10.0.0.1, 0.0.0.0/0',
  '0.0.0.0/4',
  '::/1',
  '192.0.0.0/2',
  '64.0.0.0/5',
  '4000::/2',
]
/** Addresses that belong to no machine. */
const NOBODY = ['0.0.0.0', '::', '0.0.0.0/32', '::/128', '0.0.0.0/8']
/** Texts that are not lists of addresses. */
const NONSENSE = [
  '*',
  'all',
  'true',
  '1',
  'any',
  'trust',
  '10.1',
  '010.0.0.1/8x',
  '10.0.0.0/33',
  '::1/129',
  'proxy.example',
  '10.0.0.0/-1',
  '10.0.0.0-10.0.0.9',
  '10.0.0.*',
  ',',
  '127.0.0.1,',
  'loopback,*',
  '1e1.0.0.1',
  '127.0.0.1;::1',
]
/**
 * The beginning of a line in `readTrustedProxies`. To switch the defence off, a line that accepts any text is inserted
 * above it.
 */
const ENTRIES_LINE = 'const entries = text.split('

/** Databases on other machines whose identity is not verified. */
const OPEN_DATABASES = ['db.example.com', '10.0.0.5', '192.168.1.5', '[2001:db8::1]', 'db'].flatMap((host) =>
  [
    '',
    '?sslmode=disable',
    '?sslmode=allow',
    '?sslmode=prefer',
    '?sslmode=require',
    '?sslmode=no-verify',
    '?sslmode=verify-ca',
  ].map((query) => `postgres://till:secret@${host}/till${query}`),
)
/** Addresses that seem to be local or verified, but are not. */
const DECEPTIVE_DATABASES = [
  'postgres://till:secret@localhost/till?host=db.example.com',
  'postgres://till:secret@127.0.0.1/till?host=10.0.0.5',
  'postgres://till:secret@db.localhost/till',
  'postgres://till:secret@db.example.com/till?sslmode=verify-full&sslmode=disable',
  'postgres://till:secret@db.example.com/till?sslmode=VERIFY-FULL',
]
const PLAIN_ADDRESSES = [
  'http://pay.example.com',
  'http://127.0.0.1:4300',
  'http://localhost',
  'http://[::1]:4300',
]
/** Hosts on which other machines may reach the till. A public name, such as the last one, can lead anywhere. */
const REACHABLE_HOSTS = [
  '0.0.0.0',
  '::',
  '192.168.0.7',
  '10.0.0.7',
  'till.example',
  '203.0.113.9',
  '127.0.0.1.nip.io',
]
/** Simulated Steams, which a live till must not use. */
const SIMULATED_STEAMS = [
  'http://127.0.0.1:4301',
  'http://localhost:4301',
  'https://steam.example',
  'http://[::1]:4301',
]
/** Steams on other machines, which a sandbox must not use. */
const FAR_STEAMS = [
  'http://203.0.113.9:4301',
  'http://127.0.0.1.evil.example',
  'https://steamcommunity.com',
  'http://10.0.0.7:4301',
]
/** Texts that do not encode 32 bytes. */
const WRONG_KEYS = [
  'secret',
  'changeme',
  'a'.repeat(31),
  Buffer.alloc(16).toString('base64'),
  'f'.repeat(62),
  '0'.repeat(66),
]

type Defence =
  | 'a proxy in front'
  | 'a limited set of proxies'
  | 'proxies by address'
  | 'a verified database'
  | 'https'
  | 'a sandbox on this machine only'
  | 'the real Steam'
  | 'complete keys'
  | 'safe settings of Node'

const casesOf = (
  stoppedBy: Defence,
  attempts: readonly [what: string, settings: Settings][],
): Case<Defence>[] =>
  attempts.map(([what, settings]) => ({ what, stoppedBy, attack: () => mustNotStart(settings) }))

const liveWith = (name: string, values: readonly string[]): [string, Settings][] =>
  values.map((value) => [`${name}=${value}`, { ...LIVE, [name]: value }])
const sandboxWith = (name: string, values: readonly string[]): [string, Settings][] =>
  values.map((value) => [`${name}=${value} in the sandbox`, { ...SANDBOX, [name]: value }])

export const settings: Family = family<Defence>({
  number: 51,
  name: 'settings that expose a till',
  kind: 'parts',
  defences: {
    'a proxy in front': {
      at: `${CHECKS} problemsOfLiveProxies`,
      off: [{ file: CHECKS, from: '    ...problemsOfLiveProxies(environment),\n', to: '' }],
    },
    'a limited set of proxies': {
      at: `${PROXIES} refusalOf`,
      off: [
        {
          file: PROXIES,
          from: 'const LEAST_BITS = { ipv4: 8, ipv6: 16 }',
          to: 'const LEAST_BITS = { ipv4: 0, ipv6: 0 }',
        },
        { file: PROXIES, from: "return address.range() === 'unspecified' ? ", to: 'return false ? ' },
      ],
    },
    'proxies by address': {
      at: `${PROXIES} readTrustedProxies`,
      off: [
        {
          file: PROXIES,
          from: ENTRIES_LINE,
          to: `if (text !== '') return { kind: 'none' }\n  ${ENTRIES_LINE}`,
        },
      ],
    },
    'a verified database': {
      at: `${ADDRESS} unsafeDatabase`,
      off: [
        {
          file: ADDRESS,
          from: 'if (isVerified) return undefined',
          to: 'return undefined',
        },
      ],
    },
    https: {
      at: `${CHECKS} problemsOfLive`,
      off: [
        {
          file: CHECKS,
          from: "if (publicUrl === undefined || URL.parse(publicUrl)?.protocol !== 'https:') {",
          to: 'if (publicUrl === undefined) {',
        },
      ],
    },
    'a sandbox on this machine only': {
      at: `${CHECKS} problemsOfSandbox`,
      off: [
        {
          file: CHECKS,
          from: 'if (environment.TRADETILL_PUBLIC_SANDBOX) return problems\n',
          to: 'return problems\n',
        },
      ],
    },
    'the real Steam': {
      at: `${CHECKS} problemsOfLive, problemsOfSandbox`,
      off: [
        {
          file: CHECKS,
          from: 'if (environment.TRADETILL_STEAM_SANDBOX_URL !== undefined) {',
          to: 'if (false) {',
        },
        { file: CHECKS, from: 'if (sandboxUrl !== null && !isLoopback(sandboxUrl)) {', to: 'if (false) {' },
      ],
    },
    'complete keys': {
      at: 'gateway/master-key.ts parseKey',
      off: [
        {
          file: 'gateway/master-key.ts',
          from: "if (key.length === KEY_BYTES) return { kind: 'key', key }",
          to: "return { kind: 'key', key }",
        },
      ],
    },
    'safe settings of Node': {
      at: `${CHECKS} problemsOfNode`,
      off: [{ file: CHECKS, from: '    ...problemsOfNode(environment),\n', to: '' }],
    },
  },
  honest: () =>
    problemIf(readConfig(LIVE).kind !== 'config', 'a live till does not start') ??
    problemIf(readConfig(SANDBOX).kind !== 'config', 'a sandbox does not start'),
  cases: () => [
    ...casesOf('a proxy in front', [
      ['no setting for proxies', { ...LIVE, TRADETILL_TRUSTED_PROXIES: undefined }],
      ...REACHABLE_HOSTS.map((host): [string, Settings] => [
        `callers connect directly to ${host}`,
        { ...LIVE, TRADETILL_TRUSTED_PROXIES: 'none', TRADETILL_HOST: host },
      ]),
    ]),
    ...casesOf('a limited set of proxies', liveWith('TRADETILL_TRUSTED_PROXIES', [...EVERYBODY, ...NOBODY])),
    ...casesOf('proxies by address', liveWith('TRADETILL_TRUSTED_PROXIES', NONSENSE)),
    ...casesOf('a verified database', liveWith('DATABASE_URL', [...OPEN_DATABASES, ...DECEPTIVE_DATABASES])),
    ...casesOf('https', liveWith('TRADETILL_PUBLIC_URL', PLAIN_ADDRESSES)),
    ...casesOf('a sandbox on this machine only', [
      ...sandboxWith('TRADETILL_HOST', REACHABLE_HOSTS),
      ...sandboxWith(
        'TRADETILL_PUBLIC_URL',
        REACHABLE_HOSTS.map((host) => `https://${host.includes('::') ? `[${host}]` : host}`),
      ),
    ]),
    ...casesOf('the real Steam', [
      ...liveWith('TRADETILL_STEAM_SANDBOX_URL', SIMULATED_STEAMS),
      ...sandboxWith('TRADETILL_STEAM_SANDBOX_URL', FAR_STEAMS),
    ]),
    ...casesOf('complete keys', [
      ...liveWith('TRADETILL_MASTER_KEY', WRONG_KEYS),
      ...sandboxWith('TRADETILL_MASTER_KEY', WRONG_KEYS),
    ]),
    ...casesOf('safe settings of Node', [
      ...liveWith('NODE_DEBUG', ['http', 'tls', 'net,http', 'request', '*']),
      ...liveWith('NODE_TLS_REJECT_UNAUTHORIZED', ['0']),
    ]),
  ],
})
