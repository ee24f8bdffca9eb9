/** Repeatable randomness: a seed always gives the same numbers. */
import { mersenne } from 'pure-rand/generator/mersenne'

export type Random = {
  /** Returns a number in [0, 1). */
  next(): number
  /** Returns a whole number in [0, below). */
  int(below: number): number
  /** Returns a whole number in [low, high]. */
  between(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(values: readonly [T, ...T[]]): T
}

/**
 * Uses 32 bits of the seed. The quicker generators of pure-rand give neighbouring seeds similar numbers; this one does
 * not.
 */
export function seededRandom(seed: number): Random {
  const generator = mersenne(seed)
  const next = (): number => (generator.next() >>> 0) / 2 ** 32
  const int = (below: number): number => Math.floor(next() * below)
  return {
    next,
    int,
    between: (low, high) => low + int(high - low + 1),
    chance: (probability) => next() < probability,
    pick: (values) => values[int(values.length)] ?? values[0],
  }
}
