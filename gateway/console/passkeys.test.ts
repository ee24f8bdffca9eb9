/** Passkeys whose challenge is unknown, or cannot be looked up. sign-in.test.ts tests signing in. */
import { expect, it } from 'vitest'
import { createAuthenticator } from '../testing/authenticator.ts'
import { assertionSchema, readAssertion, readRegistration, registrationSchema } from './passkeys.ts'

const party = { url: new URL('http://localhost:8080') }
const device = createAuthenticator(party.url.origin)
const challenge = Buffer.alloc(32, 7).toString('base64url')
const registration = registrationSchema.parse(device.register({ challenge }))
const assertion = assertionSchema.parse(device.authenticate({ challenge }))

const outage = async (): Promise<boolean> => {
  throw new Error('the database does not answer')
}
const unknown = async (): Promise<boolean> => false
const known = async (): Promise<boolean> => true

/** The passkey of the device, read with a challenge that is known. */
async function readPasskey() {
  const passkey = await readRegistration(party, registration, known)
  if (passkey === undefined) throw new Error('the registration is invalid')
  return passkey
}

it('an outage during the look-up of the challenge is not reported as an invalid passkey', async () => {
  const passkey = await readPasskey()
  await expect(readRegistration(party, registration, outage)).rejects.toThrow('the database does not answer')
  await expect(readAssertion(party, { assertion, passkey }, outage)).rejects.toThrow(
    'the database does not answer',
  )
})

it('a genuine answer is invalid if its challenge is unknown', async () => {
  const passkey = await readPasskey()
  expect(await readAssertion(party, { assertion, passkey }, known)).toBe(1n)
  expect(await readRegistration(party, registration, unknown)).toBeUndefined()
  expect(await readAssertion(party, { assertion, passkey }, unknown)).toBeUndefined()
})
