/** The key that seals secrets: where it is found, and what tells it apart from others. */
import { createHmac, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const KEY_BYTES = 32
const FORM = '32 bytes in base64 or hex: openssl rand -base64 32 makes them'
/** Changing it would make every database belong to another key. */
const FINGERPRINT_TEXT = 'tradetill master key fingerprint 1'

export type KeyAnswer = { kind: 'key'; key: Buffer } | { kind: 'refused'; reason: string }

/** Reads 32 bytes in base64 or hex. */
export function parseKey(text: string): KeyAnswer {
  const trimmed = text.trim()
  const key = /^[0-9a-f]{64}$/i.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64')
  if (key.length === KEY_BYTES) return { kind: 'key', key }
  return { kind: 'refused', reason: `must be ${FORM}` }
}

export function readKeyFile(file: string): KeyAnswer {
  try {
    const answer = parseKey(readFileSync(file, 'utf8'))
    return answer.kind === 'key' ? answer : { kind: 'refused', reason: `must hold ${FORM}` }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const what = code === 'ENOENT' ? 'does not exist' : `cannot be read (${String(code)})`
    return { kind: 'refused', reason: `${what}: put the file there, readable for this user` }
  }
}

/** Where a sandbox keeps the key that it made. */
export const ownKeyFile = (dataDir: string): string => join(dataDir, 'master.key')

/** Makes the key of a sandbox, or reads the one that another process made in the same moment. */
export function makeOwnKey(dataDir: string): Buffer {
  const file = ownKeyFile(dataDir)
  mkdirSync(dataDir, { recursive: true })
  try {
    const key = randomBytes(KEY_BYTES)
    writeFileSync(file, key.toString('base64'), { mode: 0o600, flag: 'wx' })
    return key
  } catch {
    const answer = readKeyFile(file)
    if (answer.kind === 'key') return answer.key
    throw new Error(`The master key in ${file} ${answer.reason}.`)
  }
}

/** Tells keys apart and says nothing of the key: an HMAC of a fixed text. */
export const fingerprintOf = (key: Buffer): string =>
  createHmac('sha256', key).update(FINGERPRINT_TEXT).digest('hex')
