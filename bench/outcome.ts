/** A result of a bench, printed as `NAME ours floor ratio limit PASS|FAIL`. */
export type Outcome = {
  name: string
  ours: string
  /** The figure that `ours` is compared with, from the same run. */
  floor?: string
  /** How `ours` compares with `floor`; without one, how much of the limit `ours` takes. */
  ratio?: number
  /** The limit: `<=1.5`, `>=100`, `all` or `0`, for example. */
  limit?: string
  passed: boolean
  /** Other figures of the same run, each with its own limit. `passed` covers them too. */
  further?: readonly Outcome[]
}

export function printOutcome(outcome: Outcome): void {
  const { name, ours, floor = '-', ratio, limit = '-', passed, further = [] } = outcome
  for (const other of further) printOutcome(other)
  const times = ratio === undefined ? '-' : ratio.toFixed(2)
  console.log([name, ours, floor, times, limit, passed ? 'PASS' : 'FAIL'].join(' '))
}

/** For an even number of values, returns the upper of the two in the middle. Returns NaN for no values. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

/** Returns NaN for no values, which meets no limit. */
export function percentile95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? Number.NaN
}
