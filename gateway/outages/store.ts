/** The current outages, and the extension of deposits and trades by the time that an outage took. */
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import type { BotHealth, Notice, Outage } from './outage.ts'

export async function openOutages(db: Db | Tx): Promise<Set<Outage>> {
  const rows = await db.selectFrom('outage').select('kind').execute()
  return new Set(rows.map(({ kind }) => kind))
}

/** Returns the failures of bots in service: of the active ones, not of paused ones, that a process holds. */
export function healthOfBots(db: Db | Tx): Promise<BotHealth[]> {
  return db
    .selectFrom('bot')
    .select([
      'offers_failing_since as offersFailingSince',
      'inventories_failing_since as inventoriesFailingSince',
    ])
    .where('state', '=', 'active')
    .where('lease_until', '>', sql<Date>`now()`)
    .execute()
}

/** Returns false if the outage has already begun. */
export async function beginOutage(tx: Tx, kind: Outage, since: Date): Promise<boolean> {
  const rows = await tx
    .insertInto('outage')
    .values({ kind, since })
    .onConflict((conflict) => conflict.column('kind').doNothing())
    .returning('kind')
    .execute()
  return rows.length === 1
}

/** Returns the notice of the current maintenance; undefined if it is off. */
export async function readNotice(db: Db | Tx): Promise<Notice | undefined> {
  const row = await db
    .selectFrom('outage')
    .select(['text_en', 'text_ru', 'ends_at'])
    .where('kind', '=', 'maintenance')
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { text_en: en, text_ru: ru, ends_at: until } = row
  return { text: en === null || ru === null ? null : { en, ru }, until }
}

/** Changes the notice of the current maintenance. Returns false if nothing changed. */
export async function changeNotice(tx: Tx, { text, until }: Notice): Promise<boolean> {
  const [en, ru] = [text?.en ?? null, text?.ru ?? null]
  const { numAffectedRows } = await sql`
    update outage set text_en = ${en}, text_ru = ${ru}, ends_at = ${until}
    where kind = 'maintenance' and (text_en, text_ru, ends_at) is distinct from
      (${en}::text, ${ru}::text, ${until}::timestamptz)`.execute(tx)
  return numAffectedRows === 1n
}

/** Ends an outage and returns its start; undefined if there was none. */
export async function endOutage(tx: Tx, kind: Outage): Promise<Date | undefined> {
  const row = await tx.deleteFrom('outage').where('kind', '=', kind).returning('since').executeTakeFirst()
  return row?.since
}

/**
 * Ends maintenance whose planned end has come, and returns that end. One statement compares and deletes, because an
 * operator can extend the maintenance at the same moment.
 */
export async function endDueMaintenance(tx: Tx, now: Date): Promise<Date | undefined> {
  const row = await tx
    .deleteFrom('outage')
    .where('kind', '=', 'maintenance')
    .where('ends_at', '<=', now)
    .returning('ends_at')
    .executeTakeFirst()
  return row?.ends_at ?? undefined
}

/** Adds the paused time to deposits that have no open offer. */
export async function extendDeposits(tx: Tx, from: Date, to: Date): Promise<void> {
  await sql`update deposit set expires_at = expires_at + (${to}::timestamptz - greatest(${from}, created_at))
    where status = 'created' and created_at < ${to}`.execute(tx)
}

/**
 * Extends open offers by the time during which shoppers could not accept. Steam can still take back an acceptance that
 * has no Steam trade, so such an offer is extended too. The alarm (`due_at`) may be the next attempt to ask Steam, so it
 * is not extended, but brought forward if it is later than the new deadline.
 */
export async function extendTrades(tx: Tx, from: Date, to: Date): Promise<void> {
  const deadline = sql`deadline + (${to}::timestamptz - greatest(${from}, send_started_at))`
  await sql`update trade set deadline = ${deadline}, due_at = least(due_at, ${deadline})
    where state = 'active' and steam_trade_id is null and cancelling is null and send_started_at < ${to}`.execute(
    tx,
  )
}
