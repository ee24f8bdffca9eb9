import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

export type SecretBox = {
  /** Identifies the key that encrypts. */
  fingerprint: string
  /** Whether one of the keys has this fingerprint. */
  knows(fingerprint: string): boolean
  /** Encrypts. `place`: the row and column. A ciphertext that is moved elsewhere does not open. */
  seal(plain: string, place: string): Buffer
  /** Decrypts; throws if the key, the place or any byte differs. */
  open(sealed: Buffer, place: string): string
  /** Keyed hashes, for finding equal texts: the first with the current key, the others with old keys. */
  hmacs(text: string): [Buffer, ...Buffer[]]
}

/** The first byte of every sealed text is its version. Version 1 did not contain the id of its key. */
const VERSION_WITHOUT_ID = 1
const VERSION = 2
const ID_BYTES = 8
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32
/** Never change this: every database would seem to belong to another key. */
const FINGERPRINT_TEXT = 'tradetill master key fingerprint 1'
const HMAC_TEXT = 'tradetill hmac 1'

/** Identifies a key without revealing it: an HMAC of a fixed text. */
export const fingerprintOf = (key: Buffer): string =>
  createHmac('sha256', key).update(FINGERPRINT_TEXT).digest('hex')

/** The prefix of what `seal` makes with this key: the version, and the beginning of the key's fingerprint. */
export const markOf = (key: Buffer): Buffer =>
  Buffer.concat([Buffer.from([VERSION]), Buffer.from(fingerprintOf(key), 'hex').subarray(0, ID_BYTES)])

/**
 * AES-256-GCM for secrets at rest: version byte, key id, random nonce, tag, ciphertext. `masterKey` encrypts; every key
 * decrypts. Keys have 32 bytes.
 */
export function createSecretBox(masterKey: Buffer, oldKeys: readonly Buffer[] = []): SecretBox {
  const keys = [masterKey, ...oldKeys]
  if (keys.some((key) => key.length !== KEY_BYTES)) throw new Error('The master key must have 32 bytes.')
  const mark = markOf(masterKey)
  const ring = keys.map((key) => ({ key, mark: markOf(key) }))
  const fingerprints = new Set(keys.map(fingerprintOf))
  const hmacWith = hmacOf(masterKey)
  const oldHmacs = oldKeys.map(hmacOf)
  return {
    fingerprint: fingerprintOf(masterKey),
    knows: (fingerprint) => fingerprints.has(fingerprint),
    seal: (plain, place) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', masterKey, nonce).setAAD(Buffer.from(place))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([mark, nonce, cipher.getAuthTag(), body])
    },
    open: (sealed, place) => {
      if (sealed[0] === VERSION_WITHOUT_ID) return openWithAny(keys, sealed.subarray(1), place)
      if (sealed[0] !== VERSION) throw new Error('Not a sealed secret.')
      const sealer = ring.find((entry) => sealed.subarray(0, mark.length).equals(entry.mark))
      if (sealer === undefined) throw new Error('No key of this till sealed the secret.')
      return decrypt(sealer.key, sealed.subarray(mark.length), place)
    },
    hmacs: (text) => [hmacWith(text), ...oldHmacs.map((hmac) => hmac(text))],
  }
}

/** Hashes with a separate key, so a hash reveals nothing about sealed texts. */
function hmacOf(masterKey: Buffer): (text: string) => Buffer {
  const key = Buffer.from(hkdfSync('sha256', masterKey, '', HMAC_TEXT, KEY_BYTES))
  return (text) => createHmac('sha256', key).update(text).digest()
}

/** Tries the keys in turn. Only the right key fits the tag. */
function openWithAny([key, ...others]: readonly Buffer[], sealed: Buffer, place: string): string {
  if (key === undefined) throw new Error('No key of this till sealed the secret.')
  try {
    return decrypt(key, sealed, place)
  } catch (error) {
    if (others.length === 0) throw error
    return openWithAny(others, sealed, place)
  }
}

function decrypt(key: Buffer, sealed: Buffer, place: string): string {
  const head = NONCE_BYTES + TAG_BYTES
  if (sealed.length < head) throw new Error('Not a sealed secret.')
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(place)).setAuthTag(sealed.subarray(NONCE_BYTES, head))
  return Buffer.concat([decipher.update(sealed.subarray(head)), decipher.final()]).toString('utf8')
}
