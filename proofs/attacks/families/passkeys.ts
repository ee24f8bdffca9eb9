/** Ways into the console other than a fresh use of the operator's passkey: family 54. */
import { addOperator } from '../../../gateway/operations/operators.ts'
import { type Authenticator, createAuthenticator } from '../../../gateway/testing/authenticator.ts'
import {
  type ConsoleAnswer,
  linkFor,
  ORIGIN,
  OWN_PAGE_HEADERS,
  post,
  register,
  secretOf,
  sessionOf,
  showPasskey,
  type TestConsole,
} from '../../../gateway/testing/console.ts'
import { type Case, type Family, family } from '../attack.ts'
import { problemIf } from './checks.ts'
import { HOUR_MS, MINUTE_MS, refillLimits, type Staff, staffOf } from './staff.ts'

const PASSKEYS = 'gateway/console/passkeys.ts'
const STORE = 'gateway/operators/store.ts'
const SIGN_IN = 'gateway/console/sign-in.ts'
const ROUTES = 'gateway/console/routes.ts'
const ANOTHER_PORT = 'http://localhost:4302'

type Defence =
  | 'its own origin'
  | 'user verification'
  | 'challenges that are the caller’s own, fresh and unused'
  | 'links that expire'
  | 'a passkey of the session’s operator'
  | 'a limit on attempts'

const mustBeRefused = (answer: ConsoleAnswer): string | undefined =>
  problemIf(answer.status === 200, 'is let in')

let newcomers = 0
const newLink = (till: TestConsole): Promise<string> => linkFor(till, `newcomer ${++newcomers}`)

const challengeOf = ({ data }: ConsoleAnswer): { challenge: string } => {
  const { options } = data
  if (typeof options !== 'object' || options === null || !('challenge' in options)) return { challenge: '' }
  return { challenge: String(options.challenge) }
}

type Device = { what: string; stoppedBy: Defence; create: () => Authenticator }

const DEVICES: readonly Device[] = [
  {
    what: 'a passkey from a page on another port',
    stoppedBy: 'its own origin',
    create: () => createAuthenticator(ANOTHER_PORT),
  },
  {
    what: 'a passkey of a device that does not verify its user',
    stoppedBy: 'user verification',
    create: () => createAuthenticator(ORIGIN, { verifies: false }),
  },
]

const registrations = ({ till }: Staff): Case<Defence>[] =>
  DEVICES.map(({ what, stoppedBy, create }) => ({
    what: `${what} is registered`,
    stoppedBy,
    async attack() {
      refillLimits(till)
      return mustBeRefused(await register(till, await newLink(till), create()))
    },
  }))

/** Answers to challenges that were used, have expired, or belong to the attacker, another call or another session. */
const misusedAnswers = ({ till, ada, grace }: Staff): Case<Defence>[] => {
  const stoppedBy = 'challenges that are the caller’s own, fresh and unused' as const
  const finish = (at: string, assertion: object, headers: Record<string, string> = OWN_PAGE_HEADERS) =>
    post(till, `${at}/finish`, { headers, body: { assertion } })
  return [
    {
      what: 'a repeated answer',
      stoppedBy,
      async attack() {
        refillLimits(till)
        const assertion = ada.device.authenticate(challengeOf(await post(till, 'sign-in/begin')))
        await finish('sign-in', assertion)
        return mustBeRefused(await finish('sign-in', assertion))
      },
    },
    {
      what: 'a late answer',
      stoppedBy,
      async attack() {
        refillLimits(till)
        const challenge = challengeOf(await post(till, 'sign-in/begin'))
        till.clock.advance(6 * MINUTE_MS)
        return mustBeRefused(await finish('sign-in', ada.device.authenticate(challenge)))
      },
    },
    {
      what: 'an answer to the attacker’s own challenge',
      stoppedBy,
      async attack() {
        refillLimits(till)
        const challenge = Buffer.alloc(32, 1).toString('base64url')
        return mustBeRefused(await finish('sign-in', ada.device.authenticate({ challenge })))
      },
    },
    {
      what: 'an answer for a sign-in, used for a step-up',
      stoppedBy,
      async attack() {
        const headers = sessionOf(await showPasskey(till, { device: grace.device }))
        refillLimits(till)
        const challenge = challengeOf(await post(till, 'sign-in/begin'))
        return mustBeRefused(await finish('step-up', grace.device.authenticate(challenge), headers))
      },
    },
    {
      what: 'an answer for a step-up of another session',
      stoppedBy,
      async attack() {
        refillLimits(till)
        const [firstSession, secondSession] = [
          sessionOf(await showPasskey(till, { device: grace.device })),
          sessionOf(await showPasskey(till, { device: grace.device })),
        ]
        const challenge = challengeOf(await post(till, 'step-up/begin', { headers: firstSession }))
        return mustBeRefused(await finish('step-up', grace.device.authenticate(challenge), secondSession))
      },
    },
  ]
}

