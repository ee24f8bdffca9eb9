/** Passkeys whose challenge is unknown, or cannot be looked up. sign-in.test.ts tests signing in. */
import { expect, it } from 'vitest'
import { readAssertion, readRegistration } from './passkeys.ts'

const party = { url: new URL('http://localhost:8080') }
const credential = { id: 'AAAA', rawId: 'AAAA', type: 'public-key' } as const
const passkey = { credentialId: 'AAAA', publicKey: Buffer.alloc(8), counter: 0n, transports: [] }

const clientData = (type: string) =>
  Buffer.from(JSON.stringify({ type, challenge: 'AAAA', origin: party.url.origin })).toString('base64url')

const registration = {
  ...credential,
  response: { clientDataJSON: clientData('webauthn.create'), attestationObject: 'AAAA', transports: [] },
}
const assertion = {
  ...credential,
  response: { clientDataJSON: clientData('webauthn.get'), authenticatorData: 'AAAA', signature: 'AAAA' },
}

const outage = async (): Promise<boolean> => {
  throw new Error('the database does not answer')
}
const unknown = async (): Promise<boolean> => false

it('an outage while the challenge is looked up is not taken for an invalid passkey', async () => {
  await expect(readRegistration(party, registration, outage)).rejects.toThrow('the database does not answer')
  await expect(readAssertion(party, { assertion, passkey }, outage)).rejects.toThrow(
    'the database does not answer',
  )
})

it('an answer to an unknown challenge is invalid', async () => {
  expect(await readRegistration(party, registration, unknown)).toBeUndefined()
  expect(await readAssertion(party, { assertion, passkey }, unknown)).toBeUndefined()
})
