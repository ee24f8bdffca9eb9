/** Payouts of an operator to a store: whether one may be recorded, and the movements that record and void it. */
import type { Currency } from '../../contract/money.ts'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import { payoutMovements, voidMovements } from './entry.ts'
import { findPayout, insertPayout, insertVoid, type ListedPayout, lockPayout } from './operator-store.ts'
import { lockAvailable, post } from './store.ts'

export type Payout = { storeId: bigint; currency: Currency; amount: bigint; reference: string }

export type RecordedPayout = { currency: Currency; amount: bigint; voidedAt: Date | null }

export type PayoutAnswer =
  | { kind: 'recorded' }
  /** The same payout is already recorded under this reference. */
  | { kind: 'known' }
  /** Another payout, or a voided one, is recorded under this reference. */
  | { kind: 'refused'; reason: 'other_payout'; recorded: RecordedPayout }
  | { kind: 'refused'; reason: 'not_available'; availableMinor: bigint }

type Situation = {
  /** The payout recorded under this reference. */
  recorded: RecordedPayout | undefined
  availableMinor: bigint
}

/**
 * Refuses the reference of a different or voided payout, and a payout above the available balance. Returns undefined if
 * the payout may be recorded.
 */
export function judgePayout(
  payout: Payout,
  { recorded, availableMinor }: Situation,
): PayoutAnswer | undefined {
  const { currency, amount } = payout
  if (recorded !== undefined) {
    const isSame = recorded.currency === currency && recorded.amount === amount && recorded.voidedAt === null
    return isSame ? { kind: 'known' } : { kind: 'refused', reason: 'other_payout', recorded }
  }
  if (availableMinor >= amount) return undefined
  return { kind: 'refused', reason: 'not_available', availableMinor }
}

/** Payouts of one store and currency wait for each other. */
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
    // The lock covers one currency only. A concurrent call used the reference first, so its payout is found now.
    if (payoutId === undefined) return recordPayout({ db: tx, clock }, payout)
    await post(tx, { storeId, currency, payoutId, movements: payoutMovements(amount), at })
    return { kind: 'recorded' }
  })
}

export type VoidAnswer =
  | { kind: 'voided'; payout: ListedPayout }
  /** The payout was voided before. */
  | { kind: 'known'; payout: ListedPayout }
  | { kind: 'unknown' }

/** Voids a payout that did not happen: the store can spend its amount again. */
export async function voidPayout(
  { tx, clock }: { tx: Tx; clock: Clock },
  payoutId: bigint,
): Promise<VoidAnswer> {
  const payout = await lockPayout(tx, payoutId)
  if (payout === undefined) return { kind: 'unknown' }
  if (payout.voidedAt !== null) return { kind: 'known', payout }
  const { storeId, currency, amountMinor } = payout
  // Every payout locks this balance before its posting too, so a payout and a void cannot deadlock.
  await lockAvailable(tx, { storeId, currency })
  const at = clock.now()
  await insertVoid(tx, payoutId, at)
  await post(tx, { storeId, currency, payoutId, movements: voidMovements(amountMinor), at })
  return { kind: 'voided', payout: { ...payout, voidedAt: at } }
}
