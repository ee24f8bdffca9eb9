/**
 * How much of a store's limit for credit at risk is used: at most one row of `credit_at_risk` for each store, updated
 * in the transaction of every change that takes or frees a part of the limit.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { RoomChange } from '../trades/room.ts'

/**
 * `seen`: what was read before the trade took its part of the limit; undefined for changes that the limit cannot stop.
 */
export type RoomKey = { storeId: bigint; tradeId: bigint; rateId: bigint; seen: SeenRoom | undefined }

/**
 * `promisedUsdCents`: the running total of the store's promises, which never falls. `otherPromisesUsdCents`: the amount
 * promised to the store's other open trades. `ownPromiseMinor`: the amount promised to the trade itself, in its
 * currency.
 */
export type SeenRoom = { promisedUsdCents: bigint; otherPromisesUsdCents: bigint; ownPromiseMinor: bigint }

/** Locks the store's used and promised amounts, if it has any, until the transaction ends. */
export async function lockRoom(tx: Tx, storeId: bigint): Promise<void> {
  await sql`select from credit_at_risk where store_id = ${storeId} for no key update`.execute(tx)
}

/**
 * A statement that frees or takes a part of the limit; undefined if nothing changes. If it takes more than is left, or
 * a part that was promised to other trades meanwhile, it fails with the error of `overtaken()`, and the transaction
 * starts again.
 */
export function roomChangeSql(
  { storeId, rateId, seen }: RoomKey,
  { exposed, limitUsdCents: limit }: RoomChange,
): RawBuilder<unknown> | undefined {
  const { before, now } = exposed
  const cents = centsSql(rateId, exposed)
  if (now === before) return undefined
  if (now < before)
    return sql`update credit_at_risk set usd_cents = usd_cents + ${cents}
      where store_id = ${storeId} returning store_id`
  const fits = sql`${limit}::bigint is null or (taken.usd_cents + excluded.usd_cents <= ${limit}::bigint
    and ${seen === undefined ? sql`true` : keepsPromises(seen, { now, limit })})`
  return sql`
    insert into credit_at_risk as taken (store_id, usd_cents) values (${storeId}, ${cents})
    on conflict (store_id) do update set usd_cents = case when ${fits} then taken.usd_cents + excluded.usd_cents
      else overtaken(${`store ${storeId} has less room than was seen`}) end
    returning store_id`
}

/**
 * True if the amount is within the trade's own promise, if no promise was added since, or if the new promises fit as
 * well.
 */
function keepsPromises(
  { promisedUsdCents, otherPromisesUsdCents, ownPromiseMinor }: SeenRoom,
  { now, limit }: { now: bigint; limit: bigint | null },
): RawBuilder<unknown> {
  if (now <= ownPromiseMinor) return sql`true`
  return sql`(taken.promised_usd_cents = ${promisedUsdCents}
    or taken.usd_cents + excluded.usd_cents + ${otherPromisesUsdCents} + taken.promised_usd_cents - ${promisedUsdCents}
      <= ${limit}::bigint)`
}

/** Each amount is rounded up separately, so exactly what was taken for it is freed later. */
const centsSql = (rateId: bigint, { before, now }: RoomChange['exposed']) => sql<bigint>`
  (select (ceil(${now}::bigint / per_usd) - ceil(${before}::bigint / per_usd))::bigint
    from exchange_rate where id = ${rateId})`

/** Replaces the total loss from reversals of the trade. */
export async function changeLost(
  tx: Tx,
  { storeId, tradeId, rateId }: RoomKey,
  { amount, until }: NonNullable<RoomChange['lost']>,
): Promise<void> {
  const earlier = await tx
    .deleteFrom('lost_credit')
    .where('trade_id', '=', tradeId)
    .returning('usd_cents')
    .executeTakeFirst()
  const { rows } = await sql<{ usd_cents: bigint }>`
    insert into lost_credit (trade_id, store_id, usd_cents, until)
    select ${tradeId}, ${storeId}, ${centsSql(rateId, { before: 0n, now: amount })}, ${until} where ${amount}::bigint > 0
    returning usd_cents`.execute(tx)
  const changeCents = (rows[0]?.usd_cents ?? 0n) - (earlier?.usd_cents ?? 0n)
  if (changeCents !== 0n) await addUsed(tx, storeId, changeCents)
}

/** Adds to the used part of the limit. A store that is credited only on release may have no row yet. */
const addUsed = (tx: Tx, storeId: bigint, usdCents: bigint) =>
  sql`
    insert into credit_at_risk as taken (store_id, usd_cents) values (${storeId}, greatest(${usdCents}::bigint, 0))
    on conflict (store_id) do update set usd_cents = taken.usd_cents + ${usdCents}`.execute(tx)

/** Frees the amounts of up to `most` trades whose losses no longer count. Resolves to the number of trades. */
export function freeExpiredLostRoom(db: Db, now: Date, most: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    const expired = await tx
      .selectFrom('lost_credit')
      .select('trade_id')
      .where('until', '<=', now)
      .orderBy('until')
      .limit(most)
      .execute()
    return freeRoom(
      tx,
      expired.map((row) => row.trade_id),
      now,
    )
  })
}

/** Frees the part of a store's limit that reversals took. Returns the number of their trades. */
export async function freeLostRoom(tx: Tx, storeId: bigint): Promise<number> {
  const lost = await tx.selectFrom('lost_credit').select('trade_id').where('store_id', '=', storeId).execute()
  return freeRoom(
    tx,
    lost.map((row) => row.trade_id),
  )
}

/** Locks the trades first, as a reversal does, because a reversal may just have made a trade's loss count longer. */
async function freeRoom(tx: Tx, tradeIds: readonly bigint[], endedBy: Date | null = null): Promise<number> {
  if (tradeIds.length === 0) return 0
  await sql`
    select from trade where id = any(${tradeIds.map(String)}::bigint[]) order by id for update`.execute(tx)
  const { rows } = await sql<{ storeId: bigint; usdCents: bigint; trades: number }>`
    with gone as (
      delete from lost_credit where trade_id = any(${tradeIds.map(String)}::bigint[])
        and (${endedBy}::timestamptz is null or until <= ${endedBy}) returning *
    ),
    freed as (update trade set at_risk_amount = 0 from gone where trade.id = gone.trade_id)
    select store_id as "storeId", sum(usd_cents)::bigint as "usdCents", count(*)::int as trades
    from gone group by store_id order by store_id`.execute(tx)
  for (const { storeId, usdCents } of rows) await addUsed(tx, storeId, -usdCents)
  return rows.reduce((sum, { trades }) => sum + trades, 0)
}
