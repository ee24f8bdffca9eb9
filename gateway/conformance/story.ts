/** The life of an invented deposit, event by event, as a till would report it. */
import { randomUUID } from 'node:crypto'
import { type DepositEventType, EPOCH_TYPE, type EventType } from '../../contract/event-types.ts'
import type { StoreDeposit } from '../../contract/store-api.ts'
import type { WebhookEvent } from '../../contract/webhooks.ts'
import { AMOUNT_MINOR, type Change, withChange } from './invented.ts'

/** The part of the amount that is held, and what a later increase adds. */
const HELD_MINOR = 250
const INCREASE_MINOR = 500
const WEEK_MS = 7 * 86_400_000

type Step = (deposit: StoreDeposit, laterTypes: readonly EventType[], now: Date) => Change

const paid = ({ amount }: StoreDeposit) =>
  ({ status: 'succeeded', endReason: null, amount: amount ?? AMOUNT_MINOR }) as const

/** How each event changes the deposit. `laterTypes`: the types of the events after it. */
const STEPS: Record<DepositEventType, Step> = {
  'deposit.pending': () => ({ status: 'pending' }),
  // Money can become available later only if it was held.
  'deposit.succeeded': (deposit, laterTypes, now) => ({
    ...paid(deposit),
    ...(laterTypes.includes('deposit.funds_available') && {
      heldAmount: HELD_MINOR,
      heldUntil: new Date(now.getTime() + WEEK_MS).toISOString(),
    }),
  }),
  'deposit.amount_increased': (deposit) => ({
    ...paid(deposit),
    amount: paid(deposit).amount + INCREASE_MINOR,
  }),
  'deposit.funds_available': (deposit) => ({ ...paid(deposit), heldAmount: 0, heldUntil: null }),
  // The store bears the part that was held, the operator the rest.
  'deposit.reversed': (deposit) => ({
    ...paid(deposit),
    heldAmount: 0,
    heldUntil: null,
    reversedAmount: paid(deposit).amount,
    chargedAmount: deposit.heldAmount,
  }),
  'deposit.payment_timeout': () => ({ status: 'paymentTimeout', endReason: 'expired' }),
  'deposit.trade_timeout': () => ({ status: 'tradeTimeout', endReason: 'deadline' }),
  'deposit.trade_declined': () => ({ status: 'tradeDeclined', endReason: 'declined' }),
  'deposit.trade_countered': () => ({ status: 'tradeCountered', endReason: 'countered' }),
  'deposit.trade_has_invalid_items': () => ({ status: 'tradeHasInvalidItems', endReason: 'invalid_items' }),
}

type Setting = {
  deposit: StoreDeposit
  /** The first event has the number after this one. */
  afterSequence: number
  now: Date
}

/** Makes one event for each entry of `types`, in this order. The deposit events are all of one deposit. */
export function storyOf(
  types: readonly EventType[],
  { deposit, afterSequence, now }: Setting,
): WebhookEvent[] {
  const timestamp = now.toISOString()
  let current = deposit
  return types.map((type, index) => {
    const sequence = afterSequence + index + 1
    const envelope = { id: randomUUID(), timestamp, sequence }
    if (type === EPOCH_TYPE) return { ...envelope, type, data: { epoch: 2, previousSequence: sequence - 1 } }
    current = { ...withChange(current, STEPS[type](current, types.slice(index + 1), now)), sequence }
    return { ...envelope, type, data: current }
  })
}
