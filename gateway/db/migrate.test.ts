import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { migrate } from './migrate.ts'

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

  test('0011 keeps the sum of what was reversed before it', async () => {
    const real = join(import.meta.dirname, 'migrations')
    const earlier = readdirSync(real).filter((name) => name < '0011')
    for (const name of earlier) copyFileSync(join(real, name), join(folder, name))
    rmSync(join(folder, '0001_one.sql'))
    await migrate({ url: database.url, folder })
    await sql`insert into store (name, origins) select n, '{https://store.test}' from (values ('one'), ('two')) made (n)`.execute(
      database.db,
    )
    await sql`
      insert into deposit (hash, store_id, external_id, request_sha256, currency, back_to_store_url, expires_at,
        status, credited_amount, reversed_amount)
      select md5(n::text), 1 + n % 2, n, '', case when n < 6 then 'USD' else 'EUR' end, 'https://store.test/', now(),
        'succeeded', 100, n % 4 from generate_series(1, 8) n`.execute(database.db)
    await migrate({ url: database.url })
    const { rows } = await sql`select * from reversed_total order by store_id, currency`.execute(database.db)
    expect(rows).toEqual([
      { store_id: 1n, currency: 'EUR', amount: 2n },
      { store_id: 1n, currency: 'USD', amount: 2n },
      { store_id: 2n, currency: 'EUR', amount: 3n },
      { store_id: 2n, currency: 'USD', amount: 5n },
    ])
  })

  test('the real migrations apply to an empty database', async () => {
    expect(await migrate({ url: database.url })).toContain('0001_till.sql')
  })
})
