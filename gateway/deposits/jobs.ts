import { z } from 'zod'
import { ProblemError } from '../http/refusal.ts'
import { prefillShopper } from './create.ts'
import { forgetLinks } from './link-store.ts'
import { type DepositDeps, EXPIRE_QUEUE, PREFILL_QUEUE } from './service.ts'

const depositJob = z.object({ depositId: z.string().regex(/^\d{1,19}$/) })

/** Creates the queues; needed before the first deposit is created. */
export async function ensureDepositQueues({ queue }: Pick<DepositDeps, 'queue'>): Promise<void> {
  await queue.ensure(EXPIRE_QUEUE)
  await queue.ensure(PREFILL_QUEUE)
}

export const depositIdOf = (data: unknown): bigint => BigInt(depositJob.parse(data).depositId)

/** Longer than the ten minutes for which a link counts towards its deposit's limit on links. */
const KEEP_LINKS_MS = 3_600_000

export function sweepLinks({ db, clock }: Pick<DepositDeps, 'db' | 'clock'>): Promise<void> {
  return forgetLinks(db, new Date(clock.now().getTime() - KEEP_LINKS_MS))
}

/**
 * Looks up on Steam which shoppers the stores' trade links belong to. Resolves to a function that stops the lookups.
 */
export function workOnPrefills(deps: DepositDeps): Promise<() => Promise<void>> {
  return deps.queue.work(PREFILL_QUEUE, (data) => prefill(deps, depositIdOf(data)))
}

/** If the link cannot be used, the page asks the shopper for one. */
async function prefill(deps: DepositDeps, id: bigint): Promise<void> {
  try {
    await prefillShopper(deps, id)
  } catch (error) {
    if (!(error instanceof ProblemError) || error.code === 'steam_unavailable') throw error
    deps.log.warn({ deposit: String(id), code: error.code }, 'trade link from a store could not be used')
  }
}
