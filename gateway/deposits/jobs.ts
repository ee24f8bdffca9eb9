import { z } from 'zod'
import { type DepositDeps, EXPIRE_QUEUE, expireDeposit } from './service.ts'

const expireJob = z.object({ depositId: z.string().regex(/^\d{1,19}$/) })

/** Creates the queue; needed before the first deposit is opened. */
export function ensureDepositQueues({ queue }: Pick<DepositDeps, 'queue'>): Promise<void> {
  return queue.ensure(EXPIRE_QUEUE)
}

/** Takes the jobs of this room; resolves to what stops it. */
export function workOnDeposits(deps: DepositDeps): Promise<() => Promise<void>> {
  return deps.queue.work(EXPIRE_QUEUE, (data) => expireDeposit(deps, BigInt(expireJob.parse(data).depositId)))
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