const lateLinks = ({ till }: Staff): Case<Defence>[] =>
  [11 * MINUTE_MS, HOUR_MS, 24 * HOUR_MS].map((ms) => ({
    what: `a link after ${ms / MINUTE_MS} minutes`,
    stoppedBy: 'links that expire' as const,
    async attack() {
      refillLimits(till)
      const added = await addOperator(till.by('host'), { name: `late ${++newcomers}`, role: 'operator' })
      if (added.kind === 'refused') return added.message
      till.clock.advance(ms)
      return mustBeRefused(await post(till, 'link/begin', { body: { link: secretOf(added.data) } }))
    },
  }))

const otherPasskeys = ({ till, ada, mallory, newSession }: Staff): Case<Defence>[] =>
  [
    { what: 'a step-up of Ada’s session with Mallory’s passkey', signedIn: ada, other: mallory },
    { what: 'a step-up of Mallory’s session with Ada’s passkey', signedIn: mallory, other: ada },
  ].map(({ what, signedIn, other }) => ({
    what,
    stoppedBy: 'a passkey of the session’s operator' as const,
    async attack() {
      const headers = await newSession(signedIn)
      return mustBeRefused(await showPasskey(till, { device: other.device, headers, at: 'step-up' }))
    },
  }))

/** More than the limit of any call in `manyCalls`. */
const TRIES = 30

const manyCalls = ({ till }: Staff): Case<Defence>[] =>
  ['sign-in/begin', 'sign-in/finish', 'link/begin', 'link/finish', 'sandbox'].map((path) => ({
    what: `${TRIES} calls of ${path} in a row`,
    stoppedBy: 'a limit on attempts' as const,
    async attack() {
      refillLimits(till)
      let last: ConsoleAnswer | undefined
      for (let index = 0; index < TRIES; index += 1) last = await post(till, path)
      return problemIf(last?.status !== 429, `the last one gets ${last?.status}`)
    },
  }))

export const passkeys: Family = family<Defence>({
  number: 54,
  name: 'ways into the console',
  kind: 'till',
  defences: {
    'its own origin': {
      at: `${PASSKEYS} expectationsOf`,
      off: [
        {
          file: PASSKEYS,
          from: 'expectedOrigin: url.origin,',
          to: `expectedOrigin: [url.origin, '${ANOTHER_PORT}'],`,
        },
      ],
    },
    'user verification': {
      at: `${PASSKEYS} expectationsOf`,
      off: [{ file: PASSKEYS, from: 'requireUserVerification: true', to: 'requireUserVerification: false' }],
    },
    'challenges that are the caller’s own, fresh and unused': {
      at: `${STORE} takeChallenge`,
      off: [{ file: STORE, from: 'return taken !== undefined', to: 'return true' }],
    },
    'links that expire': {
      at: `${STORE} operatorOfLink`,
      off: [
        {
          file: STORE,
          from: ".where('secret_sha256', '=', secretSha256)\n    .where('expires_at', '>', now)\n    .where('expires_at', '<=', latestEndOf(now))\n    .where('removed_at'",
          to: ".where('secret_sha256', '=', secretSha256)\n    .where('removed_at'",
        },
      ],
    },
    'a passkey of the session’s operator': {
      at: `${SIGN_IN} finishStepUp`,
      off: [
        {
          file: SIGN_IN,
          from: "if (operator.operatorId !== operatorId) refuseCall('passkey_refused')",
          to: '',
        },
      ],
    },
    'a limit on attempts': {
      at: `${ROUTES} addConsoleCalls`,
      off: [{ file: ROUTES, from: 'spend(limits.tries, ip)', to: '' }],
    },
  },
  async honest(target) {
    const { till, ada } = await staffOf(target)
    refillLimits(till)
    const registered = await register(till, await newLink(till))
    refillLimits(till)
    const signIn = await showPasskey(till, ada)
    return problemIf(registered.status !== 200 || signIn.status !== 200, 'a valid passkey is refused')
  },
  async cases(target) {
    const staff = await staffOf(target)
    return [
      ...registrations(staff),
      ...misusedAnswers(staff),
      ...lateLinks(staff),
      ...otherPasskeys(staff),
      ...manyCalls(staff),
    ]
  },
})
