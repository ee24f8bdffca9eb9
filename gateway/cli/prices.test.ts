/** The operator's commands for prices, on a real database. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { holdPrices, readHolds, savePrices, saveRate } from '../pricing/store.ts'
import { runCommand } from '../testing/command.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'

let database: TestDatabase

beforeEach(async () => {
  database = await testDatabase()
  await saveRate(database.db, 'fixed', { currency: 'USD', perUsd: '1', asOf: new Date() })
  const said = { popularity: 60, popularityKind: 'sales30d' as const, asOf: new Date() }
  const row = { marketHashName: 'Knife', usdMicros: 20_000_000n, levelUsdMicros: 10_000_000n, ...said }
  await savePrices(database.db, { source: 'market', game: 'cs' }, [row])
})
afterEach(() => database.close())

const run = (line: string) => runCommand(['price', ...line.split(' ')], { databaseUrl: database.url })

it('show tells what a source says, the level, and what a shopper is credited of a spike', async () => {
  const { out, code } = await run('show --game cs --item Knife')
  expect(out).toMatch(/^market\t20\.00 USD\tlevel 10\.00 USD\t60 sold in 30 days\t/)
  expect(out).toContain('worth 13.00 USD, a shopper is credited 9.75 USD')
  expect(code).toBe(0)
})

const held = () => readHolds(database.db, 'cs')

it('block keeps an item out, and list tells it', async () => {
  expect((await run('block --game cs --item Knife')).out).toMatch(/^cs\tKnife\tblocked since /)
  expect((await run('list')).out).toMatch(/^cs\tKnife\tblocked since /)
  expect(await held()).toMatchObject([{ name: 'Knife', kind: 'blocked' }])
})

it('release ends it, once', async () => {
  await holdPrices(database.db, { game: 'cs', name: 'Knife', kind: 'blocked', since: new Date() })
  expect((await run('release --game cs --item Knife')).code).toBe(0)
  expect(await held()).toEqual([])
  expect((await run('release --game cs --item Knife')).errors).toContain('neither blocked nor frozen')
})

it('a whole game is held only when it is said', async () => {
  expect((await run('freeze --game cs')).errors).toContain('--all for the whole game')
  expect(await held()).toEqual([])
  expect((await run('freeze --game cs --all')).out).toMatch(/^cs\tthe whole game\tfrozen since /)
  expect(await held()).toMatchObject([{ name: null, kind: 'frozen' }])
})

it('list tells what of a good answer was refused', async () => {
  const [refused, feed] = ['EUR 0.93 is refused: apart from the reference', 'rates'] as const
  const row = { source: 'er-api', feed, next_at: new Date(), good_at: new Date(), last_error: refused }
  await database.db.insertInto('price_feed').values(row).execute()
  expect((await run('list')).out).toMatch(new RegExp(`^er-api\\trates\\tanswered .*\\t${refused}$`, 'm'))
})
