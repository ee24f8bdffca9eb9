/** What a bench prints in the end: `NAME ours floor ratio limit PASS|FAIL`. */
export type Outcome = {
  name: string
  ours: string
  /** What it is held against: the bare minimum, or another way to do the same. */
  floor?: string
  ratio?: number
  /** As it is read: `<=1.5`. */
  limit?: string
  passed: boolean
  /** Other figures of the same run, each with a limit of its own; `passed` speaks for them too. */
  also?: readonly Outcome[]
}

export function printOutcome(outcome: Outcome): void {
  const { name, ours, floor = '-', ratio, limit = '-', passed, also = [] } = outcome
  for (const other of also) printOutcome(other)
  const times = ratio === undefined ? '-' : ratio.toFixed(2)
  console.log([name, ours, floor, times, limit, passed ? 'PASS' : 'FAIL'].join(' '))
}

export function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

export function percentile95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? 0
}
