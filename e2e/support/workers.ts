import { availableParallelism } from 'node:os'

/** Files that run at a time, each on a till of its own. They wait more than they compute. */
export const E2E_WORKERS = Math.min(4, availableParallelism() + 1)
