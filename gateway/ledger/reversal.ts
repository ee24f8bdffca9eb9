/** The movements between accounts that a reversal causes. Pure. Amounts are minor units. */
import { isStoreAccount, least, type Movement } from './entry.ts'

type Reversal = {
  /** The credit for the items that went back. */
  total: bigint
  /** Their worth before commission. */
  gross: bigint
  /** How much of the trade's credit is still held. */
  held: bigint
  liability: 'operator' | 'store'
}

/**
 * The items went back to their sender. Held credit covers them first. Credit that the store could already spend
 * becomes the operator's loss, or is charged to the store. The commission of those items was never earned.
 */
export function reversalMovements({ total, gross, held, liability }: Reversal): Movement[] {
  if (total <= 0n || gross < total || held < 0n) {
    throw new RangeError(`not a reversal: total ${total}, gross ${gross}, held ${held}`)
  }
  const fromHeld = least(held, total)
  const movements: Movement[] = [
    { debit: 'held', credit: 'items', amount: fromHeld, cause: 'reversed' },
    {
      debit: liability === 'store' ? 'available' : 'loss',
      credit: 'items',
      amount: total - fromHeld,
      cause: 'reversed',
    },
    { debit: 'commission', credit: 'items', amount: gross - total, cause: 'commission_reversed' },
  ]
  return movements.filter((movement) => movement.amount > 0n)
}

/** The part of a reversal's movements that the store bears. */
export const chargedToStore = (movements: readonly Movement[]): bigint =>
  movements.reduce(
    (sum, { cause, debit, amount }) => (cause === 'reversed' && isStoreAccount(debit) ? sum + amount : sum),
    0n,
  )
