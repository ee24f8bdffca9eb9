/** Chooses the seeds of the real level that `npm test` runs: a few that together meet every fault. */
import type { Fault } from './faults.ts'
import type { Outcome } from './outcome.ts'

type SeedFaults = Pick<Outcome, 'seed' | 'faults'>

/** Returns as few seeds as possible that together meet all of `faults`; undefined if one of them is never met. */
export function smallestCover(
  faults: readonly Fault[],
  outcomes: readonly SeedFaults[],
): number[] | undefined {
  const bits = new Map(faults.map((fault, index) => [fault, 1n << BigInt(index)]))
  const seeds = outcomes.map(({ seed, faults: met }) => ({
    seed,
    met: [...bits].reduce((all, [fault, bit]) => ((met.get(fault) ?? 0) > 0 ? all | bit : all), 0n),
  }))
  const choices = [...bits.values()]
    .map((bit) => ({ bit, seeds: seeds.filter(({ met }) => (met & bit) !== 0n) }))
    .sort((one, other) => one.seeds.length - other.seeds.length)
  if (choices[0]?.seeds.length === 0) return undefined
  // Begins with the rarest unmet fault, because it has the fewest seeds to choose from.
  const extend = (met: bigint, seedsLeft: number): number[] | undefined => {
    const rarest = choices.find(({ bit }) => (met & bit) === 0n)
    if (rarest === undefined) return []
    if (seedsLeft === 0) return undefined
    for (const choice of rarest.seeds) {
      const rest = extend(met | choice.met, seedsLeft - 1)
      if (rest !== undefined) return [choice.seed, ...rest]
    }
    return undefined
  }
  for (let size = 0; size <= choices.length; size += 1) {
    const found = extend(0n, size)
    if (found !== undefined) return found.sort((one, other) => one - other)
  }
  return undefined
}
