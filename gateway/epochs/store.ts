import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import type { NumberedEvent } from '../events/event.ts'
import type { History } from './epoch.ts'

/** A new epoch skips at least this many numbers: more than the lost history can have used since the backup. */
const LEAST_SKIPPED = 1_000_000n
/**
 * A new epoch skips this many more for each minute since the previous one began. A backup can be restored a second
 * time, and the till may have worked for days after the first: the numbers of those days must not be assigned again.
 */
const SKIPPED_PER_MINUTE = 1_000n

type HistoryRow = {
  number: bigint | null
  began_at: Date
  began_on_system: string | null
  began_on_timeline: bigint | null
  began_in_database: bigint
  began_in_log: bigint
  system_identifier: string | null
  timeline: bigint | null
  database_oid: bigint
  log_oid: bigint
  written: bigint | null
  is_behind: boolean
}

export async function readHistory(db: Db | Tx): Promise<History> {
  const { rows } = await sql<HistoryRow>`
    select latest.number, latest.began_at, latest.system_identifier as began_on_system, latest.timeline as began_on_timeline,
      latest.database_oid as began_in_database, latest.log_oid as began_in_log, life.*,
      exists (select from halt where kind = 'behind') as is_behind
    from database_life() life left join (select * from epoch order by number desc limit 1) latest on true`.execute(
    db,
  )
  const [row] = rows
  if (row === undefined) throw new Error('the database returned no identity')
  const epoch = row.number === null ? undefined : { number: row.number, ...beganOf(row) }
  const life = {
    systemIdentifier: row.system_identifier,
    timeline: row.timeline,
    databaseOid: row.database_oid,
    logOid: row.log_oid,
    written: row.written,
  }
  return { epoch, life, isBehind: row.is_behind }
}

const beganOf = (row: HistoryRow) => ({
  beganAt: row.began_at,
  systemIdentifier: row.began_on_system,
  timeline: row.began_on_timeline,
  databaseOid: row.began_in_database,
  logOid: row.began_in_log,
})

/** False from a restore until the next epoch. Meanwhile the database refuses new deposits, trades and event numbers. */
export async function isLifeCurrent(db: Db): Promise<boolean> {
  const { rows } = await sql<{ isCurrent: boolean }>`select life_is_current() as "isCurrent"`.execute(db)
  return rows[0]?.isCurrent === true
}

/** The first gateway on a database begins its first epoch, which skips no number. Stores get no event. */
export async function claimFirstEpoch(db: Db, at: Date): Promise<void> {
  await sql`
    insert into epoch (number, began_at, system_identifier, timeline, database_oid, log_oid)
    select 1, ${at}, system_identifier, timeline, database_oid, log_oid from database_life()
    where not exists (select from epoch) on conflict do nothing`.execute(db)
}

/**
 * Stops every gateway until the next epoch, because a gateway remembers a later state than the database has. The
 * transaction must hold `lockPublishing`.
 */
export async function haltAsBehind(tx: Tx, at: Date): Promise<void> {
  await tx
    .insertInto('halt')
    .values({ kind: 'behind', since: at })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Forbids all gateways to use the bots (`on`), or allows it again. Returns false if nothing changes. */
export async function setDisarmed(tx: Tx, on: boolean, at: Date): Promise<boolean> {
  if (!on) {
    const { numDeletedRows } = await tx
      .deleteFrom('halt')
      .where('kind', '=', 'disarmed')
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  }
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('halt')
    .values({ kind: 'disarmed', since: at })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

export async function isDisarmed(db: Db | Tx): Promise<boolean> {
  const row = await db.selectFrom('halt').select('kind').where('kind', '=', 'disarmed').executeTakeFirst()
  return row !== undefined
}

export type BegunEpoch = { epoch: bigint; skipped: bigint; events: NumberedEvent[] }

/**
 * Begins the next epoch and writes it into the log of every store, as the first event after the skipped numbers.
 * The transaction must hold `lockPublishing`. `skipped`: how many numbers the epoch leaves out.
 */
export async function beginEpoch(tx: Tx, at: Date): Promise<BegunEpoch> {
  const skipped = await numbersToSkip(tx, at)
  const { rows } = await sql<{ epoch: bigint }>`select begin_epoch(${at}, ${skipped}) as epoch`.execute(tx)
  const epoch = rows[0]?.epoch ?? 0n
  // `part` is unique across all stores, because these events have no deposit to tell them apart.
  const { rows: events } = await sql<NumberedEvent>`
    with before as (
      select id, last_sequence, row_number() over (order by id)
        + coalesce((select max(part) from event where deposit_id is null), 0) as part from store
    ),
    numbered as (
      update store set last_sequence = before.last_sequence + ${skipped} + 1 from before where before.id = store.id
      returning store.id, store.last_sequence as sequence, before.last_sequence as previous, before.part
    )
    insert into event (id, store_id, part, type, payload, created_at, sequence)
    select gen_random_uuid(), id, part, 'epoch.started', jsonb_build_object('type', 'epoch.started', 'timestamp', ${at.toISOString()}::text,
      'data', jsonb_build_object('epoch', ${epoch}::bigint, 'previousSequence', previous)), ${at}, sequence
    from numbered returning id, store_id as "storeId", sequence, type`.execute(tx)
  return { epoch, skipped, events }
}

async function numbersToSkip(tx: Tx, at: Date): Promise<bigint> {
  const last = await tx
    .selectFrom('epoch')
    .select('began_at')
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  const sinceMs = last === undefined ? 0 : Math.max(0, at.getTime() - last.began_at.getTime())
  return LEAST_SKIPPED + SKIPPED_PER_MINUTE * BigInt(Math.floor(sinceMs / 60_000))
}

/** Ends all leases. A process that still believes that it holds a bot can write no fact under its old lease. */
export async function takeLeasesBack(tx: Tx): Promise<void> {
  await tx
    .updateTable('bot')
    .set((eb) => ({
      lease_epoch: eb('lease_epoch', '+', 1n),
      lease_owner: null,
      lease_until: null,
      online: false,
    }))
    .execute()
}
