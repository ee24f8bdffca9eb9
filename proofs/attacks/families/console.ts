/** Calls to the operators' console from pages and people who may not make them: family 53. */
import { ACTS } from '../../../gateway/console/acts.ts'
import { FINDS } from '../../../gateway/console/finds.ts'
import { type ConsoleAnswer, OWN_PAGE_HEADERS, post, showPasskey } from '../../../gateway/testing/console.ts'
import { type Case, type Family, family } from '../attack.ts'
import type { Target } from '../target.ts'
import { problemIf } from './checks.ts'
import { HOUR_MS, MINUTE_MS, refillLimits, type Staff, staffOf } from './staff.ts'

const GUARD = 'gateway/console/guard.ts'
const VISITOR = 'gateway/console/visitor.ts'
const COOKIE = 'gateway/console/cookie.ts'
const SESSION = 'gateway/operators/session.ts'
const ROUTES = 'gateway/console/routes.ts'

type Headers = Record<string, string>

const pathOf = (act: string): string => `act/${act.replaceAll(' ', '-')}`
const CALLS = [
  ...Object.entries(FINDS).map(([name, call]) => ({ path: `find/${name}`, ...call })),
  ...Object.entries(ACTS).map(([name, call]) => ({ path: pathOf(name), ...call })),
]

/** An act with empty input, which most acts refuse. */
const EMPTY = { reason: 'an attack', input: {} }

async function call(staff: Staff, path: string, headers: Headers): Promise<ConsoleAnswer> {
  refillLimits(staff.till)
  return post(staff.till, path, { headers, body: path.startsWith('act/') ? EMPTY : {} })
}

/** Resolves to undefined if the call was refused for this reason. */
async function mustBeRefused(kind: string, answer: Promise<ConsoleAnswer>): Promise<string | undefined> {
  const { status, error } = await answer
  return problemIf(error?.kind !== kind, `answered ${status} ${error?.kind ?? ''} instead of ${kind}`)
}

const FOREIGN_CALLERS: [what: string, headers: Headers][] = [
  ['another port', { origin: 'http://localhost:4302', 'sec-fetch-site': 'same-site' }],
  ['our origin as a same-site call', { 'sec-fetch-site': 'same-site' }],
  ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['a page without an origin', { origin: 'null' }],
  ['an origin that begins like ours', { origin: 'http://localhost:43040' }],
  ['a typed address', { 'sec-fetch-site': 'none' }],
]

const HOSTS = [
  '127.0.0.1:4304',
  'evil.example',
  'localhost:4302',
  'localhost',
  '[::1]:4304',
  'localhost:4304.evil.example',
]

type Defence =
  | 'only its own page'
  | 'only its own host'
  | 'both halves'
  | 'one cookie'
  | 'the role'
  | 'a fresh check'
  | 'sessions that expire'
  | 'signing out'
  | 'signing out everywhere'

const callsOfOthers = (staff: Staff): Case<Defence>[] => [
  ...CALLS.flatMap(({ path }) =>
    FOREIGN_CALLERS.map(([what, headers]) => ({
      what: `${path} from ${what}`,
      stoppedBy: 'only its own page' as const,
      attack: () => mustBeRefused('cross_site', call(staff, path, { ...staff.ada.headers, ...headers })),
    })),
  ),
  ...HOSTS.flatMap((host) =>
    // The check ignores the path, so a few calls suffice.
    CALLS.slice(0, 5).map(({ path }) => ({
      what: `${path} as ${host}`,
      stoppedBy: 'only its own host' as const,
      attack: () => mustBeRefused('wrong_host', call(staff, path, { ...staff.ada.headers, host })),
    })),
  ),
]

/**
 * Incomplete sessions, and a second cookie planted before the real one, as another port of the host could do. A session
 * has two halves: a cookie, and a header that only the console's page knows.
 */
function incompleteSessions(staff: Staff): Case<Defence>[] {
  const { ada, mallory } = staff
  const [hers, his] = [ada.headers.cookie ?? '', mallory.headers.cookie ?? '']
  const halfHeader = 'x-console-session'
  return [
    ...CALLS.flatMap(({ path }) =>
      ['A'.repeat(43), mallory.headers[halfHeader] ?? ''].map((other, index) => ({
        what: `${path} with Ada’s cookie and ${index === 0 ? 'a guessed half' : 'another operator’s half'}`,
        stoppedBy: 'both halves' as const,
        attack: () => mustBeRefused('signed_out', call(staff, path, { ...ada.headers, [halfHeader]: other })),
      })),
    ),
    ...[`${his}; ${hers}`, `${his};${hers}`, `${his}; a=b; ${hers}`].map((cookie, index) => ({
      what: `a cookie of Mallory’s session before Ada’s, ${index + 1}`,
      stoppedBy: 'one cookie' as const,
      attack: () => mustBeRefused('signed_out', call(staff, 'session', { ...mallory.headers, cookie })),
    })),
  ]
}

/** The roles, from the fewest rights to the most. */
const RANKS = ['viewer', 'support', 'operator']

