/** A small authenticator: answers with a passkey as a browser would, using keys made by Node. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { sha256 } from '../kit/sha256.ts'

export type Authenticator = ReturnType<typeof createAuthenticator>

/** Flags of the authenticator's data: the user is present, was verified, and a new key is attached. */
const PRESENT = 0x01
const VERIFIED = 0x04
const ATTESTED = 0x40

type Challenge = { challenge: string }

/** Creates a device with one passkey for this origin. `verifies`: whether it checks who its user is. */
export function createAuthenticator(origin: string, { verifies = true } = {}) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const credentialId = randomBytes(32)
  const id = credentialId.toString('base64url')
  const rpIdHash = sha256(new URL(origin).hostname)
  const flags = PRESENT | (verifies ? VERIFIED : 0)
  let counter = 0

  const clientData = (type: string, { challenge }: Challenge) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  const authenticatorData = (moreFlags: number, rest: Buffer = Buffer.alloc(0)) => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([rpIdHash, Buffer.from([flags | moreFlags]), count, rest])
  }
  /** The public key in CBOR: its kind (1) is EC2, its algorithm (3) ES256, its curve (-1) P-256; then x and y. */
  const coseKey = () => {
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
      Buffer.from(x, 'base64url'),
      Buffer.from([0x22, 0x58, 0x20]),
      Buffer.from(y, 'base64url'),
    ])
  }
  return {
    /** Answers a request for a new passkey. */
    register(options: Challenge) {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(credentialId.length)
      // The authenticator's model. All zeros stand for no particular one.
      const aaguid = Buffer.alloc(16)
      const attested = Buffer.concat([aaguid, length, credentialId, coseKey()])
      const authData = authenticatorData(ATTESTED, attested)
      const attestationObject = Buffer.concat([
        // A CBOR map of three fields. The last one is a byte string, whose length has two bytes.
        Buffer.from([0xa3]),
        Buffer.concat([text('fmt'), text('none'), text('attStmt'), Buffer.from([0xa0]), text('authData')]),
        Buffer.from([0x59, authData.length >> 8, authData.length & 0xff]),
        authData,
      ])
      return {
        id,
        rawId: id,
        type: 'public-key',
        response: {
          clientDataJSON: clientData('webauthn.create', options).toString('base64url'),
          attestationObject: attestationObject.toString('base64url'),
          transports: ['internal'],
        },
      }
    },
    /** Answers a request to sign with the passkey. */
    authenticate(options: Challenge) {
      counter += 1
      const data = clientData('webauthn.get', options)
      const authData = authenticatorData(0)
      const signature = sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey)
      return {
        id,
        rawId: id,
        type: 'public-key',
        response: {
          clientDataJSON: data.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: signature.toString('base64url'),
        },
      }
    },
  }
}

/** Encodes a short text string in CBOR. */
const text = (value: string): Buffer =>
  Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)])
