/**
 * API keys: `tt_<test or live>_<id>_<secret>_<checksum>`, the last three with 8, 43 and 8 characters. The checksum
 * exposes an incomplete copy before the database is asked.
 */
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { sha256 } from '../kit/sha256.ts'

/** `sandbox`: items and money are simulated; `live`: they are real. */
export type Mode = 'sandbox' | 'live'

export type NewApiKey = {
  /** Shown once, never stored. */
  key: string
  id: string
  secretSha256: Buffer
}

export type ParsedApiKey = { id: string; secretSha256: Buffer }

const FORM = /^tt_(?:test|live)_([0-9a-z]{8})_([\w-]{43})_([0-9a-f]{8})$/
const ID_CHARACTERS = '0123456789abcdefghijklmnopqrstuvwxyz'

export function createApiKey(mode: Mode): NewApiKey {
  const id = Array.from(randomBytes(8), (byte) => ID_CHARACTERS[byte % ID_CHARACTERS.length]).join('')
  const secret = randomBytes(32).toString('base64url')
  const body = `${prefixOf(mode)}${id}_${secret}`
  return { key: `${body}_${checkOf(body)}`, id, secretSha256: sha256(secret) }
}

/** Returns undefined unless the text is a complete key of this mode. */
export function parseApiKey(text: string, mode: Mode): ParsedApiKey | undefined {
  const [, id, secret, check] = FORM.exec(text) ?? []
  if (id === undefined || secret === undefined || !text.startsWith(prefixOf(mode))) return undefined
  // Leaves out the underscore and the checksum of eight digits.
  return checkOf(text.slice(0, -9)) === check ? { id, secretSha256: sha256(secret) } : undefined
}

function prefixOf(mode: Mode): string {
  return mode === 'live' ? 'tt_live_' : 'tt_test_'
}

function checkOf(body: string): string {
  return crc32(body).toString(16).padStart(8, '0')
}
