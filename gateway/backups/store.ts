/** Queries of backups, on a plain client without the query builder. */
import pg from 'pg'
import { DENIED, sqlState } from '../db/sql-state.ts'

type Client = Pick<pg.Client, 'query'>

export async function majorVersion(client: Client): Promise<number> {
  const { rows } = await client.query<{ number: string }>(
    `select current_setting('server_version_num') as number`,
  )
  return Math.floor(Number(rows[0]?.number) / 10_000)
}

/**
 * Begins a backup and returns the server's data folder. The slot keeps the write-ahead log until the connection ends.
 */
export async function startBackup(client: Client): Promise<string> {
  await client.query(
    `select pg_create_physical_replication_slot('tradetill_backup_' || pg_backend_pid(), true, true)`,
  )
  await client.query(`select pg_backup_start('tradetill', true)`)
  const { rows } = await client.query<{ folder: string }>(
    `select current_setting('data_directory') as folder`,
  )
  return rows[0]?.folder ?? ''
}

/** Ends the backup. Does not wait until the write-ahead log is archived: the copy takes it from the data folder. */
export async function endBackup(client: Client): Promise<{ label: string; tablespaces: string }> {
  const { rows } = await client.query<{ label: string; tablespaces: string }>(
    'select labelfile as label, trim(spcmapfile) as tablespaces from pg_backup_stop(false)',
  )
  return rows[0] ?? { label: '', tablespaces: '' }
}

type NewestTimes = {
  /** Times of the newest rows; null if there is none. */
  depositAt: Date | null
  eventAt: Date | null
  entryAt: Date | null
}

export type Contents = NewestTimes & { stores: number; deposits: number; events: number; entries: number }

/** Reads the newest times and counts of a restored database. It has no other user, so counting every row is fine. */
export async function readContents(client: Client): Promise<Contents> {
  const { rows } = await client.query<Record<keyof Contents, string | Date | null>>(`select
    (select max(created_at) from deposit) as "depositAt", (select max(created_at) from event) as "eventAt",
    (select max(created_at) from ledger_entry) as "entryAt", (select count(*) from store) as stores,
    (select count(*) from deposit) as deposits, (select count(*) from event) as events,
    (select count(*) from ledger_entry) as entries`)
  const [row] = rows
  if (row === undefined) throw new Error('the database returned no row')
  const at = (value: string | Date | null): Date | null => (value instanceof Date ? value : null)
  const count = (value: string | Date | null): number => Number(value ?? 0)
  return {
    depositAt: at(row.depositAt),
    eventAt: at(row.eventAt),
    entryAt: at(row.entryAt),
    stores: count(row.stores),
    deposits: count(row.deposits),
    events: count(row.events),
    entries: count(row.entries),
  }
}

/** Resolves to false if the role of the connection may not create a database. */
export async function createScratch(client: Client, name: string): Promise<boolean> {
  try {
    await client.query(`create database ${name} template template0`)
    return true
  } catch (error) {
    if (sqlState(error) === DENIED) return false
    throw error
  }
}

export async function dropScratch(client: Client, name: string): Promise<void> {
  await client.query(`drop database if exists ${name} with (force)`)
}

/** PostgreSQL's codes: somebody is connected now, or another role owns the database. */
const IN_USE_OR_FOREIGN = new Set(['55006', '42501'])

/**
 * Drops the databases of killed checks: those that nobody uses, and whose name has a time before `until` (14 digits). A
 * running check can be without a connection for a moment, so `until` must be a while ago. Leaves databases of 0.2.0:
 * their names have no time, so one of a running check looks like one of a killed check.
 */
export async function dropAbandonedScratches(client: Client, until: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select datname as name from pg_database
    where datname ~ '^tradetill_check_[0-9]{14}_[0-9a-f]{12}$'
      and substring(datname from '_([0-9]{14})_') collate "C" < $1
      and not exists (select from pg_stat_activity where pg_stat_activity.datname = pg_database.datname)`,
    [until],
  )
  for (const { name } of rows) {
    try {
      await client.query(`drop database if exists ${name}`)
    } catch (error) {
      if (!(error instanceof pg.DatabaseError && IN_USE_OR_FOREIGN.has(error.code ?? ''))) throw error
    }
  }
}
