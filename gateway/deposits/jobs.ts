import { z } from 'zod'
import { ProblemError } from '../http/refusal.ts'
import { prefillShopper } from './opening.ts'
import { type DepositDeps, EXPIRE_QUEUE, expireDeposit, PREFILL_QUEUE } from './service.ts'

const depositJob = z.object({ depositId: z.string().regex(/^\d{1,19}$/) })

/** Creates the queues; needed before the first deposit is opened. */
export async function ensureDepositQueues({ queue }: Pick<DepositDeps, 'queue'>): Promise<void> {
  await queue.ensure(EXPIRE_QUEUE)
  await queue.ensure(PREFILL_QUEUE)
}

/** Takes the jobs of this room; resolves to what stops it. */
export async function workOnDeposits(deps: DepositDeps): Promise<() => Promise<void>> {
  const idOf = (data: unknown): bigint => BigInt(depositJob.parse(data).depositId)
  const stops = [
    await deps.queue.work(EXPIRE_QUEUE, (data) => expireDeposit(deps, idOf(data))),
    await deps.queue.work(PREFILL_QUEUE, (data) => prefill(deps, idOf(data))),
  ]
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

/** An account that Steam does not know stays unknown: the page asks the shopper for the link. */
async function prefill(deps: DepositDeps, id: bigint): Promise<void> {
  try {
    await prefillShopper(deps, id)
  } catch (error) {
    if (!(error instanceof ProblemError) || error.code === 'steam_unavailable') throw error
    deps.log.warn({ deposit: String(id), code: error.code }, 'a trade link given by a store is of no use')
  }
}

const MOST_DUE = 500

/** Ends every deposit whose job was lost. */
export async function sweepDeposits(deps: DepositDeps): Promise<void> {
  const due = await deps.db
    .selectFrom('deposit')
    .select('id')
    .where('status', '=', 'created')
    .where('expires_at', '<=', deps.clock.now())
    .orderBy('expires_at')
    .limit(MOST_DUE)
    .execute()
  for (const { id } of due) {
    try {
      await expireDeposit(deps, id)
    } catch (error) {
      deps.log.error({ err: error, deposit: String(id) }, 'a deposit whose time is over could not be ended')
    }
  }
}
