import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { migrate } from './migrate.ts'

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

describe('migrate', () => {
  test('two starts at the same time both succeed and apply each file once', async () => {
    const both = await Promise.all([
      migrate({ url: database.url, folder }),
      migrate({ url: database.url, folder }),
    ])
    expect(both.flat()).toEqual(['0001_one.sql'])
  })

  test('applies only what is new, in order', async () => {
    await migrate({ url: database.url, folder })
    writeFileSync(join(folder, '0003_three.sql'), 'insert into two select id from one;')
    writeFileSync(join(folder, '0002_two.sql'), 'create table two (id int);')
    expect(await migrate({ url: database.url, folder })).toEqual(['0002_two.sql', '0003_three.sql'])
  })

  test('a file that fails leaves nothing of itself behind', async () => {
    writeFileSync(join(folder, '0002_two.sql'), 'create table two (id int); select 1 / 0;')
    await expect(migrate({ url: database.url, folder })).rejects.toThrow('0002_two.sql failed')
    writeFileSync(join(folder, '0002_two.sql'), 'create table two (id int);')
    expect(await migrate({ url: database.url, folder })).toEqual(['0002_two.sql'])
  })

  test('refuses a file that was changed after it had been applied', async () => {
    await migrate({ url: database.url, folder })
    writeFileSync(join(folder, '0001_one.sql'), 'create table one (id bigint);')
    await expect(migrate({ url: database.url, folder })).rejects.toThrow('0001_one.sql was changed')
  })

  test.each([
    ['a later version', '0002_later.sql', 'A later version made it. Start that version'],
    ['version 0.1.0', '0001_till.sql', 'Version 0.1.0 made it, and no later version can upgrade it'],
  ])(
    'refuses the database of %s by the names of its migrations, and changes nothing',
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

  test('the real migrations apply to an empty database', async () => {
    expect(await migrate({ url: database.url })).toContain('0001_baseline.sql')
  })

  test('upgrades a database of 0.2.0, with what is in it', async () => {
    cpSync(join(MIGRATIONS, '0001_baseline.sql'), join(folder, '0001_baseline.sql'))
    rmSync(join(folder, '0001_one.sql'))
    await migrate({ url: database.url, folder })
    await sql`insert into bot (steam_id, name, level, avatar_url, profile_url, refresh_token, history_at)
      values ('76561198000000001', 'Bot', 1, '/a', '/p', '\\x00', now())`.execute(database.db)
    expect(await migrate({ url: database.url })).toContain('0002_fleet.sql')
    const { rows } = await sql`select name, state, token_refused_at from bot`.execute(database.db)
    expect(rows).toEqual([{ name: 'Bot', state: 'active', token_refused_at: null }])
  })
})
