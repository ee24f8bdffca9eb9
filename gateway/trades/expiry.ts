import { depositIdOf } from '../deposits/jobs.ts'
import { type DepositDeps, EXPIRE_QUEUE } from '../deposits/service.ts'
import type { ShellDeps } from './trade-store.ts'

/** A sweep ends at most this many deposits. */
const MOST_DUE = 500

/** Ends a deposit whose time is over, unless it has a live trade or the time is paused. */
export async function expireDeposit(
  { trades, clock }: Pick<ShellDeps, 'trades' | 'clock'>,
  id: bigint,
): Promise<void> {
  await trades.transaction(async (tx) => {
    const deposit = await tx.lockDeposit(id)
    if (deposit === undefined) return
    const isStopped = (await tx.liveTradeOf(id)) !== undefined || (await tx.isTimeStopped())
    await tx.closeDeposit(deposit, { kind: 'time_passed', now: clock.now(), isStopped })
  })
}

/** Works on the jobs that end deposits. Resolves to a function that stops the work. */
export function workOnExpiry(deps: ShellDeps & Pick<DepositDeps, 'queue'>): Promise<() => Promise<void>> {
  return deps.queue.work(EXPIRE_QUEUE, (data) => expireDeposit(deps, depositIdOf(data)))
}

/** Ends deposits whose time is over, in case their jobs were lost. */
export async function sweepDeposits(deps: ShellDeps): Promise<void> {
  const { trades, clock, log } = deps
  for (const id of await trades.expiredDeposits(clock.now(), MOST_DUE)) {
    try {
      await expireDeposit(deps, id)
    } catch (error) {
      log.error({ err: error, deposit: String(id) }, 'expired deposit could not be ended')
    }
  }
}
