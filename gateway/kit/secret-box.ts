import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

export type SecretBox = {
  /** Encrypts. `aad` names the row and column, so a ciphertext that is moved elsewhere does not open. */
  seal(plain: string, aad: string): Buffer
  /** Decrypts; throws if the key, the place (`aad`) or any byte differs. */
  open(sealed: Buffer, aad: string): string
}

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES

/** AES-256-GCM for secrets at rest: version byte, random nonce, tag, ciphertext. The key has 32 bytes. */
export function createSecretBox(masterKey: Buffer): SecretBox {
  if (masterKey.length !== KEY_BYTES) throw new Error('The master key must have 32 bytes.')
  return {
    seal: (plain, aad) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', masterKey, nonce).setAAD(Buffer.from(aad))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), body])
    },
    open: (sealed, aad) => {
      if (sealed.length < HEAD_BYTES || sealed[0] !== VERSION) throw new Error('Not a sealed secret.')
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
      const tag = sealed.subarray(1 + NONCE_BYTES, HEAD_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', masterKey, nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(aad)).setAuthTag(tag)
      return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8')
    },
  }
}
