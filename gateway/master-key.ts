/** Reads the key that seals secrets, and older keys. Makes the key of a sandbox. */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from './kit/make-folder.ts'

const KEY_BYTES = 32
const KEY_FORMAT = '32 bytes in base64 or hex, such as the output of openssl rand -base64 32'
const MOST_OLD_KEYS = 8

type Refused = { kind: 'refused'; reason: string }

export type KeyAnswer = { kind: 'key'; key: Buffer } | Refused

/** Reads 32 bytes in base64 or hex. */
export function parseKey(text: string): KeyAnswer {
  const trimmed = text.trim()
  const key = /^[0-9a-f]{64}$/i.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64')
  if (key.length === KEY_BYTES) return { kind: 'key', key }
  return { kind: 'refused', reason: `must be ${KEY_FORMAT}` }
}

export function readKeyFile(file: string): KeyAnswer {
  const fileAnswer = readText(file)
  if (fileAnswer.kind === 'refused') return fileAnswer
  const answer = parseKey(fileAnswer.text)
  return answer.kind === 'key' ? answer : { kind: 'refused', reason: `must hold ${KEY_FORMAT}` }
}

export type KeysAnswer = { kind: 'keys'; keys: Buffer[] } | Refused

/** Reads one key per line. */
export function readKeysFile(file: string): KeysAnswer {
  const fileAnswer = readText(file)
  if (fileAnswer.kind === 'refused') return fileAnswer
  const lines = fileAnswer.text.split('\n').filter((line) => line.trim() !== '')
  const keys = lines.map(parseKey).flatMap((answer) => (answer.kind === 'key' ? [answer.key] : []))
  if (keys.length === lines.length && keys.length <= MOST_OLD_KEYS) return { kind: 'keys', keys }
  return {
    kind: 'refused',
    reason: `must hold at most ${MOST_OLD_KEYS} keys, one per line, each ${KEY_FORMAT}`,
  }
}

export function readSettingFile(file: string): { kind: 'text'; text: string } | Refused {
  const fileAnswer = readText(file)
  return fileAnswer.kind === 'text' ? { kind: 'text', text: fileAnswer.text.trim() } : fileAnswer
}

function readText(file: string): { kind: 'text'; text: string } | Refused {
  try {
    return { kind: 'text', text: readFileSync(file, 'utf8') }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const reason =
      code === 'ENOENT'
        ? 'names a file that does not exist: create it, or correct the path'
        : `names a file that cannot be read (${String(code)}): check the path and the permissions`
    return { kind: 'refused', reason }
  }
}

/** The file in which a sandbox keeps the key that it made. */
export const ownKeyFile = (dataDir: string): string => join(dataDir, 'master.key')

/** Makes the key of a sandbox, or reads the one that exists. */
export function makeOwnKey(dataDir: string): Buffer {
  const file = ownKeyFile(dataDir)
  makeFolder(dataDir)
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
