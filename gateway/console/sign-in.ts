/** Signing in: by a link that registers a passkey, by a passkey, or by the key of a sandbox. */
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import { isSameBytes } from '../kit/same-bytes.ts'
import { sha256 } from '../kit/sha256.ts'
import { act } from '../operations/act.ts'
import { type ActDeps, done, type FindDeps, refused } from '../operations/operation.ts'
import { insertSession, noteCheck } from '../operators/session-store.ts'
import {
  type Challenge,
  findPasskey,
  insertChallenge,
  insertPasskey,
  type Operator,
  operatorOfLink,
  passkeysOf,
  saveCounter,
  spendLink,
  takeChallenge,
} from '../operators/store.ts'
import { refuseCall } from './answer.ts'
import { type Halves, newHalves } from './cookie.ts'
import {
  type Assertion,
  assertionOptions,
  type Registration,
  readAssertion,
  readRegistration,
  registrationOptions,
} from './passkeys.ts'
import type { Visitor } from './visitor.ts'

const CHALLENGE_MS = 5 * 60_000

export type SignInDeps = FindDeps & { party: { url: URL }; sandboxKey: string | undefined }

/** Begins the registration of a passkey. Opening a link does not use it up. */
export async function beginRegistration(deps: SignInDeps, link: string) {
  const { db, clock, party } = deps
  const operator = await operatorOfLink(db, sha256(link), clock.machineNow())
  if (operator === undefined) refuseCall('link_over')
  const options = await registrationOptions(party, operator, await passkeysOf(db, operator.operatorId))
  await keepChallenge(deps, { options, purpose: 'register', askedBy: sha256(link) })
  return { name: operator.name, role: operator.role, options }
}

/** Uses up the link, stores the passkey and begins a session in one transaction. */
export async function finishRegistration(
  deps: SignInDeps,
  { link, registration }: { link: string; registration: Registration },
): Promise<Halves> {
  const { db, clock, party } = deps
  const now = clock.machineNow()
  const secret = sha256(link)
  const operator = await operatorOfLink(db, secret, now)
  if (operator === undefined) refuseCall('link_over')
  const { operatorId, name } = operator
  const actDeps: ActDeps = { ...deps, operator: name, reason: null, operatorId }
  const argumentsOf = () => ({ operatorId, name })
  // The messages of these refusals are not shown.
  const answer = await act(actDeps, { name: 'operator passkey', argumentsOf }, async (tx) => {
    const passkey = await readRegistration(party, registration, (challenge) =>
      takeChallenge(tx, { challenge, purpose: 'register', askedBy: secret }, now),
    )
    if (passkey === undefined) return refused('usage', 'passkey')
    if (!(await spendLink(tx, secret, now))) return refused('conflict', 'link')
    if (!(await insertPasskey(tx, operatorId, passkey))) return refused('usage', 'passkey')
    return done(await beginSession(tx, { operatorId, sandboxSha256: null }, now))
  })
  if (answer.kind !== 'refused') return answer.data
  return refuseCall(answer.refusal === 'conflict' ? 'link_over' : 'passkey_refused')
}

type Owner = { operatorId: bigint; sandboxSha256: null } | { operatorId: null; sandboxSha256: Buffer }

async function beginSession(db: Db | Tx, owner: Owner, at: Date): Promise<Halves> {
  const halves = newHalves()
  const hashes = { cookieSha256: sha256(halves.cookie), pageSha256: sha256(halves.page) }
  await insertSession(db, { ...owner, ...hashes, at })
  return halves
}

/** Begins a sign-in without naming any operator: the browser offers its passkeys. */
export async function beginSignIn(deps: SignInDeps) {
  const options = await assertionOptions(deps.party)
  await keepChallenge(deps, { options, purpose: 'sign_in', askedBy: null })
  return { options }
}

export function finishSignIn(deps: SignInDeps, assertion: Assertion): Promise<Halves> {
  const now = deps.clock.machineNow()
  return inTransaction(deps.db, async (tx) => {
    const { operatorId } = await verifyPasskey(deps, tx, { assertion, purpose: 'sign_in', askedBy: null })
    return beginSession(tx, { operatorId, sandboxSha256: null }, now)
  })
}

/** Asks the session's operator to show a passkey again. */
export async function beginStepUp(deps: SignInDeps, { operatorId, session }: Visitor) {
  if (operatorId === null) refuseCall('passkey_refused')
  const options = await assertionOptions(deps.party, await passkeysOf(deps.db, operatorId))
  await keepChallenge(deps, { options, purpose: 'step_up', askedBy: session.cookieSha256 })
  return { options }
}

export function finishStepUp(deps: SignInDeps, { operatorId, session }: Visitor, assertion: Assertion) {
  const now = deps.clock.machineNow()
  return inTransaction(deps.db, async (tx) => {
    const { cookieSha256: askedBy } = session
    const operator = await verifyPasskey(deps, tx, { assertion, purpose: 'step_up', askedBy })
    if (operator.operatorId !== operatorId) refuseCall('passkey_refused')
    await noteCheck(tx, askedBy, now)
  })
}

const OLD_SANDBOX_LINK =
  'This link does not have the sandbox’s present key. Open the one that npm start printed last.'

/** Signs in to a sandbox without a passkey, with the key in `TRADETILL_CONSOLE_SANDBOX_KEY`. */
export async function enterSandbox(deps: SignInDeps, key: string): Promise<Halves> {
  const { db, clock, sandboxKey } = deps
  if (sandboxKey === undefined || !isSameBytes(sha256(key), sha256(sandboxKey)))
    refuseCall('link_over', OLD_SANDBOX_LINK)
  return beginSession(db, { operatorId: null, sandboxSha256: sha256(sandboxKey) }, clock.machineNow())
}

type ChallengeBinding = Pick<Challenge, 'purpose' | 'askedBy'>

async function keepChallenge(
  { db, clock }: SignInDeps,
  { options, ...binding }: ChallengeBinding & { options: { challenge: string } },
): Promise<void> {
  const now = clock.machineNow()
  const challenge = Buffer.from(options.challenge, 'base64url')
  const expiresAt = new Date(now.getTime() + CHALLENGE_MS)
  await insertChallenge(db, { ...binding, challenge }, { now, expiresAt })
}

/** Returns the operator whose passkey answered the challenge. */
async function verifyPasskey(
  { party, clock }: SignInDeps,
  tx: Tx,
  { assertion, ...binding }: ChallengeBinding & { assertion: Assertion },
): Promise<Operator> {
  const passkey = await findPasskey(tx, assertion.id)
  if (passkey === undefined) refuseCall('passkey_refused')
  const counter = await readAssertion(party, { assertion, passkey }, (challenge) =>
    takeChallenge(tx, { ...binding, challenge }, clock.machineNow()),
  )
  if (counter === undefined) refuseCall('passkey_refused')
  await saveCounter(tx, passkey.credentialId, counter)
  return passkey
}
