/** Adjustments: money that an operator gives a store or takes from it, apart from deposits and payouts. */
import type { Currency } from '../../contract/money.ts'
import type { Tx } from '../db/client.ts'
import type { Clock } from '../kit/clock.ts'
import { type AdjustmentKind, adjustmentMovements } from './entry.ts'
import { findAdjustment, insertAdjustment } from './operator-store.ts'
import { lockAvailable, post } from './store.ts'

export type Adjustment = {
  storeId: bigint
  currency: Currency
  kind: AdjustmentKind
  amount: bigint
  /** The operator's reference, unique among a store's adjustments. */
  reference: string
  /** True if a debit may leave the store in debt. */
  mayOwe: boolean
}

type RecordedAdjustment = { id: bigint; kind: AdjustmentKind; currency: Currency; amount: bigint }

export type AdjustmentAnswer =
  | { kind: 'recorded'; id: bigint }
  /** The same adjustment is already recorded under this reference. */
  | { kind: 'known'; id: bigint }
  /** Another adjustment is recorded under this reference. */
  | { kind: 'refused'; reason: 'other_adjustment' }
  /** A debit takes more than is available, or a write-off cancels more than the store owes. */
  | { kind: 'refused'; reason: 'not_available' | 'no_debt'; availableMinor: bigint }

type Situation = { recorded: RecordedAdjustment | undefined; availableMinor: bigint }

/**
 * Returns undefined if the adjustment may be recorded. A debit takes at most the balance, unless the store may owe. A
 * write-off cancels at most the debt.
 */
export function judgeAdjustment(
  { kind, currency, amount, mayOwe }: Adjustment,
  { recorded, availableMinor }: Situation,
): AdjustmentAnswer | undefined {
  if (recorded !== undefined) {
    const isSame = recorded.kind === kind && recorded.currency === currency && recorded.amount === amount
    return isSame ? { kind: 'known', id: recorded.id } : { kind: 'refused', reason: 'other_adjustment' }
  }
  if (kind === 'debit' && !mayOwe && availableMinor < amount) {
    return { kind: 'refused', reason: 'not_available', availableMinor }
  }
  if (kind === 'write_off' && -availableMinor < amount) {
    return { kind: 'refused', reason: 'no_debt', availableMinor }
  }
  return undefined
}

/** Adjustments and payouts of one store and currency wait for each other. */
export async function recordAdjustment(
  { tx, clock }: { tx: Tx; clock: Clock },
  adjustment: Adjustment,
): Promise<AdjustmentAnswer> {
  const { storeId, currency, kind, amount, mayOwe } = adjustment
  const availableMinor = await lockAvailable(tx, { storeId, currency })
  const recorded = await findAdjustment(tx, adjustment)
  const answer = judgeAdjustment(adjustment, { recorded, availableMinor })
  if (answer !== undefined) return answer
  const at = clock.now()
  const adjustmentId = await insertAdjustment(tx, adjustment, at)
  // The lock covers one currency only. A concurrent call used the reference first, so its adjustment is found now.
  if (adjustmentId === undefined) return recordAdjustment({ tx, clock }, adjustment)
  const movements = adjustmentMovements(kind, amount)
  await post(tx, { storeId, currency, adjustmentId, movements, mayOwe: kind === 'debit' && mayOwe, at })
  return { kind: 'recorded', id: adjustmentId }
}
