/** Payouts of an operator to a store: whether one may be recorded, and the movement that records it. */
import type { Currency } from '../../contract/money.ts'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import { payoutMovements, voidMovements } from './entry.ts'
import { findPayout, insertPayout, insertVoid, type ListedPayout, lockPayout } from './operator-store.ts'
import { lockAvailable, post } from './store.ts'

export type Payout = { storeId: bigint; currency: Currency; amount: bigint; reference: string }

/** A payout that is in the ledger already. */
export type RecordedPayout = { currency: Currency; amount: bigint; voidedAt: Date | null }

export type PayoutAnswer =
  | { kind: 'recorded' }
  /** The same payout is recorded under this reference already. */
  | { kind: 'known' }
  | { kind: 'refused'; because: 'other_payout'; recorded: RecordedPayout }
  | { kind: 'refused'; because: 'not_available'; availableMinor: bigint }

type Books = {
  /** The payout that is recorded under the same reference. */
  recorded: RecordedPayout | undefined
  availableMinor: bigint
}

/** A reference counts once, and a store is never paid more than it has available. Undefined: it may be recorded. */
export function judgePayout(payout: Payout, { recorded, availableMinor }: Books): PayoutAnswer | undefined {
  const { currency, amount } = payout
  if (recorded !== undefined) {
    const isSame = recorded.currency === currency && recorded.amount === amount && recorded.voidedAt === null
    return isSame ? { kind: 'known' } : { kind: 'refused', because: 'other_payout', recorded }
  }
  if (availableMinor >= amount) return undefined
  return { kind: 'refused', because: 'not_available', availableMinor }
}

/** Records what the operator paid out to a store. Payouts of one store and currency wait for each other. */
export async function recordPayout(
  { db, clock }: { db: Db | Tx; clock: Clock },
  payout: Payout,
): Promise<PayoutAnswer> {
  const { storeId, currency, amount } = payout
  return inTransaction(db, async (tx): Promise<PayoutAnswer> => {
    const availableMinor = await lockAvailable(tx, { storeId, currency })
    const answer = judgePayout(payout, { recorded: await findPayout(tx, payout), availableMinor })
    if (answer !== undefined) return answer
    const at = clock.now()
    const payoutId = await insertPayout(tx, payout, at)
    // The lock is of one currency. Another tab was first with the reference, so it is found now.
    if (payoutId === undefined) return recordPayout({ db: tx, clock }, payout)
    await post(tx, { storeId, currency, payoutId, movements: payoutMovements(amount), at })
    return { kind: 'recorded' }
  })
}

export type VoidAnswer =
  | { kind: 'voided'; payout: ListedPayout }
  | { kind: 'known'; payout: ListedPayout }
  | { kind: 'unknown' }

/** Takes a payout back that never was: the store can spend its amount again. */
export async function voidPayout(
  { tx, clock }: { tx: Tx; clock: Clock },
  payoutId: bigint,
): Promise<VoidAnswer> {
  const found = await lockPayout(tx, payoutId)
  if (found === undefined) return { kind: 'unknown' }
  if (found.voidedAt !== null) return { kind: 'known', payout: found }
  const { storeId, currency, amountMinor } = found
  const at = clock.now()
  await insertVoid(tx, payoutId, at)
  await post(tx, { storeId, currency, payoutId, movements: voidMovements(amountMinor), at })
  return { kind: 'voided', payout: { ...found, voidedAt: at } }
}
