/** Promises to shoppers with open offers: each keeps room in its store's limit. */
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import type { CreditMode } from '../db/trade-tables.ts'

/** Promises and deliveries of one store wait for each other, until the transaction ends. */
export async function lockPromises(tx: Tx, storeId: bigint): Promise<void> {
  const store = String(storeId)
  await sql`select pg_advisory_xact_lock(hashtext('credit at risk'), ${store}::bigint::int)`.execute(tx)
}

/** In the currency of the rate, beside the trade. `mode`: how the store is credited. */
export async function readPromises(
  db: Db | Tx,
  { storeId, rateId, tradeId }: { storeId: bigint; rateId: bigint; tradeId: bigint },
): Promise<{ mode: CreditMode; others: bigint }> {
  const { rows } = await sql<{ mode: CreditMode; others: bigint }>`
    select store.credit_mode as mode, ceil(coalesce((
      select sum(ceil(trade.promised_amount / rate.per_usd))
      from deposit
      join trade on trade.deposit_id = deposit.id and trade.promised_amount > 0
        and trade.state in ('intended', 'sending', 'unknown', 'active')
      join quote on quote.id = trade.quote_id
      join exchange_rate rate on rate.id = quote.rate_id
      where deposit.store_id = store.id and trade.id <> ${tradeId}
    ), 0) * own.per_usd)::bigint as others
    from store, exchange_rate own
    where store.id = ${storeId} and own.id = ${rateId}`.execute(db)
  return rows[0] ?? { mode: 'on_release', others: 0n }
}
