import { timingSafeEqual } from 'node:crypto'

/** Takes as long for a guess with only the last byte wrong as for any other of the right length. */
export const isSameBytes = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other)
