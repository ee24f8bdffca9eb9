/** Deletes and erases old data, a limited number of rows per statement. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { isUnfinishedSql } from '../shoppers/unfinished-store.ts'

/** The place in a table where the next batch begins; undefined once there is none. */
export type Place = bigint | undefined

/**
 * Deletes old deliveries in the order of their creation. Due deliveries, and those with stored attempts, stay. Resolves
 * to the last delivery examined, after which the next batch begins; undefined if it is not old, or if none is left.
 */
export async function deleteDeliveries(
  db: Db,
  { before, after, limit }: { before: Date; after: bigint; limit: number },
): Promise<Place> {
  const { rows } = await sql<{ id: bigint; isOld: boolean }>`
    with examined as (
      select delivery.id, event.created_at < ${before} as is_old
      from (select id, event_id from webhook_delivery where id > ${after} order by id limit ${limit}) delivery
      join event on event.id = delivery.event_id
    ),
    gone as (
      delete from webhook_delivery using examined
      where webhook_delivery.id = examined.id and is_old and state <> 'due'
        -- Looks up one row by the index, because the planner might read the entire table for a join.
        and (select id from webhook_attempt where delivery_id = examined.id limit 1) is null
    )
    select id, is_old as "isOld" from examined order by id desc limit 1`.execute(db)
  const [last] = rows
  return last?.isOld ? last.id : undefined
}

/**
 * A place in the order of deposits: when one expires, and its id. The time is PostgreSQL's text, because a Date would
 * cut its microseconds.
 */
export type DepositPlace = { expiresAt: string; id: bigint }

type Batch = { before: Date; after: DepositPlace; limit: number }

/**
 * SQL query: locks the next ended deposits that still have a value in the column. Skips deposits that another
 * transaction has locked.
 */
const lockEndedSql = (
  column: 'user_token_sealed' | 'user_name',
  { before, after, limit }: Batch,
): RawBuilder<unknown> => sql`
  select id, expires_at from deposit
  where ${sql.ref(column)} is not null and status not in ('created', 'pending') and expires_at < ${before}
    and (expires_at, id) > (${after.expiresAt}::timestamptz, ${after.id})
  order by expires_at, id limit ${limit} for update skip locked`

/**
 * Erases the trade tokens of deposits that ended and expired before `before`. A deposit keeps its token while one of
 * its trades is unfinished. A deposit also keeps its token if a trade ended, or lost its protection, at `endedBefore`
 * or later. Locked deposits wait for the next run. Resolves to the last deposit examined, after which the next batch
 * begins.
 */
export async function eraseTokens(
  db: Db,
  { now, endedBefore, ...batch }: Batch & { now: Date; endedBefore: Date },
): Promise<DepositPlace | undefined> {
  const { rows } = await sql<DepositPlace>`
    with past as (${lockEndedSql('user_token_sealed', batch)}),
    quiet as (
      select id from past where not exists (
        select from trade where trade.deposit_id = past.id and (
          ${isUnfinishedSql(now)} or ended_at >= ${endedBefore} or settles_at >= ${endedBefore}))
    ),
    of_trades as (
      update trade set partner_token_sealed = null from quiet
      where trade.deposit_id = quiet.id and partner_token_sealed is not null
    ),
    of_deposits as (
      update deposit set user_token_sealed = null from quiet where deposit.id = quiet.id
    )
    select id, expires_at::text as "expiresAt" from past order by expires_at desc, id desc limit 1`.execute(
    db,
  )
  return rows[0]
}

/**
 * Erases the names, pictures and profile addresses of shoppers from deposits that ended and expired before `before`.
 */
export async function eraseProfiles(db: Db, batch: Batch): Promise<DepositPlace | undefined> {
  const { rows } = await sql<DepositPlace>`
    with past as (${lockEndedSql('user_name', batch)}),
    erased as (
      update deposit set user_name = null, user_avatar_url = null, user_profile_url = null
      from past where deposit.id = past.id
    )
    select id, expires_at::text as "expiresAt" from past order by expires_at desc, id desc limit 1`.execute(
    db,
  )
  return rows[0]
}
