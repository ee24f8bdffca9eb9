import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { testDatabase } from '../testing/database.ts'

const ROOT = join(import.meta.dirname, '../..')
const guide = readFileSync(join(ROOT, 'docs/store-guide.md'), 'utf8')
const example = /```ts\n(const update: CreditStore\['update'\][\s\S]*?)```/.exec(guide)?.[1] ?? ''

/**
 * Books the events of 20 new deposits, each event twice, all at once. The last event of each deposit has the amount
 * 1000.
 */
const SHOP = `import { Pool } from 'pg'
import { type CreditStore, takeOnce } from '${join(ROOT, 'sdk/index.ts')}'

const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 20, options: '-c search_path=shop' })
${example}
const events = Array.from({ length: 120 }, (_, n) => ({
  type: 'deposit.succeeded',
  sequence: n + 1,
  data: { id: String(n % 20), customerReference: 'nova', currency: 'USD', amount: n < 100 ? 500 : 1000,
    heldAmount: 0, reversedAmount: 0 },
}))
await Promise.all([...events, ...events].map((event) => takeOnce({ update }, event as never)))
const { rows } = await pool.query('select amount::int from balance')
console.log(JSON.stringify(rows))
await pool.end()
`

it('the example for PostgreSQL credits a new deposit once, even if its first events arrive at the same time', async () => {
  const database = await testDatabase()
  onTestFinished(() => database.close())
  await database.pool.query(`
    create schema shop;
    create table shop.credit (deposit text primary key, sequence bigint not null, spendable bigint not null);
    create table shop.balance (customer text, currency text, amount bigint not null, primary key (customer, currency));`)
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-books-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'shop.mts'), SHOP)
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const env = { PATH: process.env.PATH, DATABASE_URL: database.url }
  const shop = spawn(process.execPath, ['shop.mts'], { cwd: folder, env, stdio: 'pipe' })
  const [output, problems] = await Promise.all([text(shop.stdout), text(shop.stderr)])
  expect([problems, JSON.parse(output || '[]')]).toEqual(['', [{ amount: 20 * 1_000 }]])
})
