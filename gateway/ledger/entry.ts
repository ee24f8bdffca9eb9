/**
 * Double entry, pure: the movements between accounts (`reversal.ts` has those of a reversal), and how much of a credit
 * is held. Amounts are minor units.
 */
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
 * A delivery pays the store `total`, of which `held` cannot be spent yet. The rest of `gross` is the operator's
 * commission.
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

/** Protection ended, or an operator released the credit: held credit becomes available. */
export function releaseMovements(held: bigint): Movement[] {
  return held > 0n ? [{ debit: 'held', credit: 'available', amount: held, cause: 'released' }] : []
}

/** The operator paid a store: available credit leaves the till. */
export function payoutMovements(amount: bigint): Movement[] {
  if (amount <= 0n) throw new RangeError(`a payout of ${amount} moves nothing`)
  return [{ debit: 'available', credit: 'paid_out', amount, cause: 'paid_out' }]
}

/** A payout did not happen: the store can spend its amount again. */
export function voidMovements(amount: bigint): Movement[] {
  return [{ debit: 'paid_out', credit: 'available', amount, cause: 'payout_voided' }]
}

/** `credit` gives a store money, and `debit` takes some. `write_off` cancels its debt, at the operator's loss. */
export type AdjustmentKind = 'credit' | 'debit' | 'write_off'

export function adjustmentMovements(kind: AdjustmentKind, amount: bigint): Movement[] {
  if (amount <= 0n) throw new RangeError(`an adjustment of ${amount} moves nothing`)
  switch (kind) {
    case 'credit':
      return [{ debit: 'adjustments', credit: 'available', amount, cause: 'adjusted' }]
    case 'debit':
      return [{ debit: 'available', credit: 'adjustments', amount, cause: 'adjusted' }]
    case 'write_off':
      return [{ debit: 'loss', credit: 'available', amount, cause: 'written_off' }]
    default:
      return kind satisfies never
  }
}

type Mode = 'on_accept' | 'on_release'

export function mostCareful(modes: readonly (Mode | null)[]): Mode {
  return modes.includes('on_release') ? 'on_release' : 'on_accept'
}

type Credit = {
  total: bigint
  /** True while Steam's trade protection lets the sender take the items back. */
  isProtected: boolean
  mode: Mode
  /** How much the store may still be credited before protection ends, in the trade's currency. */
  riskRoom: bigint
}

/** The smaller of two amounts; Math.min does not accept a bigint. */
export function least(first: bigint, second: bigint): bigint {
  if (first < second) return first
  return second
}

export function heldPart({ total, isProtected, mode, riskRoom }: Credit): bigint {
  if (!isProtected) return 0n
  if (mode === 'on_release') return total
  const room = riskRoom > 0n ? riskRoom : 0n
  return total > room ? total - room : 0n
}

/**
 * The part of a credit that is promised before the trade, because it would not be held if the items were delivered now.
 * A partial promise is rounded down to a step. So it does not reveal the store's remaining limit, and most small
 * changes of the limit do not change the promise.
 */
export function promisedPart(credit: Credit): bigint {
  const atOnce = credit.total - heldPart(credit)
  return atOnce === credit.total ? atOnce : stepBelow(atOnce)
}

/** The largest of 1, 2, 5, 10, 20, 50, 100 … that is not above the amount. */
function stepBelow(amount: bigint): bigint {
  if (amount <= 0n) return 0n
  const decade = 10n ** BigInt(String(amount).length - 1)
  const leading = amount / decade
  if (leading >= 5n) return 5n * decade
  return leading >= 2n ? 2n * decade : decade
}

/**
 * `freeMinor`: the limit minus credit at risk. `ownPromiseMinor`: the amount promised to this trade.
 * `otherPromisesMinor`: the amount promised to other open trades.
 */
export type Room = { freeMinor: bigint; ownPromiseMinor: bigint; otherPromisesMinor: bigint }

/** How much a trade may be credited at risk. Its own promise comes first, then those to other trades. */
export function roomFor({ freeMinor, ownPromiseMinor, otherPromisesMinor }: Room): bigint {
  const reserved = least(ownPromiseMinor, freeMinor)
  return freeMinor - least(otherPromisesMinor, freeMinor - reserved)
}
