import { randomBytes, randomUUID } from 'node:crypto'

/** Makes random values. It is passed as an argument, so tests can repeat a run. */
export type Ids = {
  uuid(): string
  /** `bytes` random bytes as lowercase hex. */
  hex(bytes: number): string
  /** A secret code for an offer's message: six characters that are hard to misread. */
  secretCode(): string
}

/** 31 characters, without 0, O, 1, I and L. Six of them give 887 million codes. */
export const CODE_ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ'

export const CODE_LENGTH = 6

export const systemIds: Ids = {
  uuid: () => randomUUID(),
  hex: (bytes) => randomBytes(bytes).toString('hex'),
  secretCode,
}

/**
 * Ignores bytes at or above the largest multiple of the alphabet's size that a byte can reach, so every character is
 * equally likely.
 */
function secretCode(): string {
  const fairBytes = Math.floor(256 / CODE_ALPHABET.length) * CODE_ALPHABET.length
  let code = ''
  while (code.length < CODE_LENGTH) {
    for (const byte of randomBytes(CODE_LENGTH)) {
      if (byte < fairBytes && code.length < CODE_LENGTH) code += CODE_ALPHABET[byte % CODE_ALPHABET.length]
    }
  }
  return code
}
