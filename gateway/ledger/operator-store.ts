/** The rows of payouts, voided payouts and adjustments. All are append-only. */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Db, Tx } from '../db/client.ts'
import type { AdjustmentKind } from './entry.ts'

type Reference = { storeId: bigint; reference: string }
type Amount = { currency: Currency; amount: bigint }

export async function findPayout(tx: Tx, { storeId, reference }: Reference) {
  return tx
    .selectFrom('payout')
    .leftJoin('payout_void', 'payout_void.payout_id', 'payout.id')
    .select(['currency', 'amount', 'payout_void.created_at as voidedAt'])
    .where('store_id', '=', storeId)
    .where('reference', '=', reference)
    .executeTakeFirst()
}

/**
 * Writes the payout itself; the caller posts its movement. Undefined if the reference is taken, for example by a
 * simultaneous repetition of the call.
 */
export async function insertPayout(
  tx: Tx,
  { storeId, currency, amount, reference }: Reference & Amount,
  at: Date,
): Promise<bigint | undefined> {
  const row = await tx
    .insertInto('payout')
    .values({ store_id: storeId, currency, amount, reference, created_at: at })
    .onConflict((conflict) => conflict.columns(['store_id', 'reference']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

export type ListedPayout = {
  payoutId: bigint
  storeId: bigint
  currency: Currency
  amountMinor: bigint
  reference: string
  paidAt: Date
  voidedAt: Date | null
}

export type PayoutFilter = { storeId?: bigint | undefined; before?: bigint | undefined; limit: number }

const payouts = (db: Db | Tx) =>
  db
    .selectFrom('payout')
    .leftJoin('payout_void', 'payout_void.payout_id', 'payout.id')
    .select([
      'payout.id as payoutId',
      'store_id as storeId',
      'currency',
      'amount as amountMinor',
      'reference',
    ])
    .select(['payout.created_at as paidAt', 'payout_void.created_at as voidedAt'])

/** Newest first. */
export function selectPayouts(db: Db, { storeId, before, limit }: PayoutFilter): Promise<ListedPayout[]> {
  return payouts(db)
    .$if(storeId !== undefined, (query) => query.where('store_id', '=', storeId ?? 0n))
    .$if(before !== undefined, (query) => query.where('payout.id', '<', before ?? 0n))
    .orderBy('payout.id', 'desc')
    .limit(limit)
    .execute()
}

/** Locks the payout, so a second void of it waits for the first. */
export async function lockPayout(tx: Tx, payoutId: bigint): Promise<ListedPayout | undefined> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`payout ${payoutId}`}, 0))`.execute(tx)
  return payouts(tx).where('payout.id', '=', payoutId).executeTakeFirst()
}

export async function insertVoid(tx: Tx, payoutId: bigint, at: Date): Promise<void> {
  await tx.insertInto('payout_void').values({ payout_id: payoutId, created_at: at }).execute()
}

export function findAdjustment(tx: Tx, { storeId, reference }: Reference) {
  return tx
    .selectFrom('adjustment')
    .select(['id', 'kind', 'currency', 'amount'])
    .where('store_id', '=', storeId)
    .where('reference', '=', reference)
    .executeTakeFirst()
}

/** Undefined if the reference is taken, as in `insertPayout`. */
export async function insertAdjustment(
  tx: Tx,
  { storeId, currency, amount, reference, kind }: Reference & Amount & { kind: AdjustmentKind },
  at: Date,
): Promise<bigint | undefined> {
  const row = await tx
    .insertInto('adjustment')
    .values({ store_id: storeId, currency, kind, amount, reference, created_at: at })
    .onConflict((conflict) => conflict.columns(['store_id', 'reference']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id
}
