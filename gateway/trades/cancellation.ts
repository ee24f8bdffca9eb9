/** A store no longer wants a deposit. An offer that stands is cancelled on Steam first: only Steam's word ends it. */
import type { Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import { tellTransition } from '../deposits/service.ts'
import { type DepositRow, lockDeposit, moveDeposit } from '../deposits/store.ts'
import { refuse } from '../http/refusal.ts'
import { recordLocked } from './record.ts'
import { liveTradeOf, type TradeRow } from './store.ts'
import { type TradeDeps, wakeAt } from './wake.ts'

/** How soon a cancel may be repeated while an offer is being sent. */
const BUSY_S = 3

export type Cancelled =
  /** It has ended, now or by an earlier cancel. */
  | 'ended'
  /** The offer is being cancelled on Steam; an event tells how that ends. */
  | 'under_way'

/** Undefined if the store has no such deposit. Refuses what cannot be cancelled any more, or not yet. */
export async function cancelDeposit(
  deps: TradeDeps,
  storeId: bigint,
  depositId: bigint,
): Promise<Cancelled | undefined> {
  return inTransaction(deps.db, async (tx) => {
    const deposit = await lockDeposit(tx, { id: depositId })
    if (deposit === undefined || deposit.store_id !== storeId) return undefined
    const live = await liveTradeOf(tx, depositId)
    switch (deposit.status) {
      case 'created':
        // What is said to Steam at this moment cannot be taken back before it is answered.
        if (live !== undefined) return refuse('deposit_busy', { retryAfterS: BUSY_S })
        return end(deps, tx, deposit)
      case 'pending':
        if (live === undefined) return refuse('deposit_busy', { retryAfterS: BUSY_S })
        return cancelOffer(deps, tx, { deposit, row: live.row })
      case 'paymentTimeout':
        return deposit.cancelled_at === null ? refuse('not_cancellable') : 'ended'
      case 'tradeTimeout':
        return (await wasCancelled(tx, depositId)) ? 'ended' : refuse('not_cancellable')
      case 'succeeded':
      case 'tradeDeclined':
      case 'tradeCountered':
      case 'tradeHasInvalidItems':
        return refuse('not_cancellable')
      default:
        return deposit.status satisfies never
    }
  })
}

async function end(deps: TradeDeps, tx: Tx, deposit: DepositRow): Promise<Cancelled> {
  const to = await moveDeposit(tx, deposit, { kind: 'cancelled_by_store' })
  if (to === null) throw new Error(`deposit ${deposit.id} cannot be cancelled from ${deposit.status}`)
  const change = { cancelled_at: deps.clock.now() }
  await tx.updateTable('deposit').set(change).where('id', '=', deposit.id).execute()
  await tellTransition(deps, tx, { deposit, to })
  return 'ended'
}

type Standing = { deposit: DepositRow; row: TradeRow }

/** No lease is held here: the cancel is only begun. Its bot does it, and finds out whether the shopper was faster. */
async function cancelOffer(deps: TradeDeps, tx: Tx, { deposit, row }: Standing): Promise<Cancelled> {
  const now = deps.clock.now()
  const said = { deposit, source: { tradeId: row.id }, fact: { kind: 'store_cancels' }, now } as const
  const trade = (await recordLocked(deps, tx, said))?.trade
  if (trade?.state !== 'active' || trade.acceptedAt !== null) return refuse('not_cancellable')
  // One that is being cancelled already keeps its reason; the bot is woken all the same.
  await wakeAt(deps, tx, row, now)
  return 'under_way'
}

async function wasCancelled(tx: Tx, depositId: bigint): Promise<boolean> {
  const row = await tx
    .selectFrom('trade')
    .select('id')
    .where('deposit_id', '=', depositId)
    .where('reason', '=', 'cancelled_by_store')
    .executeTakeFirst()
  return row !== undefined
}
