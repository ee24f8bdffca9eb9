/** Ways into the console other than a fresh use of the operator's passkey: family 54. */
import { addOperator } from '../../../gateway/operations/operators.ts'
import { type Authenticator, createAuthenticator } from '../../../gateway/testing/authenticator.ts'
import {
  type ConsoleAnswer,
  linkFor,
  ORIGIN,
  OWN,
  post,
  register,
  secretOf,
  sessionOf,
  showPasskey,
  type TestConsole,
} from '../../../gateway/testing/console.ts'
import { type Case, type Family, family } from '../attack.ts'
import { problemIf } from './checks.ts'
import { HOUR_MS, MINUTE_MS, type Staff, staffOf } from './staff.ts'

const PASSKEYS = 'gateway/console/passkeys.ts'
const STORE = 'gateway/operators/store.ts'
const SIGN_IN = 'gateway/console/sign-in.ts'
const ROUTES = 'gateway/console/routes.ts'
const ANOTHER_PORT = 'http://localhost:4302'

type Defence =
  | 'its own origin'
  | 'user verification'
  | 'a challenge counts once'
  | 'links that expire'
  | 'a passkey of the session’s operator'
  | 'a limit on attempts'

const mustRefuse = (answer: ConsoleAnswer): string | undefined =>
  problemIf(answer.status === 200, 'is let in')

let people = 0
const newLink = (till: TestConsole): Promise<string> => linkFor(till, `newcomer ${++people}`)

const challengeOf = ({ data }: ConsoleAnswer): { challenge: string } => {
  const { options } = data
  if (typeof options !== 'object' || options === null || !('challenge' in options)) return { challenge: '' }
  return { challenge: String(options.challenge) }
}

/** Registers a passkey on a device that is bound to another origin, or that does not verify its user. */
function otherDevices({ till }: Staff, device: () => Authenticator, by: Defence): Case<Defence>[] {
  return [
    {
      what: 'a passkey is registered',
      by,
      async attack() {
        till.advanceLimits(HOUR_MS)
        return mustRefuse(await register(till, await newLink(till), device()))
      },
    },
  ]
}

/** Answers to challenges that were used, have expired, or were not made for this answer. */
const misusedAnswers = ({ till, ada, grace }: Staff): Case<Defence>[] => {
  const by = 'a challenge counts once' as const
  const finish = (at: string, assertion: object, headers: Record<string, string> = OWN) =>
    post(till, `${at}/finish`, { headers, body: { assertion } })
  return [
    {
      what: 'a repeated answer',
      by,
      async attack() {
        till.advanceLimits(HOUR_MS)
        const assertion = ada.device.show(challengeOf(await post(till, 'sign-in/begin')))
        await finish('sign-in', assertion)
        return mustRefuse(await finish('sign-in', assertion))
      },
    },
    {
      what: 'a late answer',
      by,
      async attack() {
        till.advanceLimits(HOUR_MS)
        const challenge = challengeOf(await post(till, 'sign-in/begin'))
        till.clock.advance(6 * MINUTE_MS)
        return mustRefuse(await finish('sign-in', ada.device.show(challenge)))
      },
    },
    {
      what: 'an answer to the attacker’s own challenge',
      by,
      async attack() {
        till.advanceLimits(HOUR_MS)
        const challenge = Buffer.alloc(32, 1).toString('base64url')
        return mustRefuse(await finish('sign-in', ada.device.show({ challenge })))
      },
    },
    {
      what: 'an answer for a sign-in, used for a step-up',
      by,
      async attack() {
        const headers = sessionOf(await showPasskey(till, { device: grace.device }))
        till.advanceLimits(HOUR_MS)
        const challenge = challengeOf(await post(till, 'sign-in/begin'))
        return mustRefuse(await finish('step-up', grace.device.show(challenge), headers))
      },
    },
    {
      what: 'an answer for a step-up of another session',
      by,
      async attack() {
        till.advanceLimits(HOUR_MS)
        const [one, other] = [
          sessionOf(await showPasskey(till, { device: grace.device })),
          sessionOf(await showPasskey(till, { device: grace.device })),
        ]
        const challenge = challengeOf(await post(till, 'step-up/begin', { headers: one }))
        return mustRefuse(await finish('step-up', grace.device.show(challenge), other))
      },
    },
  ]
}

const links = ({ till }: Staff): Case<Defence>[] =>
  [11 * MINUTE_MS, HOUR_MS, 24 * HOUR_MS].map((ms) => ({
    what: `a link after ${ms / MINUTE_MS} minutes`,
    by: 'links that expire' as const,
    async attack() {
      till.advanceLimits(HOUR_MS)
      const added = await addOperator(till.by('host'), { name: `late ${++people}`, role: 'operator' })
      if (added.kind === 'refused') return added.message
      till.clock.advance(ms)
      return mustRefuse(await post(till, 'link/begin', { body: { link: secretOf(added.data) } }))
    },
  }))

const ofAnother = ({ till, ada, mallory, newSession }: Staff): Case<Defence>[] =>
  [mallory, ada].map((thief, index) => ({
    what: `a step-up of session ${index + 1} with another operator’s passkey`,
    by: 'a passkey of the session’s operator' as const,
    async attack() {
      const headers = await newSession(index === 0 ? ada : mallory)
      return mustRefuse(await showPasskey(till, { device: thief.device, headers, at: 'step-up' }))
    },
  }))

const TRIES = 30

const tries = ({ till }: Staff): Case<Defence>[] =>
  ['sign-in/begin', 'sign-in/finish', 'link/begin', 'link/finish', 'sandbox'].map((path) => ({
    what: `${TRIES} calls of ${path} in a row`,
    by: 'a limit on attempts' as const,
    async attack() {
      till.advanceLimits(HOUR_MS)
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
    'a challenge counts once': {
      at: `${STORE} takeChallenge`,
      off: [{ file: STORE, from: 'return taken !== undefined', to: 'return true' }],
    },
    'links that expire': {
      at: `${STORE} operatorOfLink`,
      off: [
        {
          file: STORE,
          from: ".where('secret_sha256', '=', secretSha256)\n    .where('expires_at', '>', now)\n    .where('removed_at'",
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
    till.advanceLimits(HOUR_MS)
    const registered = await register(till, await newLink(till))
    till.advanceLimits(HOUR_MS)
    const signIn = await showPasskey(till, ada)
    return problemIf(registered.status !== 200 || signIn.status !== 200, 'a valid passkey is refused')
  },
  async cases(target) {
    const staff = await staffOf(target)
    return [
      ...otherDevices(staff, () => createAuthenticator(ANOTHER_PORT), 'its own origin'),
      ...otherDevices(staff, () => createAuthenticator(ORIGIN, { verifies: false }), 'user verification'),
      ...misusedAnswers(staff),
      ...links(staff),
      ...ofAnother(staff),
      ...tries(staff),
    ]
  },
})
