/** Makes a browser's options for creating or using a passkey, and verifies its answers. */
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { z } from 'zod'
import type { LinkedOperator, Passkey } from '../operators/store.ts'

const TIMEOUT_MS = 5 * 60_000
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const

const base64url = z.string().regex(/^[\w-]{1,20000}$/)
const credential = { id: base64url, rawId: base64url, type: z.literal('public-key') }

export const registrationSchema = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(z.string().max(20)).max(10).default([]),
  }),
})

export const assertionSchema = z.object({
  ...credential,
  response: z.object({ clientDataJSON: base64url, authenticatorData: base64url, signature: base64url }),
})

export type Registration = z.infer<typeof registrationSchema>
export type Assertion = z.infer<typeof assertionSchema>

/** The relying party of a passkey: the host of this URL, at its origin only. */
export type Party = { url: URL }

type KnownPasskey = Pick<Passkey, 'credentialId' | 'transports'>

const isTransport = (name: string): name is (typeof TRANSPORTS)[number] =>
  TRANSPORTS.some((transport) => transport === name)

const descriptorOf = ({ credentialId: id, transports }: KnownPasskey) => ({
  id,
  transports: transports.filter(isTransport),
})

/** Makes the options for creating a passkey, on a device that does not have one yet. */
export function registrationOptions(
  { url }: Party,
  operator: LinkedOperator,
  knownPasskeys: readonly KnownPasskey[],
) {
  return generateRegistrationOptions({
    rpName: 'Tradetill',
    rpID: url.hostname,
    userName: operator.name,
    userID: new Uint8Array(operator.userHandle),
    attestationType: 'none',
    timeout: TIMEOUT_MS,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: knownPasskeys.map(descriptorOf),
  })
}

/** Makes the options for using a passkey. If none are given, the browser offers all that it has for the console. */
export function assertionOptions({ url }: Party, knownPasskeys: readonly KnownPasskey[] = []) {
  return generateAuthenticationOptions({
    rpID: url.hostname,
    userVerification: 'required',
    timeout: TIMEOUT_MS,
    allowCredentials: knownPasskeys.map(descriptorOf),
  })
}

/** Uses up a challenge. Resolves to false if it was used, has expired, or has another purpose or caller. */
type TakeChallenge = (challenge: Buffer) => Promise<boolean>

const expectationsOf = ({ url }: Party, take: TakeChallenge) => ({
  expectedOrigin: url.origin,
  expectedRPID: url.hostname,
  requireUserVerification: true,
  expectedChallenge: (challenge: string) => take(Buffer.from(challenge, 'base64url')),
})

type Expectations = ReturnType<typeof expectationsOf>

/** Returns what `verify` returns, or undefined if it throws. Throws only what `take` threw, such as an outage. */
async function verifySafely<T>(
  party: Party,
  take: TakeChallenge,
  verify: (expectations: Expectations) => Promise<T>,
): Promise<T | undefined> {
  let failure: { error: unknown } | undefined
  const takeOrNote: TakeChallenge = (challenge) =>
    take(challenge).catch((error: unknown) => {
      failure = { error }
      return false
    })
  const answer = await verify(expectationsOf(party, takeOrNote)).catch(() => undefined)
  if (failure !== undefined) throw failure.error
  return answer
}

/** Verifies a new passkey. Returns undefined if the answer is invalid. */
export async function readRegistration(
  party: Party,
  { response, ...rest }: Registration,
  take: TakeChallenge,
): Promise<Passkey | undefined> {
  const { clientDataJSON, attestationObject, transports } = response
  const answer = await verifySafely(party, take, (expectations) =>
    verifyRegistrationResponse({
      ...expectations,
      response: { ...rest, response: { clientDataJSON, attestationObject }, clientExtensionResults: {} },
    }),
  )
  if (answer?.verified !== true || answer.registrationInfo === undefined) return undefined
  const { id, publicKey, counter } = answer.registrationInfo.credential
  return {
    credentialId: id,
    publicKey: Buffer.from(publicKey),
    counter: BigInt(counter),
    transports: transports.filter(isTransport),
  }
}

/** Verifies the use of a passkey. Returns its new counter, or undefined if the answer is invalid. */
export async function readAssertion(
  party: Party,
  { assertion, passkey }: { assertion: Assertion; passkey: Passkey },
  take: TakeChallenge,
): Promise<bigint | undefined> {
  const answer = await verifySafely(party, take, (expectations) =>
    verifyAuthenticationResponse({
      ...expectations,
      response: { ...assertion, clientExtensionResults: {} },
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(passkey.publicKey),
        counter: Number(passkey.counter),
      },
    }),
  )
  return answer?.verified === true ? BigInt(answer.authenticationInfo.newCounter) : undefined
}
