/** Known bugs with databases: an interrupted migration, and a restore to an earlier state. */
import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { openDatabase } from '../../gateway/db/client.ts'
import { migrate } from '../../gateway/db/migrate.ts'
import { verifyLedger } from '../../gateway/ledger/verify.ts'
import { offerFor } from '../../gateway/testing/payment.ts'
import { databaseUrl } from '../../gateway/testing/setup.ts'
import { aBot, aDeposit, aStore, startTill } from '../../gateway/testing/till.ts'
import { tradeHandlers } from '../../gateway/trades/advance.ts'
import { createTradeStore } from '../../gateway/trades/postgres-store.ts'
import { startCutProxy } from '../cut/proxy.ts'
import { seededRandom } from '../random.ts'

const CUTS = 6
const MIGRATIONS = join(import.meta.dirname, '../../gateway/db/migrations')

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Every column, constraint, index and applied migration, as text. */
async function schemaOf(url: string): Promise<unknown[]> {
  const { rows } = await withClient(url, (client) =>
    client.query(`
      select table_name || '.' || column_name || ' ' || data_type as line from information_schema.columns
        where table_schema = 'public'
      union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
        where connamespace = 'public'::regnamespace
      union all select indexdef from pg_indexes where schemaname = 'public'
      union all select name from migration order by 1`),
  )
  return rows
}

/** The real migrations, and a last one as long as the first, so cuts fall before, between and within files. */
function migrationsFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-migrations-'))
  cpSync(MIGRATIONS, folder, { recursive: true })
  const length = statSync(join(MIGRATIONS, '0001_baseline.sql')).size
  writeFileSync(join(folder, '9999_last.sql'), `create table last (id int); -- ${'.'.repeat(length)}`)
  return folder
}

test('bug 36: the next start finishes a migration that was cut off at a random byte', async () => {
  const server = inject('databaseUrl')
  const folder = migrationsFolder()
  const createEmptyDatabase = async () => {
    const name = `cut_${randomBytes(6).toString('hex')}`
    await withClient(server, (client) => client.query(`create database ${name}`))
    return name
  }
  const { hostname, port } = new URL(server)
  const proxy = await startCutProxy({ host: hostname, port: Number(port) })
  const urlThroughProxy = (name: string) => {
    const url = new URL(databaseUrl(server, name))
    url.port = String(proxy.port)
    return url.href
  }
  try {
    const complete = await createEmptyDatabase()
    proxy.arm('never')
    await migrate({ url: urlThroughProxy(complete), folder })
    const { bytes } = proxy.disarm()
    const completeSchema = await schemaOf(databaseUrl(server, complete))
    const random = seededRandom(36)
    for (let cut = 0; cut < CUTS; cut += 1) {
      const name = await createEmptyDatabase()
      // Not among the first bytes, which open the connection, nor the last, which close it.
      proxy.arm({ afterBytes: random.between(1_000, bytes - 100) })
      await expect(migrate({ url: urlThroughProxy(name), folder })).rejects.toThrow()
      expect(proxy.disarm().isCut).toBe(true)
      await migrate({ url: databaseUrl(server, name), folder })
      expect(await schemaOf(databaseUrl(server, name))).toEqual(completeSchema)
      await withClient(server, (client) => client.query(`drop database ${name} with (force)`))
    }
    await withClient(server, (client) => client.query(`drop database ${complete} with (force)`))
  } finally {
    await proxy.close()
    rmSync(folder, { recursive: true })
  }
})

/** Copies the database at `url`, after ending its connections, because PostgreSQL copies no database in use. */
async function backUp(url: string): Promise<string> {
  const name = new URL(url).pathname.slice(1)
  const copy = `${name}_old`
  await withClient(inject('databaseUrl'), async (client) => {
    await client.query(`alter database ${name} allow_connections false`)
    const tryToCopy = async () => {
      await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
      await client.query(`create database ${copy} template ${name}`)
      return true
    }
    await expect.poll(() => tryToCopy().catch(() => false)).toBe(true)
    await client.query(`alter database ${name} allow_connections true`)
  })
  return databaseUrl(inject('databaseUrl'), copy)
}

test('bug 37: after a restore to a time before a credit, the till learns of the delivery from Steam, and credits it once', async () => {
  const till = await startTill()
  const store = await aStore(till)
  const { bot, session } = await aBot(till)
  await offerFor(till, bot, await aDeposit(till, store))
  const url = await backUp(till.url)
  session.accept('1')
  const watch = () => tradeHandlers(till.deps).watch(bot)
  // The backup has cut the till's connections, so a first watch may fail. A watch resolves to the number of open
  // trades.
  await expect.poll(() => watch().catch(() => undefined)).toBe(0)

  const oldDatabase = openDatabase(url, 2)
  const restored = tradeHandlers({
    ...till.deps,
    trades: createTradeStore({ ...till.deps, db: oldDatabase.db }),
  })
  for (let again = 0; again < 3; again += 1) await restored.watch(bot)
  const credits = await oldDatabase.pool.query(
    `select amount::int from ledger_entry where cause = 'delivered'`,
  )
  expect(credits.rows).toEqual([{ amount: 3_000 }])
  expect(await verifyLedger(oldDatabase.pool)).toEqual([])
  await oldDatabase.close()
  await withClient(inject('databaseUrl'), (client) =>
    client.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`),
  )
  await till.close()
})
