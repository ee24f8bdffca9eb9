/** How much of a store's limit for credit at risk is taken: a row of the store, kept in the commit of its cause. */
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { RoomChange } from '../trades/room.ts'

/** `seen`: what a delivery found when it decided; undefined for what has happened whatever the limit. */
export type RoomOf = { storeId: bigint; tradeId: bigint; rateId: bigint; seen: SeenRoom | undefined }

/** `own`: promised to the trade itself, in its minor units. */
export type SeenRoom = { promisedUsdCents: bigint; othersUsdCents: bigint; own: bigint }

/** Until the transaction ends, nobody else changes how much of the store's limit is taken or promised. */
export async function lockRoom(tx: Tx, storeId: bigint): Promise<void> {
  await sql`select from credit_at_risk where store_id = ${storeId} for no key update`.execute(tx)
}

/**
 * A statement that gives room back, or takes it. It fails as overtaken where the limit does not leave as much any more, or
 * others were promised some of it meanwhile: then the transaction begins again. Undefined where nothing changes.
 */
export function roomChangeSql(
  { storeId, rateId, seen }: RoomOf,
  { held, limitUsdCents: limit }: RoomChange,
): RawBuilder<unknown> | undefined {
  const { before, now } = held
  const cents = centsSql(rateId, held)
  if (now === before) return undefined
  if (now < before)
    return sql`update credit_at_risk set usd_cents = usd_cents + ${cents}
      where store_id = ${storeId} returning store_id`
  const free = sql`${limit}::bigint is null or (taken.usd_cents + excluded.usd_cents <= ${limit}::bigint
    and ${seen === undefined ? sql`true` : keepsPromises(seen, { now, limit })})`
  return sql`
    insert into credit_at_risk as taken (store_id, usd_cents) values (${storeId}, ${cents})
    on conflict (store_id) do update set usd_cents = case when ${free} then taken.usd_cents + excluded.usd_cents
      else overtaken(${`store ${storeId} has less room than was seen`}) end
    returning store_id`
}

/** A trade's own promise comes before those to others. All that was promised since may stand. */
function keepsPromises(
  { promisedUsdCents, othersUsdCents, own }: SeenRoom,
  { now, limit }: { now: bigint; limit: bigint | null },
): RawBuilder<unknown> {
  if (now <= own) return sql`true`
  return sql`(taken.promised_usd_cents = ${promisedUsdCents}
    or taken.usd_cents + excluded.usd_cents + ${othersUsdCents} + taken.promised_usd_cents - ${promisedUsdCents}
      <= ${limit}::bigint)`
}

/** Each amount is rounded up on its own, so what was taken for it is given back to the cent. */
const centsSql = (rateId: bigint, { before, now }: RoomChange['held']) => sql<bigint>`
  (select (ceil(${now}::bigint / per_usd) - ceil(${before}::bigint / per_usd))::bigint
    from exchange_rate where id = ${rateId})`

/** Writes what reversals of the trade have lost in all. */
export async function changeLost(
  tx: Tx,
  { storeId, tradeId, rateId }: RoomOf,
  { amount, until }: NonNullable<RoomChange['lost']>,
): Promise<void> {
  const gone = await tx
    .deleteFrom('lost_credit')
    .where('trade_id', '=', tradeId)
    .returning('usd_cents')
    .executeTakeFirst()
  const { rows } = await sql<{ usd_cents: bigint }>`
    insert into lost_credit (trade_id, store_id, usd_cents, until)
    select ${tradeId}, ${storeId}, ${centsSql(rateId, { before: 0n, now: amount })}, ${until} where ${amount}::bigint > 0
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
