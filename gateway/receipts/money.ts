/**
 * How much of a deposit's credit the shopper can spend, how much is held, and how that changed. Pure. Amounts are minor
 * units.
 */
import type { DepositEventType } from '../../contract/event-types.ts'

export type Credit = {
  /** Null until the deposit has succeeded. */
  amount: number | null
  heldAmount: number
  reversedAmount: number
}

/**
 * The state of the credit of a deposit that has succeeded. `credited`: the shopper can spend all of it. `restHeld`,
 * `restPartlyHeld`: a part was taken back, and the rest is held in full or in part. `partlyReversed`: a part was taken
 * back, and the rest can be spent.
 */
export type CreditState =
  | 'credited'
  | 'held'
  | 'partlyHeld'
  | 'partlyReversed'
  | 'restHeld'
  | 'restPartlyHeld'
  | 'reversed'

/** `nowAmount`: what the shopper can spend, which excludes the held and the reversed part. */
export type Split = { state: CreditState; nowAmount: number }

/** Returns null for a deposit without a credit: it is open, or it ended without the items. */
export function splitOf({ amount, heldAmount, reversedAmount }: Credit): Split | null {
  if (amount === null) return null
  const nowAmount = Math.max(0, amount - heldAmount - reversedAmount)
  if (reversedAmount >= amount && amount > 0) return { state: 'reversed', nowAmount }
  const [all, some, none] = reversedAmount > 0 ? AFTER_REVERSAL : UNTOUCHED
  if (heldAmount === 0) return { state: none, nowAmount }
  return { state: nowAmount === 0 ? all : some, nowAmount }
}

/** The states by how much of the remaining credit is held. */
type ByHeld = readonly [all: CreditState, some: CreditState, none: CreditState]

const UNTOUCHED: ByHeld = ['held', 'partlyHeld', 'credited']
const AFTER_REVERSAL: ByHeld = ['restHeld', 'restPartlyHeld', 'partlyReversed']

/** An event of the deposit's log, with the credit after it. */
export type LoggedEvent = { type: DepositEventType; at: string; credit: Credit }

/**
 * A step in the life of a deposit. `amount`: what arrived, was released or was taken back; null for any other step.
 * `held`: the part of what arrived that is held.
 */
export type Step = { kind: 'opened' | DepositEventType; at: string; amount: number | null; held: number }

export function historyOf(createdAt: string, events: readonly LoggedEvent[]): Step[] {
  const steps: Step[] = [{ kind: 'opened', at: createdAt, amount: null, held: 0 }]
  let before: Credit = { amount: null, heldAmount: 0, reversedAmount: 0 }
  for (const { type, at, credit } of events) {
    steps.push({ kind: type, at, ...changeOf(type, before, credit) })
    before = credit
  }
  return steps
}

function changeOf(type: DepositEventType, before: Credit, after: Credit): Pick<Step, 'amount' | 'held'> {
  switch (type) {
    case 'deposit.succeeded':
    case 'deposit.amount_increased':
      return {
        amount: (after.amount ?? 0) - (before.amount ?? 0),
        held: Math.max(0, after.heldAmount - before.heldAmount),
      }
    case 'deposit.funds_available':
      return { amount: Math.max(0, before.heldAmount - after.heldAmount), held: 0 }
    case 'deposit.reversed':
      return { amount: after.reversedAmount - before.reversedAmount, held: 0 }
    case 'deposit.pending':
    case 'deposit.payment_timeout':
    case 'deposit.trade_timeout':
    case 'deposit.trade_declined':
    case 'deposit.trade_countered':
    case 'deposit.trade_has_invalid_items':
      return { amount: null, held: 0 }
    default:
      return type satisfies never
  }
}
