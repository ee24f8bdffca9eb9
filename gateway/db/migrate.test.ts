import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { MIGRATION_LOCK, migrate } from './migrate.ts'
import { PUBLISHED_CHECKSUMS } from './published-checksums.ts'
import { migrationFiles } from './schema-version.ts'

const MIGRATIONS = join(import.meta.dirname, 'migrations')

let database: TestDatabase
let folder: string

beforeEach(async () => {
  database = await testDatabase()
  await sql`drop schema public cascade; create schema public`.execute(database.db)
  folder = mkdtempSync(join(tmpdir(), 'tradetill-migrations-'))
  writeFileSync(
    join(folder, '0001_one.sql'),
    'create table one (id int primary key); insert into one values (1);',
  )
})

afterEach(async () => {
  await database.close()
  rmSync(folder, { recursive: true })
})

const nameOf = ({ url }: TestDatabase): string => new URL(url).pathname.slice(1)

describe('migrate', () => {
  test('lets two starts at the same time succeed, and applies each file once', async () => {
    const results = await Promise.all([
      migrate({ url: database.url, folder }),
      migrate({ url: database.url, folder }),
    ])
    expect(results.flat()).toEqual(['0001_one.sql'])
  })

  test('applies only what is new, in order', async () => {
    await migrate({ url: database.url, folder })
    writeFileSync(join(folder, '0003_three.sql'), 'insert into two select id from one;')
    writeFileSync(join(folder, '0002_two.sql'), 'create table two (id int);')
    expect(await migrate({ url: database.url, folder })).toEqual(['0002_two.sql', '0003_three.sql'])
  })

  test('waits for another start without keeping it from building an index concurrently', async () => {
    await sql`create table large (id int)`.execute(database.db)
    await database.db.connection().execute(async (db) => {
      await sql`select pg_advisory_lock(${MIGRATION_LOCK})`.execute(db)
      const isWaiting = Promise.withResolvers<void>()
      const migrated = migrate({ url: database.url, folder, onProgress: () => isWaiting.resolve() })
      await isWaiting.promise
      await sql`create index concurrently large_id on large (id)`.execute(db)
      await sql`select pg_advisory_unlock_all()`.execute(db)
      expect(await migrated).toEqual(['0001_one.sql'])
    })
  })

  test('leaves no changes of a file that fails', async () => {
    writeFileSync(join(folder, '0002_two.sql'), 'create table two (id int); select 1 / 0;')
    await expect(migrate({ url: database.url, folder })).rejects.toThrow(
      '0002_two.sql failed: division by zero',
    )
    writeFileSync(join(folder, '0002_two.sql'), 'create table two (id int);')
    expect(await migrate({ url: database.url, folder })).toEqual(['0002_two.sql'])
  })

  test('lifts the database’s time limit, and keeps its connection alive through routers that drop idle ones', async () => {
    const keptAlive = vi.spyOn(Socket.prototype, 'setKeepAlive')
    onTestFinished(() => keptAlive.mockRestore())
    await sql`alter database ${sql.table(nameOf(database))} set statement_timeout = '500ms'`.execute(
      database.db,
    )
    writeFileSync(
      join(folder, '0002_two.sql'),
      "create table two as select current_setting('statement_timeout') as time_limit;",
    )
    expect(await migrate({ url: database.url, folder })).toContain('0002_two.sql')
    const { rows } = await sql`select time_limit from two`.execute(database.db)
    expect(rows).toEqual([{ time_limit: '0' }])
    expect(keptAlive).toHaveBeenCalledWith(true, 10_000)
  })

  test('reports why a migration failed, even if its connection was lost and cannot roll back', async () => {
    writeFileSync(join(folder, '0002_two.sql'), 'select pg_terminate_backend(pg_backend_pid());')
    await expect(migrate({ url: database.url, folder })).rejects.toThrow('terminating connection')
  })

  test('refuses a file that was changed after it had been applied', async () => {
    await migrate({ url: database.url, folder })
    writeFileSync(join(folder, '0001_one.sql'), 'create table one (id bigint);')
    await expect(migrate({ url: database.url, folder })).rejects.toThrow('0001_one.sql was changed')
  })

  test('accepts an applied file in which only comments were changed', async () => {
    const table = 'create table two (\n  -- Its number.\n  id int);'
    writeFileSync(join(folder, '0002_two.sql'), `-- A secnd table.\n${table}`)
    await migrate({ url: database.url, folder })
    writeFileSync(join(folder, '0002_two.sql'), 'create table two (\n  id int);\n-- A second table.')
    expect(await migrate({ url: database.url, folder })).toEqual([])
  })

  test('refuses an applied file in which a comment that the till reads was changed', async () => {
    const table = 'create table two (id int);'
    writeFileSync(join(folder, '0002_two.sql'), `-- oldest version: 0.3.0\n${table}`)
    await migrate({ url: database.url, folder })
    writeFileSync(join(folder, '0002_two.sql'), `-- oldest version: 0.1.0\n${table}`)
    await expect(migrate({ url: database.url, folder })).rejects.toThrow('0002_two.sql was changed')
  })

  test('gives each published migration the checksum of its file as published, because earlier releases check that one', () => {
    const recorded = migrationFiles().map(({ name, sha256 }) => [name, sha256])
    expect(Object.fromEntries(recorded)).toMatchObject(
      Object.fromEntries(Object.entries(PUBLISHED_CHECKSUMS).map(([name, { file }]) => [name, file])),
    )
  })

  test('refuses a published migration whose statements were changed', async () => {
    rmSync(join(folder, '0001_one.sql'))
    const baseline = readFileSync(join(MIGRATIONS, '0001_baseline.sql'), 'utf8')
    writeFileSync(join(folder, '0001_baseline.sql'), baseline)
    await migrate({ url: database.url, folder })
    writeFileSync(join(folder, '0001_baseline.sql'), `${baseline}\ncreate table one (id int);`)
    await expect(migrate({ url: database.url, folder })).rejects.toThrow('0001_baseline.sql was changed')
  })

  test.each([
    ['another branch', '0002_other.sql', 'It lacks 0003_three.sql, so no later version made it'],
    ['version 0.1.0', '0001_till.sql', 'Version 0.1.0 made it, and no later version can upgrade it'],
  ])(
    'recognises the database of %s from the names of its migrations, refuses it and changes nothing',
    async (_who, name, remedy) => {
      writeFileSync(join(folder, name), 'create table other (id int);')
      await migrate({ url: database.url, folder })
      rmSync(join(folder, name))
      writeFileSync(join(folder, '0003_three.sql'), 'create table three (id int);')
      const refused = expect(migrate({ url: database.url, folder })).rejects
      await refused.toThrow(`does not know: ${name}. ${remedy}`)
      const { rows } = await sql<{ name: string }>`select name from migration order by 1`.execute(database.db)
      expect(rows.map((row) => row.name)).toEqual(['0001_one.sql', name].sort())
    },
  )

  test('refuses a database that does not record the oldest version allowed on it, if the code lacks one of its migrations', async () => {
    writeFileSync(join(folder, '0002_later.sql'), 'create table later (id int);')
    await migrate({ url: database.url, folder })
    await sql`alter table migration drop column oldest_version`.execute(database.db)
    rmSync(join(folder, '0002_later.sql'))
    await expect(migrate({ url: database.url, folder })).rejects.toThrow('Start that version')
  })

  test('accepts a newer schema only if that schema allows the version of the code', async () => {
    const older = mkdtempSync(join(tmpdir(), 'tradetill-older-'))
    onTestFinished(() => rmSync(older, { recursive: true }))
    cpSync(folder, older, { recursive: true })
    writeFileSync(join(folder, '0002_two.sql'), '-- oldest version: 1.3.0\ncreate table two (id int);')
    const newer = { url: database.url, folder, version: '1.4.0' }
    await migrate({ ...newer, folder: older })
    expect(await migrate(newer)).toEqual(['0002_two.sql'])

    const startOlder = (version: string) => migrate({ url: database.url, folder: older, version })
    expect(await startOlder('1.3.0')).toEqual([])
    expect(await startOlder('1.10.0')).toEqual([])
    expect(await migrate(newer)).toEqual([])
    await expect(startOlder('1.2.9')).rejects.toThrow(
      'This database has migrations that this version of Tradetill (1.2.9) does not know: 0002_two.sql. A later version made it. Start version 1.3.0 or later, or restore a backup from before the upgrade.',
    )
  })

  test('applies no migration to a schema with a different history', async () => {
    writeFileSync(join(folder, '0002_two.sql'), '-- oldest version: 0.0.1\ncreate table two (id int);')
    await migrate({ url: database.url, folder })
    rmSync(join(folder, '0002_two.sql'))
    writeFileSync(join(folder, '0003_own.sql'), 'create table own (id int);')
    await expect(migrate({ url: database.url, folder })).rejects.toThrow('does not know: 0002_two.sql')
  })

  describe('a table in use', () => {
    const ADD_COLUMN = `alter table one add column name text`

    /** Locks the table until the returned function is called. */
    async function lockTable() {
      const client = await database.pool.connect()
      await client.query('begin; select * from one')
      return async () => {
        await client.query('commit')
        client.release()
      }
    }

    test('makes the migration wait for short times, so other statements do not queue behind it for long', async () => {
      await migrate({ url: database.url, folder })
      writeFileSync(join(folder, '0002_two.sql'), ADD_COLUMN)
      const release = await lockTable()
      const waits: string[] = []
      const applied = migrate({
        url: database.url,
        folder,
        locks: { waitMs: 10, tries: 6_000, pauseMs: 10 },
        onProgress: (message) => {
          waits.push(message)
          if (waits.length === 3) void release()
        },
      })
      expect(await applied).toEqual(['0002_two.sql'])
      expect(waits[1]).toBe('waiting for a table that 0002_two.sql must lock')
    })

    test('makes the migration start again after a deadlock with a running gateway, without doing anything twice', async () => {
      await migrate({ url: database.url, folder })
      // A sequence keeps its number through the rollback.
      await sql`create sequence tries`.execute(database.db)
      const once = `do $$ begin if nextval('tries') = 1 then raise 'deadlock' using errcode = '40P01'; end if; end $$;`
      writeFileSync(join(folder, '0002_two.sql'), `create table two (id int); ${once}`)
      const locks = { waitMs: 3_000, tries: 2, pauseMs: 1 }
      expect(await migrate({ url: database.url, folder, locks })).toEqual(['0002_two.sql'])
    })

    test('ends the migration after its last try, with nothing changed', async () => {
      await migrate({ url: database.url, folder })
      writeFileSync(join(folder, '0002_two.sql'), `create table two (id int); ${ADD_COLUMN}`)
      const release = await lockTable()
      const locks = { waitMs: 1, tries: 2, pauseMs: 1 }
      await expect(migrate({ url: database.url, folder, locks })).rejects.toThrow('lock timeout')
      await release()
      expect(await migrate({ url: database.url, folder })).toEqual(['0002_two.sql'])
    })
  })

  test('drops an index and builds it again concurrently, if a file without a transaction says so', async () => {
    await migrate({ url: database.url, folder })
    const lines = [
      '-- oldest version: 0.3.0',
      '-- without a transaction',
      'drop index concurrently if exists one_id; -- one that was not finished; it is invalid',
      'create index concurrently if not exists one_id on one (id);',
    ]
    writeFileSync(join(folder, '0002_two.sql'), lines.join('\n'))
    await sql`create index one_id on one ((-id))`.execute(database.db)
    expect(await migrate({ url: database.url, folder })).toEqual(['0002_two.sql'])
    const { rows } = await sql`
      select indisvalid, pg_get_indexdef(indexrelid, 1, true) as indexed
      from pg_index where indexrelid = 'one_id'::regclass`.execute(database.db)
    expect(rows).toEqual([{ indisvalid: true, indexed: 'id' }])
  })

  test('builds an index again that an interrupted start has left invalid', async () => {
    await migrate({ url: database.url, folder })
    await sql`create table twins as select 1 as id from generate_series(1, 2)`.execute(database.db)
    // A failed build leaves an invalid index. So does a build that was killed, or waited too long for a lock.
    const failed = sql`create unique index concurrently twins_id on twins (id)`.execute(database.db)
    await expect(failed).rejects.toThrow('could not create unique index')
    await sql`truncate twins`.execute(database.db)
    writeFileSync(
      join(folder, '0002_two.sql'),
      '-- without a transaction\ncreate unique index concurrently if not exists twins_id on twins (id);',
    )
    await migrate({ url: database.url, folder })
    const { rows } = await sql`
      select indisvalid from pg_index where indexrelid = 'twins_id'::regclass`.execute(database.db)
    expect(rows).toEqual([{ indisvalid: true }])
  })

  test('reports a wait for another process, and every migration that it applies', async () => {
    writeFileSync(join(folder, '0002_two.sql'), 'create table two (id int);')
    const progress: string[] = []
    const onProgress = (message: string) => void progress.push(message)
    await database.db.connection().execute(async (db) => {
      await sql`select pg_advisory_lock(${MIGRATION_LOCK})`.execute(db)
      const migrated = migrate({ url: database.url, folder, onProgress })
      await expect.poll(() => progress).toEqual(['waiting for another process that migrates'])
      await sql`select pg_advisory_unlock_all()`.execute(db)
      await migrated
    })
    expect(progress.slice(1)).toEqual(['applying 0001_one.sql', 'applying 0002_two.sql'])
    await migrate({ url: database.url, folder, onProgress })
    expect(progress).toHaveLength(3)
  })

  test('applies the real migrations to an empty database', async () => {
    expect(await migrate({ url: database.url })).toContain('0001_baseline.sql')
  })

  test('reads the oldest version that may run on the schema from each real migration since 0003', () => {
    const withoutVersion = migrationFiles().filter(({ oldestVersion }) => oldestVersion === undefined)
    expect(withoutVersion.map(({ name }) => name)).toEqual(['0001_baseline.sql', '0002_fleet.sql'])
  })

  test('upgrades a database of 0.2.0 and keeps its data', async () => {
    cpSync(join(MIGRATIONS, '0001_baseline.sql'), join(folder, '0001_baseline.sql'))
    rmSync(join(folder, '0001_one.sql'))
    await migrate({ url: database.url, folder })
    await sql`insert into bot (steam_id, name, level, avatar_url, profile_url, refresh_token, history_at)
      values ('76561198000000001', 'Bot', 1, '/a', '/p', '\\x00', now())`.execute(database.db)
    await sql`alter table migration drop column oldest_version`.execute(database.db)
    expect(await migrate({ url: database.url })).toContain('0002_fleet.sql')
    const { rows } = await sql`select name, state, token_refused_at from bot`.execute(database.db)
    expect(rows).toEqual([{ name: 'Bot', state: 'active', token_refused_at: null }])
  })
})
