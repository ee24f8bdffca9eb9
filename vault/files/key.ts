/** The key that seals the vault's secrets and signs its log. Without the key's file, both are lost. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { Folder } from './folder.ts'

const FILE = 'key'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export type Key = {
  /** Seals a text. `place` says where it is stored: if a sealed text is moved elsewhere, it does not open. */
  seal(plain: string, place: string): string
  /** Opens a sealed text. Throws if the key, the place or any byte differs. */
  open(sealed: string, place: string): string
  /** Returns the signature of a text, which only this key can make. */
  mac(text: string): string
}

/** Reads the key, or makes one if there is none. */
export function openKey(folder: Folder): Key {
  const stored = folder.read(FILE)
  const hex = stored?.trim() ?? randomBytes(KEY_BYTES).toString('hex')
  if (!/^[0-9a-f]{64}$/.test(hex))
    throw new Error(`${folder.at(FILE)} is not the key of a vault: restore it from a backup.`)
  if (stored === undefined) folder.write(FILE, `${hex}\n`)
  return keyOf(Buffer.from(hex, 'hex'))
}

function keyOf(bytes: Buffer): Key {
  const derive = (use: string): Buffer => Buffer.from(hkdfSync('sha256', bytes, '', use, KEY_BYTES))
  const [sealing, signing] = [derive('vault secrets 1'), derive('vault log 1')]
  return {
    seal(plain, place) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(place))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')
    },
    open(sealed, place) {
      const bytes = Buffer.from(sealed, 'base64')
      const nonce = bytes.subarray(0, NONCE_BYTES)
      const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
      const options = { authTagLength: TAG_BYTES }
      const decipher = createDecipheriv('aes-256-gcm', sealing, nonce, options)
      decipher.setAAD(Buffer.from(place)).setAuthTag(tag)
      const body = bytes.subarray(NONCE_BYTES + TAG_BYTES)
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
    },
    mac: (text) => createHmac('sha256', signing).update(text).digest('hex'),
  }
}
