import type { PromiseName } from '../violation.ts'

/** Which promise a problem of the ledger breaks: that of the first pattern that matches. */
export const PROMISE_OF_PROBLEM: readonly (readonly [problem: RegExp, PromiseName])[] = [
  [/do not sum to zero/, 'I1'],
  [/sum of its entries/, 'I3'],
  [/below its floor/, 'I4'],
  [/credited twice/, 'I6'],
  [/reserved by two trades/, 'I8'],
  [/no event for its status/, 'I9'],
  [/has no terms|at[- ]risk|before protection|borne by/, 'I15'],
]

/** `problem`: as `verify.sql` words it. A problem that matches no pattern breaks I13, about the sums of amounts. */
export const promiseOfProblem = (problem: string): PromiseName =>
  PROMISE_OF_PROBLEM.find(([pattern]) => pattern.test(problem))?.[1] ?? 'I13'