const callsAboveRole = (staff: Staff): Case<Defence>[] =>
  (['viewer', 'support'] as const).flatMap((role) =>
    CALLS.filter((needs) => RANKS.indexOf(needs.role) > RANKS.indexOf(role)).map(({ path }) => ({
      what: `${path} by the ${role}`,
      stoppedBy: 'the role' as const,
      attack: async () => mustBeRefused('forbidden', call(staff, path, await staff.newSession(staff[role]))),
    })),
  )

/** Each case opens a new session, because it advances the till's clock. */
const staleSessions = (staff: Staff): Case<Defence>[] => [
  ...CALLS.filter(({ needsFreshCheck }) => needsFreshCheck).map(({ path }) => ({
    what: `${path} long after the passkey was used`,
    stoppedBy: 'a fresh check' as const,
    async attack() {
      const headers = await staff.newSession(staff.ada)
      staff.till.clock.advance(6 * MINUTE_MS)
      return mustBeRefused('step_up', call(staff, path, headers))
    },
  })),
  ...[31 * MINUTE_MS, 3 * HOUR_MS, 13 * HOUR_MS].map((ms) => ({
    what: `a session that was idle for ${ms / MINUTE_MS} minutes`,
    stoppedBy: 'sessions that expire' as const,
    async attack() {
      const headers = await staff.newSession(staff.ada)
      staff.till.clock.advance(ms)
      return mustBeRefused('signed_out', call(staff, 'find/acts', headers))
    },
  })),
]

const signedOutSessions = (staff: Staff): Case<Defence>[] => [
  ...['find/acts', 'session', 'act/payout-record', 'step-up/begin'].map((path) => ({
    what: `${path} after signing out`,
    stoppedBy: 'signing out' as const,
    async attack() {
      const headers = await staff.newSession(staff.ada)
      await call(staff, 'sign-out', headers)
      return mustBeRefused('signed_out', call(staff, path, headers))
    },
  })),
  ...['find/acts', 'session', 'act/payout-record', 'step-up/begin'].map((path) => ({
    what: `${path} of another browser after signing out everywhere`,
    stoppedBy: 'signing out everywhere' as const,
    async attack() {
      const [headers, stolen] = [await staff.newSession(staff.ada), await staff.newSession(staff.ada)]
      await call(staff, 'sign-out-everywhere', headers)
      return mustBeRefused('signed_out', call(staff, path, stolen))
    },
  })),
]

export const consoleCalls: Family = family<Defence>({
  number: 53,
  name: 'calls to the console',
  kind: 'till',
  defences: {
    'only its own page': {
      at: `${GUARD} isOwnPage`,
      off: [
        { file: GUARD, from: "if (!isOwnPage(request, site.url.origin)) refuseCall('cross_site')", to: '' },
      ],
    },
    'only its own host': {
      at: `${GUARD} isOurHost`,
      off: [{ file: GUARD, from: "if (!isOurHost(request, site)) refuseCall('wrong_host')", to: '' }],
    },
    'both halves': {
      at: `${VISITOR} visitorOf`,
      off: [
        { file: VISITOR, from: "!isSameBytes(session.pageSha256, sha256(halves?.page ?? ''))", to: 'false' },
      ],
    },
    'one cookie': {
      at: `${COOKIE} readHalves`,
      off: [{ file: COOKIE, from: 'sessionCookies.length === 1 && ', to: '' }],
    },
    'the role': {
      at: `${VISITOR} admit`,
      off: [{ file: VISITOR, from: '!mayAs(visitor.role, required.role)', to: 'false' }],
    },
    'a fresh check': {
      at: `${VISITOR} admit`,
      off: [{ file: VISITOR, from: 'if (required.needsFreshCheck && ', to: 'if (false && ' }],
    },
    'sessions that expire': {
      at: `${SESSION} isAlive`,
      off: [
        {
          file: SESSION,
          from: 'return usedAt > idleSince',
          to: 'return true || true',
        },
      ],
    },
    'signing out': {
      at: `${ROUTES} addSession`,
      off: [{ file: ROUTES, from: 'await endSession(deps.db, session.cookieSha256)', to: '' }],
    },
    'signing out everywhere': {
      at: `${ROUTES} addSession`,
      off: [{ file: ROUTES, from: 'await endSessionsLike(deps.db, session)', to: '0' }],
    },
  },
  async honest(target: Target) {
    const staff = await staffOf(target)
    const shown = await showPasskey(staff.till, { device: staff.ada.device, headers: OWN_PAGE_HEADERS })
    const headers = await staff.newSession(staff.ada)
    const answer = await call(staff, 'find/acts', headers)
    return problemIf(
      shown.status !== 200 || answer.status !== 200,
      `an operator gets ${shown.status}, then ${answer.status}`,
    )
  },
  async cases(target: Target) {
    const staff = await staffOf(target)
    return [
      ...callsOfOthers(staff),
      ...incompleteSessions(staff),
      ...callsAboveRole(staff),
      ...staleSessions(staff),
      ...signedOutSessions(staff),
    ]
  },
})
