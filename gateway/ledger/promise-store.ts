/** Promises of credit for open trades. Each reserves a part of the store's limit for credit at risk. */
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import type { CreditMode } from '../db/trade-tables.ts'

export type StoreRoom = {
  /** The limit minus credit at risk, in the currency of the rate. */
  freeMinor: bigint
  /** Promised to other open trades, in the currency of the rate and in US cents. */
  otherPromisesMinor: bigint
  otherPromisesUsdCents: bigint
  /** The running total of the store's promises, which never falls, at the time of the read. */
  promisedUsdCents: bigint
}

type RoomQuery = { rateId: RawBuilder<unknown>; tradeId: bigint }

/** A subquery with one row, the columns of `StoreRoom`, for the row `store` of the surrounding query. */
export const roomSql = ({ rateId, tradeId }: RoomQuery): RawBuilder<StoreRoom> => sql`
  (select floor((store.risk_limit_usd_cents - coalesce(taken.usd_cents, 0)) * rate.per_usd)::bigint as "freeMinor",
    coalesce(taken.promised_usd_cents, 0) as "promisedUsdCents",
    promised.cents as "otherPromisesUsdCents", ceil(promised.cents * rate.per_usd)::bigint as "otherPromisesMinor"
  from exchange_rate rate left join credit_at_risk taken on taken.store_id = store.id
  cross join lateral (
    select coalesce(sum(ceil(trade.promised_amount / promised_rate.per_usd)), 0)::bigint as cents
    from deposit
    join trade on trade.deposit_id = deposit.id and trade.promised_amount > 0
      and trade.state in ('intended', 'sending', 'unknown', 'active')
    join quote promised_quote on promised_quote.id = trade.quote_id
    join exchange_rate promised_rate on promised_rate.id = promised_quote.rate_id
    where deposit.store_id = store.id and trade.id <> ${tradeId}
  ) promised
  where rate.id = ${rateId})`

/** No trade has this number. */
const NO_TRADE = 0n

/** Returns the room for a new trade of the store, and the store's credit mode. */
export async function readRoom(
  db: Db | Tx,
  { storeId, rateId }: { storeId: bigint; rateId: bigint },
): Promise<StoreRoom & { mode: CreditMode }> {
  const { rows } = await sql<StoreRoom & { mode: CreditMode }>`
    select store.credit_mode as mode, room.* from store, lateral ${roomSql({ rateId: sql`${rateId}`, tradeId: NO_TRADE })} room
    where store.id = ${storeId}`.execute(db)
  const [room] = rows
  if (room === undefined) throw new Error(`there is no store ${storeId}, or no rate ${rateId}`)
  return room
}

/**
 * Adds `total`, the most that a new trade can promise, to the running total of the store's promises. Other promises of
 * the store wait until the transaction ends. A delivery that read the earlier total decides again if the limit has no
 * room for both its credit and the new promise. Changes nothing for a store that is credited on release or has a limit
 * of 0.
 */
export async function reservePromise(
  tx: Tx,
  { storeId, rateId, total }: { storeId: bigint; rateId: bigint; total: bigint },
): Promise<void> {
  await sql`
    insert into credit_at_risk as taken (store_id, usd_cents, promised_usd_cents)
    select store.id, 0, ceil(${total}::bigint / per_usd) from store, exchange_rate
    where store.id = ${storeId} and exchange_rate.id = ${rateId}
      and credit_mode = 'on_accept' and risk_limit_usd_cents > 0
    on conflict (store_id) do update
    set promised_usd_cents = taken.promised_usd_cents + excluded.promised_usd_cents`.execute(tx)
}
