import { availableParallelism } from 'node:os'

/**
 * How many test files of `e2e/` run at a time, each on its own till: one more than there are processors, because tests
 * mostly wait, but at most four.
 */
export const E2E_WORKERS = Math.min(4, availableParallelism() + 1)
