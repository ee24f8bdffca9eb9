/**
 * A database with its connections, queue and signals. The tests of one worker process use it one after another, because
 * emptying the tables takes a tenth of the time needed to create the database.
 */
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { createQueue } from '../db/boss-queue.ts'
import { type Database, type Db, openDatabase } from '../db/client.ts'
import { createSignals } from '../db/pg-signals.ts'
import type { Queue } from '../db/queue.ts'
import type { Tables } from '../db/schema.ts'
import type { Signals } from '../db/signals.ts'
import { createDatabase, dropDatabase } from './database.ts'
import { type CapturedLog, captureLog } from './log.ts'

type SharedDatabase = {
  url: string
  database: Database
  captured: CapturedLog
  queue: Queue
  signals: Signals
  /** The result of READ_SHAPE after the migrations. */
  shape: string
}

/** One test's use of a shared database. */
export type DatabaseUse = CapturedLog & {
  url: string
  db: Db
  queue: Queue
  signals: Signals
  /** Ends the test's jobs and waiting calls, then leaves the database to the next test if it can be emptied. */
  close(): Promise<void>
}

const free: SharedDatabase[] = []

export async function takeSharedDatabase(): Promise<DatabaseUse> {
  const shared = free.pop() ?? (await createSharedDatabase())
  const ending = new AbortController()
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: poolUntil(ending.signal, shared.database.pool) }),
  })
  const { queue, stopWork } = queueOf(shared)
  return {
    url: shared.url,
    ...shared.captured,
    db,
    queue,
    signals: signalsUntil(ending.signal, shared.signals),
    async close() {
      ending.abort()
      await stopWork()
      if (await tryToEmpty(shared)) free.push(shared)
      else await discard(shared)
    },
  }
}

async function createSharedDatabase(): Promise<SharedDatabase> {
  const url = await createDatabase()
  const database = openDatabase(url, 10, 'sandbox')
  const captured = captureLog()
  const queue = await createQueue({ url, log: captured.log })
  const signals = await createSignals({ url, log: captured.log })
  return { url, database, captured, queue, signals, shape: await shapeOf(database.pool) }
}

async function discard({ url, database, queue, signals }: SharedDatabase): Promise<void> {
  await queue.stop()
  await signals.close()
  await database.close()
  await dropDatabase(url)
}

/** Refuses connections for work that a test left running: it must not write into the next test. */
function poolUntil(ending: AbortSignal, pool: pg.Pool) {
  return {
    Client: pg.Client,
    options: pool.options,
    async connect() {
      if (ending.aborted) throw new Error('the till of this test is closed')
      return pool.connect()
    },
    /** The pool stays open for the next test. */
    async end() {},
  }
}

function signalsUntil(ending: AbortSignal, signals: Signals): Signals {
  return {
    ...signals,
    until: (topic, check, { timeoutMs, signal }) =>
      signals.until(topic, check, { timeoutMs, signal: signal ? AbortSignal.any([signal, ending]) : ending }),
    close: async () => {},
  }
}

function queueOf({ queue }: SharedDatabase): { queue: Queue; stopWork(): Promise<void> } {
  const running = new Set<() => Promise<void>>()
  const stopWork = async () => {
    await Promise.all([...running].map((stop) => stop()))
  }
  return {
    stopWork,
    queue: {
      ...queue,
      async work(name, handler, options) {
        const stopIt = await queue.work(name, handler, options)
        const stop = () => {
          running.delete(stop)
          return stopIt()
        }
        running.add(stop)
        return stop
      },
      stop: stopWork,
    },
  }
}

/**
 * Empties the tables. Resolves to false if a test changed the schema, left something running, or wrote more than can be
 * deleted in time. Then no other test may use the database.
 */
async function tryToEmpty({ database: { pool }, captured, shape }: SharedDatabase): Promise<boolean> {
  if (pool.idleCount < pool.totalCount || (await shapeOf(pool)) !== shape) return false
  captured.lines.length = 0
  return pool.query(EMPTY_TABLES).then(
    () => true,
    () => false,
  )
}

async function shapeOf(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ shape: string }>(READ_SHAPE)
  return rows[0]?.shape ?? ''
}

/**
 * For each kind of object in the schema: how many exist, and the last transaction that wrote one. Also how many
 * transactions are still running.
 */
const READ_SHAPE = `
  select string_agg(kind || parts || ' ' || newest, ', ') as shape from (
    select 'relations ' as kind, count(*) as parts, max(xmin::text::bigint) as newest from pg_class
      where relnamespace = 'public'::regnamespace
    union all select 'functions ', count(*), max(xmin::text::bigint) from pg_proc
      where pronamespace = 'public'::regnamespace
    union all select 'constraints ', count(*), max(xmin::text::bigint) from pg_constraint
      where connamespace = 'public'::regnamespace
    union all select 'triggers ', count(*), max(xmin::text::bigint) from pg_trigger
    union all select 'at work ', count(*), 0 from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
        and application_name <> 'tradetill-queue'
  ) every`

const EMPTY_TABLES = `
  do $$
  declare
    part record;
  begin
    -- Switches off foreign keys and triggers, so the order of the tables does not matter.
    set local session_replication_role = replica;
    for part in
      select oid::regclass as name from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace
        and relname not in ('migration', 'till_identity')
    loop
      execute 'delete from ' || part.name;
    end loop;
    for part in
      select format('%I.%I', schemaname, sequencename) as name, start_value from pg_sequences
      where schemaname = 'public' and last_value is not null
    loop
      perform setval(part.name, part.start_value, false);
    end loop;
    -- Restores the row that the migration inserted.
    insert into ledger_check default values;
    delete from pgboss.job;
    delete from pgboss.job_dependency;
  end $$`
