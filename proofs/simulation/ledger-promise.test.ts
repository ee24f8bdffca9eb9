import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PROMISE_OF_PROBLEM, promiseOfProblem } from './real/ledger-promise.ts'

const VERIFY = readFileSync(join(import.meta.dirname, '../../gateway/ledger/verify.sql'), 'utf8')
const PROBLEMS = [...VERIFY.matchAll(/^select '([^']+)'/gm)].map(([, problem = '']) => problem)

it('each pattern matches at least one problem of verify.sql', () => {
  const named = PROBLEMS.map((problem) => PROMISE_OF_PROBLEM.find(([pattern]) => pattern.test(problem)))
  expect(PROMISE_OF_PROBLEM.filter((entry) => !named.includes(entry))).toEqual([])
})

it('a problem that no pattern matches counts as a breach of I13, the sums of amounts', () => {
  expect(promiseOfProblem('a deposit is not credited with what its trades brought')).toBe('I13')
})
