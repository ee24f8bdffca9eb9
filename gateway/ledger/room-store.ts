/** How much of a store's limit for credit at risk is taken: a row of the store, kept in the commit of its cause. */
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction, Overtaken } from '../db/transaction.ts'
import type { RoomChange } from '../trades/room.ts'

export type RoomOf = { storeId: bigint; tradeId: bigint; quoteId: string }

/**
 * Returns what the store's limit leaves for credit before Steam's protection ends, in the currency of the rate. It is
 * another a moment later, unless the caller made others wait.
 */
export async function riskRoom(
  tx: Tx,
  { storeId, rateId }: { storeId: bigint; rateId: bigint },
): Promise<bigint> {
  const { rows } = await sql<{ room: bigint }>`
    select floor((risk_limit_usd_cents - coalesce(
        (select usd_cents from credit_at_risk where store_id = store.id), 0)) * per_usd)::bigint as room
    from store, exchange_rate where store.id = ${storeId} and exchange_rate.id = ${rateId}`.execute(tx)
  return rows[0]?.room ?? 0n
}

/** Throws `Overtaken` where the limit does not leave as much any more. */
export async function changeRoom(tx: Tx, of: RoomOf, change: RoomChange): Promise<void> {
  const { held, lost, limitUsdCents: limit } = change
  const { before, now } = held
  if (lost !== null) await changeLost(tx, of, lost)
  if (now > before) return take(tx, of, { before, now, limit })
  if (now === before) return
  await sql`
    update credit_at_risk set usd_cents = usd_cents + ${centsSql(of.quoteId, { before, now })}
    where store_id = ${of.storeId}`.execute(tx)
}

async function take(
  tx: Tx,
  { storeId, quoteId }: RoomOf,
  { before, now, limit }: RoomChange['held'] & { limit: bigint | null },
): Promise<void> {
  const { rows } = await sql`
    insert into credit_at_risk as taken (store_id, usd_cents)
    values (${storeId}, ${centsSql(quoteId, { before, now })})
    on conflict (store_id) do update set usd_cents = taken.usd_cents + excluded.usd_cents
      where ${limit}::bigint is null or taken.usd_cents + excluded.usd_cents <= ${limit}
    returning store_id`.execute(tx)
  if (rows.length === 0) throw new Overtaken(`store ${storeId} has less room than was seen`)
}

/** Each amount is rounded up on its own, so what was taken for it is given back to the cent. */
const centsSql = (quoteId: string, { before, now }: RoomChange['held']) => sql<bigint>`
  (select (ceil(${now}::bigint / per_usd) - ceil(${before}::bigint / per_usd))::bigint
    from quote join exchange_rate on exchange_rate.id = rate_id where quote.id = ${quoteId})`

async function changeLost(
  tx: Tx,
  { storeId, tradeId, quoteId }: RoomOf,
  { amount, until }: NonNullable<RoomChange['lost']>,
): Promise<void> {
  const gone = await tx
    .deleteFrom('lost_credit')
    .where('trade_id', '=', tradeId)
    .returning('usd_cents')
    .executeTakeFirst()
  const { rows } = await sql<{ usd_cents: bigint }>`
    insert into lost_credit (trade_id, store_id, usd_cents, until)
    select ${tradeId}, ${storeId}, ${centsSql(quoteId, { before: 0n, now: amount })}, ${until} where ${amount}::bigint > 0
    returning usd_cents`.execute(tx)
  const by = (rows[0]?.usd_cents ?? 0n) - (gone?.usd_cents ?? 0n)
  if (by !== 0n) await add(tx, storeId, by)
}

/** A store that waits for every release has no row until something that was never protected is taken back. */
const add = (tx: Tx, storeId: bigint, usdCents: bigint) =>
  sql`
    insert into credit_at_risk as taken (store_id, usd_cents) values (${storeId}, greatest(${usdCents}::bigint, 0))
    on conflict (store_id) do update set usd_cents = taken.usd_cents + ${usdCents}`.execute(tx)

/** Gives back the room of up to `most` reversals whose time is over. Resolves to how many. */
export function giveBackLost(db: Db, now: Date, most: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    const over = await tx
      .selectFrom('lost_credit')
      .select('trade_id')
      .where('until', '<=', now)
      .orderBy('until')
      .limit(most)
      .execute()
    return forget(
      tx,
      over.map((row) => row.trade_id),
      now,
    )
  })
}

/** Gives back the room that reversals took of a store's limit. Returns how many trades had taken some. */
export async function freeLostRoom(tx: Tx, storeId: bigint): Promise<number> {
  const lost = await tx.selectFrom('lost_credit').select('trade_id').where('store_id', '=', storeId).execute()
  return forget(
    tx,
    lost.map((row) => row.trade_id),
  )
}

/** The trades are locked first, as a reversal of one does: it may have put off the end of its time. */
async function forget(tx: Tx, tradeIds: readonly bigint[], overBy: Date | null = null): Promise<number> {
  if (tradeIds.length === 0) return 0
  await sql`
    select from trade where id = any(${tradeIds.map(String)}::bigint[]) order by id for update`.execute(tx)
  const { rows } = await sql<{ storeId: bigint; usdCents: bigint; trades: number }>`
    with gone as (
      delete from lost_credit where trade_id = any(${tradeIds.map(String)}::bigint[])
        and (${overBy}::timestamptz is null or until <= ${overBy}) returning *
    ),
    freed as (update trade set at_risk_amount = 0 from gone where trade.id = gone.trade_id)
    select store_id as "storeId", sum(usd_cents)::bigint as "usdCents", count(*)::int as trades
    from gone group by store_id order by store_id`.execute(tx)
  for (const { storeId, usdCents } of rows) await add(tx, storeId, -usdCents)
  return rows.reduce((sum, { trades }) => sum + trades, 0)
}
