/** Reads the key that seals secrets, and older keys. Makes the key of a sandbox. */
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from './kit/make-folder.ts'
import { type Refused, readSettingFile, readTextFile } from './kit/setting-file.ts'

const KEY_BYTES = 32
const KEY_FORMAT = '32 bytes in base64 or hex, such as the output of openssl rand -base64 32'
const MOST_OLD_KEYS = 8

export type KeyAnswer = { kind: 'key'; key: Buffer } | Refused

/** Reads 32 bytes in base64 or hex. */
export function parseKey(text: string): KeyAnswer {
  const trimmed = text.trim()
  const key = /^[0-9a-f]{64}$/i.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64')
  if (key.length === KEY_BYTES) return { kind: 'key', key }
  return { kind: 'refused', reason: `must be ${KEY_FORMAT}` }
}

export function readKeyFile(file: string): KeyAnswer {
  const fileAnswer = readSettingFile(file)
  if (fileAnswer.kind === 'refused') return fileAnswer
  const answer = parseKey(fileAnswer.text)
  return answer.kind === 'key' ? answer : { kind: 'refused', reason: `must hold ${KEY_FORMAT}` }
}

export type KeysAnswer = { kind: 'keys'; keys: Buffer[] } | Refused

/** Reads the older keys, one per line. An empty file has none. */
export function readOldKeysFile(file: string): KeysAnswer {
  const fileAnswer = readSettingFile(file)
  if (fileAnswer.kind === 'refused') return fileAnswer
  const lines = fileAnswer.text.split('\n').filter((line) => line.trim() !== '')
  const keys = lines.map(parseKey).flatMap((answer) => (answer.kind === 'key' ? [answer.key] : []))
  if (keys.length === lines.length && keys.length <= MOST_OLD_KEYS) return { kind: 'keys', keys }
  return {
    kind: 'refused',
    reason: `must hold at most ${MOST_OLD_KEYS} keys, one per line, each ${KEY_FORMAT}`,
  }
}

/** The file in which a sandbox keeps the key that it made. */
export const ownKeyFile = (dataDir: string): string => join(dataDir, 'master.key')

/** Reads the key that the sandbox made. Returns undefined if it has not made one. The reasons are whole sentences. */
export function readOwnKey(dataDir: string): KeyAnswer | undefined {
  const file = ownKeyFile(dataDir)
  const fileAnswer = readTextFile(file)
  if (fileAnswer.kind === 'unreadable') {
    const { code } = fileAnswer
    if (code === 'ENOENT') return undefined
    const reason = `The master key in ${file} cannot be read (${code}): check the permissions`
    return { kind: 'refused', reason }
  }
  const answer = parseKey(fileAnswer.text)
  if (answer.kind === 'key') return answer
  return { kind: 'refused', reason: `The master key in ${file} must hold ${KEY_FORMAT}` }
}

/** Makes the key of a sandbox, or reads the one that exists. */
export function makeOwnKey(dataDir: string): Buffer {
  makeFolder(dataDir)
  const key = randomBytes(KEY_BYTES)
  const file = ownKeyFile(dataDir)
  try {
    writeNewFile(file, key.toString('base64'))
    return key
  } catch (cause) {
    const answer = readOwnKey(dataDir)
    if (answer?.kind === 'key') return answer.key
    const reason =
      answer?.reason ??
      `The master key cannot be written to ${file}: check the permissions and the free space`
    throw new Error(`${reason}.`, { cause })
  }
}

/** Removes the file if it cannot be written completely. Otherwise it would be a damaged key at the next start. */
function writeNewFile(file: string, text: string): void {
  const descriptor = openSync(file, 'wx', 0o600)
  try {
    writeFileSync(descriptor, text)
  } catch (error) {
    rmSync(file)
    throw error
  } finally {
    closeSync(descriptor)
  }
}
