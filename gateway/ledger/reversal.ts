/** The movements of a reversal between accounts, pure. Amounts are minor units. */
import { isStoreAccount, least, type Movement } from './entry.ts'

type Reversal = {
  /** The credit for the items that went back, and their worth before commission. */
  total: bigint
  gross: bigint
  /** How much of the trade is still held. */
  held: bigint
  liability: 'operator' | 'store'
}

/**
 * The items went back to their sender. Held credit covers them first. Credit that the store could already spend
 * becomes the operator's loss, or the store's debt. The commission of those items was never earned.
 */
export function reversalMovements({ total, gross, held, liability }: Reversal): Movement[] {
  if (total <= 0n || gross < total || held < 0n) {
    throw new RangeError(`a reversal of ${gross} cannot take back ${total}, ${held} of the trade held`)
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
export const chargedBy = (movements: readonly Movement[]): bigint =>
  movements.reduce(
    (sum, { cause, debit, amount }) => (cause === 'reversed' && isStoreAccount(debit) ? sum + amount : sum),
    0n,
  )
