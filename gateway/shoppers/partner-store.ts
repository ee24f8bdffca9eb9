import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../db/client.ts'
import { OPEN_TRADE_STATES } from '../db/trade-tables.ts'
import { type PartnerFacts, REMEMBERED_MS, UNUSED_REASONS } from './allowance.ts'

type UnusedQuery = { steamId: unknown; storeId: unknown; now: unknown }

/**
 * SQL query: counts the store's unused offers to the account (`count`), and finds when the latest ended (`last_at`). It
 * covers offers that ended within `REMEMBERED_MS`, and after the account last paid at the store. The query ends with
 * its conditions, so a caller can add another.
 */
export const unusedOffersSql = ({ steamId, storeId, now }: UnusedQuery): RawBuilder<unknown> => sql`
  select count(*)::int as count, max(past.ended_at) as last_at
  from trade past join deposit of_store on of_store.id = past.deposit_id
  where past.partner_steam_id = ${steamId} and of_store.store_id = ${storeId}
    and past.reason in (${sql.join(UNUSED_REASONS)})
    and past.ended_at > ${now}::timestamptz - make_interval(secs => ${REMEMBERED_MS / 1000})
    and past.ended_at > coalesce((
      select max(paid.delivered_at) from trade paid join deposit paid_for on paid_for.id = paid.deposit_id
      where paid.partner_steam_id = ${steamId} and paid_for.store_id = ${storeId}), '-infinity')`

type Found = { open: number; openLocked: number; unused: number; lastAt: Date | null }

/** Locks the account until the transaction ends, so two simultaneous trades cannot take the same last slot. */
export async function lockPartner(tx: Tx, steamId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`offers to ${steamId}`}, 0))`.execute(tx)
}

/** Reads the facts for the limits. The caller must have locked the account. */
export async function partnerFacts(
  tx: Tx,
  { steamId, storeId, now }: { steamId: string; storeId: bigint; now: Date },
): Promise<PartnerFacts> {
  const { rows } = await sql<Found>`
    select offer.*, unused.count as unused, unused.last_at as "lastAt"
    from (
      select (count(*) filter (where is_open))::int as "open",
        (count(*) filter (where is_open and deposit.store_id = ${storeId} and deposit.shopper_locked))::int as "openLocked"
      from trade join deposit on deposit.id = trade.deposit_id
      cross join lateral (select trade.state in (${sql.join(OPEN_TRADE_STATES)}) as is_open) state
      where trade.partner_steam_id = ${steamId}
    ) offer, (${unusedOffersSql({ steamId, storeId, now })}) unused`.execute(tx)
  const { open = 0, openLocked = 0, unused = 0, lastAt = null } = rows[0] ?? {}
  return { open, openLocked, unused: lastAt === null ? null : { count: unused, lastAt } }
}
