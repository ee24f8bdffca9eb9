import { availableParallelism } from 'node:os'

/**
 * How many files run at a time, each on its own till. More than the number of processors, because tests mostly wait.
 */
export const E2E_WORKERS = Math.min(4, availableParallelism() + 1)
