/** The offers of one Steam account. */
import { sql } from 'kysely'
import type { Tx } from '../db/client.ts'
import { OPEN_TRADE_STATES } from '../db/trade-tables.ts'
import { type PartnerFacts, REMEMBERED_MS, UNUSED_REASONS } from './allowance.ts'

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
  const from = new Date(now.getTime() - REMEMBERED_MS)
  const isUnused = sql`reason in (${sql.join(UNUSED_REASONS)}) and is_own and ended_at > ${from}
    and ended_at > coalesce(paid_at, '-infinity')`
  const { rows } = await sql<Found>`
    with offer as (
      select trade.state in (${sql.join(OPEN_TRADE_STATES)}) as is_open, trade.reason, trade.ended_at,
        deposit.store_id = ${storeId} as is_own, deposit.shopper_locked,
        max(trade.delivered_at) filter (where deposit.store_id = ${storeId}) over () as paid_at
      from trade join deposit on deposit.id = trade.deposit_id
      where trade.partner_steam_id = ${steamId}
    )
    select (count(*) filter (where is_open))::int as "open",
      (count(*) filter (where is_open and is_own and shopper_locked))::int as "openLocked",
      (count(*) filter (where ${isUnused}))::int as "unused",
      max(ended_at) filter (where ${isUnused}) as "lastAt"
    from offer`.execute(tx)
  const { open = 0, openLocked = 0, unused = 0, lastAt = null } = rows[0] ?? {}
  return { open, openLocked, unused: lastAt === null ? null : { count: unused, lastAt } }
}
