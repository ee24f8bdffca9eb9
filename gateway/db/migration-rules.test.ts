/** Migrations only add, so a gateway of the previous version can run next to the new one. */
import { describe, expect, it } from 'vitest'
import { isOlder, ourVersion } from '../kit/version.ts'
import { judgeStatements, statementsOf } from './migration-rules.ts'
import { judgeSchema, migrationFiles } from './schema-version.ts'

/** The first migration that may only add. 0009 is the last one that drops and renames columns. */
const FIRST_THAT_ONLY_ADDS = '0010'
/**
 * Earlier migrations run on an empty database, or in the upgrade from 0.2.0 to 0.3.0, which stops all gateways. So
 * their locks block nobody.
 */
const FIRST_NEXT_TO_RUNNING_GATEWAYS = '0020'

describe('the statements of a migration', () => {
  it('are split, but not inside quotes, comments or function bodies', () => {
    const sql = `-- a; b
      create table one (name text default 'a;b''c;'); -- c;
      create function two() returns int language sql as $$ select 1; $$;
      insert into one values ('x')`
    expect(statementsOf(sql)).toEqual([
      `create table one (name text default 'a;b''c;')`,
      'create function two() returns int language sql as $$ select 1; $$',
      `insert into one values ('x')`,
    ])
  })

  it.each([
    ['alter table one drop column name', 'all', 'drops a column'],
    ['alter table one rename column a to b', 'all', 'renames what another version uses'],
    ['alter table one alter column a type bigint', 'all', 'changes the type of a column'],
    ['alter table one alter a set not null', 'all', 'refuses rows that another version writes'],
    ['alter table one add column a int not null', 'all', 'adds a column that another version does not fill'],
    ['alter table one add column a int not null default 0', 'all', undefined],
    ['alter table one add column a int', 'all', undefined],
    ['drop table one', 'all', 'drops what another version may read'],
    ['delete from one', 'none', 'deletes rows'],
    ['create index one_a on one (a)', 'writes', undefined],
    ['create unique index concurrently if not exists one_a on one (a)', 'none', undefined],
    ['alter table one validate constraint one_check', 'none', undefined],
    ['drop trigger one_changed on one', 'all', undefined],
    ['update one set a = 1', 'none', undefined],
  ])('are judged by what they lock and take away: %s', (text, lock, takesAway) => {
    expect(judgeStatements(text)).toMatchObject([{ table: 'one', lock, takesAway }])
  })

  it.each([
    ['drop index one_a', 'all'],
    ['drop index concurrently if exists one_a', 'none'],
  ])('are judged even if they do not name their table: %s', (text, lock) => {
    expect(judgeStatements(text)).toMatchObject([{ table: undefined, lock }])
  })

  it('may do anything with a table that the same file creates', () => {
    const sql =
      'create table one (a int); alter table one alter a set not null; create index one_a on one (a);'
    expect(judgeStatements(sql).map(({ lock, takesAway }) => [lock, takesAway])).toEqual([
      ['none', undefined],
      ['none', undefined],
      ['none', undefined],
    ])
  })
})

const migrationsFrom = (first: string) => migrationFiles().filter(({ name }) => name >= first)

describe('every migration', () => {
  it('demands no version later than this one', () => {
    const version = ourVersion()
    const later = migrationFiles().filter(
      ({ oldestVersion }) => oldestVersion !== undefined && isOlder(version, oldestVersion),
    )
    expect(later.map(({ name, oldestVersion }) => `${name} needs ${oldestVersion}`)).toEqual([])
  })

  it('before 0051 lets a build that ends with 0049, and calls itself 0.2.0, restart beside a newer gateway', () => {
    const files = migrationFiles().filter(({ name }) => name < '0050')
    const applied = migrationFiles()
      .filter(({ name }) => name < '0051')
      .map(({ name, sha256, oldestVersion = null }) => ({ name, sha256, oldestVersion }))
    expect(applied.length).toBeGreaterThan(files.length)
    expect(judgeSchema(files, applied, '0.2.0')).toEqual({ kind: 'fits', missing: [] })
  })

  it('after 0009 removes nothing that a gateway of the previous version uses', () => {
    const broken = migrationsFrom(FIRST_THAT_ONLY_ADDS).flatMap(({ name, sql }) =>
      judgeStatements(sql).flatMap(({ text, takesAway }) =>
        takesAway === undefined ? [] : [`${name} ${takesAway}: ${text.split('\n')[0]}`],
      ),
    )
    expect(broken).toEqual([])
  })

  it('from 0020 on builds indexes of existing tables concurrently, in a file without a transaction', () => {
    const broken = migrationsFrom(FIRST_NEXT_TO_RUNNING_GATEWAYS).flatMap(({ name, sql, hasNoTransaction }) =>
      judgeStatements(sql).flatMap(({ text, lock }) => {
        if (lock === 'writes' && /^create\s+(unique\s+)?index/i.test(text))
          return [`${name} holds writers up: ${text.split('\n')[0]}`]
        if (/\bconcurrently\b/i.test(text) && !(hasNoTransaction && /\bif (not )?exists\b/i.test(text)))
          return [`${name} cannot be repeated: ${text.split('\n')[0]}`]
        return []
      }),
    )
    expect(broken).toEqual([])
  })

  it('from 0020 on rewrites no rows: a sweep does that, a few at a time', () => {
    const broken = migrationsFrom(FIRST_NEXT_TO_RUNNING_GATEWAYS).flatMap(({ name, sql }) =>
      judgeStatements(sql).flatMap(({ text }) =>
        /^update\b/i.test(text) ? [`${name}: ${text.split('\n')[0]}`] : [],
      ),
    )
    expect(broken).toEqual([])
  })
})
