/** Chance that repeats itself: the same seed gives the same numbers for ever. */

export type Random = {
  /** In [0, 1). */
  next(): number
  /** A whole number in [0, below). */
  int(below: number): number
  /** A whole number in [low, high]. */
  between(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(values: readonly [T, ...T[]]): T
}

/** sfc32: small, fast and good enough to choose what goes wrong. */
export function seededRandom(seed: number): Random {
  let a = seed | 0
  let b = (seed / 2 ** 32) | 0
  let c = 0x9e3779b9
  let counter = 1
  const next = (): number => {
    const mixed = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + mixed) | 0
    return (mixed >>> 0) / 2 ** 32
  }
  // The first numbers still show the seed.
  for (let n = 0; n < 15; n += 1) next()
  const int = (below: number): number => Math.floor(next() * below)
  return {
    next,
    int,
    between: (low, high) => low + int(high - low + 1),
    chance: (probability) => next() < probability,
    pick: (values) => values[int(values.length)] ?? values[0],
  }
}
