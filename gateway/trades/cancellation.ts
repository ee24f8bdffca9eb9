/** Cancels a deposit for its store. An open offer is cancelled on Steam first: until then, it can be accepted. */
import { refuse } from '../http/refusal.ts'
import { type Recorded, recordLocked, writeLines } from './record.ts'
import type { LockedDeposit, ShellDeps, TradeTx } from './trade-store.ts'

/** Seconds until a store can retry a cancel that arrived while an offer was being sent. */
const BUSY_S = 3

export type CancelResult =
  /** The deposit has ended, now or by an earlier cancel. */
  | 'ended'
  /** The offer is being cancelled on Steam. An event reports the result. */
  | 'under_way'

/** Resolves to undefined if the store has no such deposit. Refuses if it is too late, or too early, to cancel. */
export async function cancelDeposit(
  deps: ShellDeps,
  storeId: bigint,
  depositId: bigint,
): Promise<CancelResult | undefined> {
  let recorded: Recorded | undefined
  const cancelled = await deps.trades.transaction(async (tx) => {
    recorded = undefined
    const deposit = await tx.lockDeposit(depositId)
    if (deposit === undefined || deposit.storeId !== storeId) return undefined
    const live = await tx.liveTradeOf(depositId)
    switch (deposit.status) {
      case 'created':
        // The trade's offer is about to be sent, or Steam has not answered the send yet.
        if (live !== undefined) return refuse('deposit_busy', { retryAfterS: BUSY_S })
        if (await tx.closeDeposit(deposit, { kind: 'cancelled_by_store', at: deps.clock.now() }))
          return 'ended'
        throw new Error(`deposit ${deposit.id} cannot be cancelled from ${deposit.status}`)
      case 'pending':
        if (live === undefined) return refuse('deposit_busy', { retryAfterS: BUSY_S })
        recorded = await cancelOffer(deps, tx, { deposit, tradeId: live })
        return 'under_way'
      case 'paymentTimeout':
        return deposit.cancelledAt === null ? refuse('not_cancellable') : 'ended'
      case 'tradeTimeout':
        return (await tx.wasCancelledByStore(depositId)) ? 'ended' : refuse('not_cancellable')
      case 'succeeded':
      case 'tradeDeclined':
      case 'tradeCountered':
      case 'tradeHasInvalidItems':
        return refuse('not_cancellable')
      default:
        return deposit.status satisfies never
    }
  })
  writeLines(deps.log, recorded)
  return cancelled
}

/** Begins the cancel, without a lease. The bot carries it out, and finds out whether the shopper accepted first. */
async function cancelOffer(
  deps: ShellDeps,
  tx: TradeTx,
  { deposit, tradeId }: { deposit: LockedDeposit; tradeId: bigint },
): Promise<Recorded> {
  const now = deps.clock.now()
  const report = { deposit, source: { tradeId }, fact: { kind: 'store_cancels' }, now } as const
  const recorded = await recordLocked(deps, tx, report)
  if (recorded?.trade.state !== 'active' || recorded.trade.acceptedAt !== null)
    return refuse('not_cancellable')
  // A cancel that has begun keeps its reason, so only wake the bot again.
  await tx.wake(tradeId, now)
  return recorded
}
