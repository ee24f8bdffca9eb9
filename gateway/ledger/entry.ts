/** Double entry, pure: what a cause moves between accounts. Amounts are minor units, always positive. */
import type { AccountKind, EntryCause } from '../db/schema.ts'

type StoreAccount = Extract<AccountKind, 'held' | 'available'>

export type Movement = {
  debit: AccountKind
  credit: AccountKind
  amount: bigint
  cause: EntryCause
}

/** Accounts that belong to a store; all others are the operator's. */
export function isStoreAccount(kind: AccountKind): kind is StoreAccount {
  return kind === 'held' || kind === 'available'
}

type Delivery = { total: bigint; gross: bigint; held: bigint }

/**
 * A delivery pays the store `total`, of which `held` cannot be spent yet, and the operator the commission,
 * the rest of `gross`.
 */
export function deliveryMovements({ total, gross, held }: Delivery): Movement[] {
  if (total <= 0n || gross < total || held < 0n || held > total) {
    throw new RangeError(`a delivery of ${gross} cannot pay ${total}, ${held} of it held`)
  }
  const movements: Movement[] = [
    { debit: 'items', credit: 'held', amount: held, cause: 'delivered' },
    { debit: 'items', credit: 'available', amount: total - held, cause: 'delivered' },
    { debit: 'items', credit: 'commission', amount: gross - total, cause: 'commission' },
  ]
  return movements.filter((movement) => movement.amount > 0n)
}

/** Steam can no longer take the trade back: what was held may be spent. */
export function releaseMovements(held: bigint): Movement[] {
  return held > 0n ? [{ debit: 'held', credit: 'available', amount: held, cause: 'released' }] : []
}

/** The operator paid a store: what it could spend leaves the till. */
export function payoutMovements(amount: bigint): Movement[] {
  if (amount <= 0n) throw new RangeError(`a payout of ${amount} moves nothing`)
  return [{ debit: 'available', credit: 'paid_out', amount, cause: 'paid_out' }]
}

type Credit = {
  total: bigint
  /** True while Steam's trade protection lets the sender take the items back. */
  isProtected: boolean
  mode: 'on_accept' | 'on_release'
  /** How much the store may still be credited at the operator's risk, in the trade's currency. */
  riskRoom: bigint
}

/** The smaller of two amounts; Math.min takes no bigint. */
export function least(some: bigint, other: bigint): bigint {
  if (some < other) return some
  return other
}

/** The part of a delivery that is held. */
export function heldPart({ total, isProtected, mode, riskRoom }: Credit): bigint {
  if (!isProtected) return 0n
  if (mode === 'on_release') return total
  const room = riskRoom > 0n ? riskRoom : 0n
  return total > room ? total - room : 0n
}
