/** The key that seals the vault's secrets and signs its log. Without the key's file, both are lost. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { Folder } from './folder.ts'

export const KEY_FILE = 'key'
/** If one of these exists, the vault has had a key. A new key could not open its secrets or check its log. */
const FILES_OF_A_KEY = ['accounts.json', 'markets.json', 'log.jsonl', 'log.begun']
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

/** Reads the key, or makes one in a new folder. Throws if the key is missing from a folder that had one. */
export function openKey(folder: Folder): Key {
  const file = folder.at(KEY_FILE)
  const stored = folder.read(KEY_FILE)
  if (stored === undefined && FILES_OF_A_KEY.some(folder.has))
    throw new Error(
      `${file} is missing. Without it the vault can read neither its secrets nor its log: restore it.`,
    )
  const hex = stored?.trim() ?? randomBytes(KEY_BYTES).toString('hex')
  if (!/^[0-9a-f]{64}$/.test(hex))
    throw new Error(`${file} is not the key of a vault: restore it from a backup.`)
  if (stored === undefined) folder.write(KEY_FILE, `${hex}\n`)
  return keyOf(Buffer.from(hex, 'hex'))
}

type Sealed = { name: string; sealed: string; place: string }

/** Opens a sealed text of a file. The error names the file and the key, because either may be the wrong one. */
export function openSealed(folder: Folder, key: Key, { name, sealed, place }: Sealed): string {
  try {
    return key.open(sealed, place)
  } catch {
    throw new Error(
      `${folder.at(KEY_FILE)} does not open ${place} in ${folder.at(name)}: one of the two files was changed. Restore it.`,
    )
  }
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
