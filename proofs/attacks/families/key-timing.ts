/**
 * The time that a refusal takes must reveal nothing about the key: family 40. Times on a busy machine prove nothing, so
 * the cases watch the comparison instead: it must compare entire hashes, however many leading bytes are right.
 */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { crc32 } from 'node:zlib'
import { isSameBytes } from '../../../gateway/kit/same-bytes.ts'
import { createApiKey, parseApiKey } from '../../../gateway/stores/api-key.ts'
import { family } from '../attack.ts'
import { problemIf } from './checks.ts'

const SAME_BYTES = 'gateway/kit/same-bytes.ts'
const SHA256 = 'gateway/kit/sha256.ts'
const BYTES = 32
/** Two unrelated hashes do not have more leading bytes in common than this: the odds are one in 2^56. */
const MOST_SHARED = 6

/** Returns how many bytes `compare` compares in constant time. */
function bytesComparedBy(compare: () => boolean): number {
  const realCompare = crypto.timingSafeEqual
  let bytes = 0
  const watched: typeof realCompare = (one, other) => {
    bytes += one.byteLength
    return realCompare(one, other)
  }
  const install = (given: typeof realCompare) => {
    Reflect.set(crypto, 'timingSafeEqual', given)
    syncBuiltinESMExports()
  }
  install(watched)
  try {
    compare()
  } finally {
    install(realCompare)
  }
  return bytes
}

const RIGHT = Buffer.alloc(BYTES, 0xa5)

/** A guess with only its first bytes right. */
const guessOf = (right: number): Buffer => Buffer.from(RIGHT).fill(0, right)

/** The hash of a secret that ends in `last`. */
const hashOf = (last: string): Buffer => {
  const secret = `${'s'.repeat(42)}${last}`
  const body = `tt_live_abcdefgh_${secret}`
  const checksum = crc32(body).toString(16).padStart(8, '0')
  return parseApiKey(`${body}_${checksum}`, 'live')?.secretSha256 ?? Buffer.alloc(0)
}

const sharedBytes = (one: Buffer, other: Buffer): number => {
  const first = one.findIndex((byte, index) => byte !== other[index])
  return first < 0 ? one.length : first
}

export const keyTiming = family<'all bytes' | 'hashes'>({
  number: 40,
  name: 'timing of key comparisons',
  kind: 'parts',
  defences: {
    'all bytes': {
      at: `${SAME_BYTES} isSameBytes`,
      off: [
        {
          file: SAME_BYTES,
          from: 'timingSafeEqual(one, other)',
          to: 'one.every((byte, index) => byte === other[index])',
        },
      ],
    },
    hashes: {
      at: `${SHA256} sha256`,
      off: [
        {
          file: SHA256,
          from: "return createHash('sha256').update(data).digest()",
          to: 'return Buffer.from(data)',
        },
      ],
    },
  },
  honest() {
    const { key, secretSha256 } = createApiKey('live')
    const read = parseApiKey(key, 'live')
    return problemIf(
      read === undefined || !isSameBytes(read.secretSha256, secretSha256),
      'a key does not match itself',
    )
  },
  cases: () => [
    ...Array.from({ length: BYTES + 1 }, (_, right) => ({
      what: `a guess with ${right} right bytes`,
      stoppedBy: 'all bytes' as const,
      attack() {
        const bytes = bytesComparedBy(() => isSameBytes(guessOf(right), RIGHT))
        return problemIf(bytes !== BYTES, `${bytes} of ${BYTES} bytes were compared`)
      },
    })),
    // `s` is left out, because the right secret ends in it.
    ...[...'abcdefghijklmnopqrtuvwxyz0123456789'].map((last) => ({
      what: `a secret with only its last character wrong, ${last}`,
      stoppedBy: 'hashes' as const,
      attack() {
        const shared = sharedBytes(hashOf(last), hashOf('s'))
        return problemIf(shared > MOST_SHARED, `${shared} of the compared bytes are right`)
      },
    })),
  ],
})
