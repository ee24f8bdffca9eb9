/** Credits each deposit once, even if events arrive twice, late or out of order. You choose where to keep the state. */
import type { Till } from './client.ts'
import type { Deposit } from './types.ts'
import { isOfDeposit, type Webhook } from './webhook.ts'

/**
 * The part of a deposit that you keep: the `sequence` of its last event, and how much of it is in the customer's
 * balance. Save it in the transaction that changes the balance.
 */
export type Kept = { sequence: number; spendable: number }

export type Settled = {
  kept: Kept
  /** Add this to the balance of the customer, in minor units of the deposit's currency. It may be negative. */
  change: number
}

export type CreditStore = {
  /**
   * Runs `decide` with the saved state of the deposit, and saves the result in the same transaction. If the result is
   * undefined, nothing changes. Until the transaction has ended, no other call may read this state, even if nothing is
   * saved yet: a lock on a missing row stops nobody, and two simultaneous events of a new deposit would both be
   * credited. So save a row (`sequence` and `spendable` 0) before you lock it, or lock more than the row.
   */
  update(deposit: Deposit, decide: (before: Kept | undefined) => Settled | undefined): Promise<void> | void
  /** `sequence` of the last event read from the log; 0 at first. */
  cursor(): Promise<number> | number
  saveCursor(sequence: number): Promise<void> | void
}

/** Returns the balance change at an event with this sequence. Undefined if it or a later one was processed. */
export function settle(before: Kept | undefined, deposit: Deposit, sequence: number): Settled | undefined {
  if (before !== undefined && before.sequence >= sequence) return undefined
  const { amount, reversedAmount, heldAmount } = deposit
  // A restored till that lost the payment reports a credited deposit as unpaid. The customer has given the items.
  const spendable = amount === null ? (before?.spendable ?? 0) : amount - reversedAmount - heldAmount
  return { kept: { sequence, spendable }, change: spendable - (before?.spendable ?? 0) }
}

/** Books an event from a webhook or the log. Answer 2xx only after this has resolved. */
export async function takeOnce(store: Pick<CreditStore, 'update'>, event: Webhook): Promise<void> {
  if (!isOfDeposit(event)) return
  const { data, sequence } = event
  await store.update(data, (before) => settle(before, data, sequence))
}

/** Books the log's events that no webhook delivered. Run it at the start and every few minutes. `signal` ends it. */
export async function catchUp(
  till: Pick<Till, 'events'>,
  store: CreditStore,
  { signal }: { signal?: AbortSignal } = {},
): Promise<void> {
  const after = await store.cursor()
  for await (const event of till.events({ after, ...(signal && { signal }) })) {
    await takeOnce(store, event)
    // Saved after the event. If the process ends in between, the event is booked again and changes nothing.
    await store.saveCursor(event.sequence)
  }
}
