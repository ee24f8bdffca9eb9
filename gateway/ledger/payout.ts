import type { Currency } from '../../contract/money.ts'
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'

export type Payout = { storeId: bigint; currency: Currency; amount: bigint; reference: string }

export type PayoutAnswer =
  | { kind: 'recorded' }
  /** The same payout is recorded under this reference already. */
  | { kind: 'known' }
  | { kind: 'refused'; reason: string }

/** Writes down what the operator paid out to a store. Never more than the store has available. */
export async function recordPayout(
  { db, clock }: { db: Db; clock: Clock },
  payout: Payout,
): Promise<PayoutAnswer> {
  const { storeId, currency, amount, reference } = payout
  return inTransaction(db, async (tx): Promise<PayoutAnswer> => {
    const available = await tx
      .selectFrom('account')
      .select(['id', 'balance'])
      .where('store_id', '=', storeId)
      .where('kind', '=', 'available')
      .where('currency', '=', currency)
      .forUpdate()
      .executeTakeFirst()
    const known = await tx
      .selectFrom('payout')
      .select(['currency', 'amount'])
      .where('store_id', '=', storeId)
      .where('reference', '=', reference)
      .executeTakeFirst()
    if (known !== undefined) {
      const same = known.currency === currency && known.amount === amount
      return same
        ? { kind: 'known' }
        : { kind: 'refused', reason: `${reference} is another payout of ${known.amount} ${known.currency}` }
    }
    if (available === undefined || available.balance < amount) {
      return { kind: 'refused', reason: `the store has ${available?.balance ?? 0n} ${currency} available` }
    }
    const at = clock.now()
    const { id: payoutId } = await tx
      .insertInto('payout')
      .values({ store_id: storeId, currency, amount, reference, created_at: at })
      .returning('id')
      .executeTakeFirstOrThrow()
    await tx
      .insertInto('account')
      .values({ store_id: null, kind: 'paid_out', currency, floor: null })
      .onConflict((conflict) => conflict.columns(['store_id', 'kind', 'currency']).doNothing())
      .execute()
    const paidOut = await tx
      .selectFrom('account')
      .select('id')
      .where('store_id', 'is', null)
      .where('kind', '=', 'paid_out')
      .where('currency', '=', currency)
      .executeTakeFirstOrThrow()
    await tx
      .insertInto('ledger_entry')
      .values({
        debit_account: available.id,
        credit_account: paidOut.id,
        amount,
        currency,
        cause: 'paid_out',
        trade_id: null,
        quote_id: null,
        rate_id: null,
        payout_id: payoutId,
        created_at: at,
      })
      .execute()
    for (const [id, by] of [[available.id, -amount] as const, [paidOut.id, amount] as const]) {
      await tx
        .updateTable('account')
        .set((eb) => ({ balance: eb('balance', '+', by) }))
        .where('id', '=', id)
        .execute()
    }
    return { kind: 'recorded' }
  })
}
