/** The operator's commands for prices, on a real database. */
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readPriceHolds, savePriceHold, savePrices, saveRate } from '../pricing/store.ts'
import { runCommand } from '../testing/command.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'

let database: TestDatabase

beforeEach(async () => {
  database = await testDatabase()
  await saveRate(database.db, 'fixed', { currency: 'USD', perUsd: '1', asOf: new Date() })
  const facts = { popularity: 60, popularityKind: 'sales30d' as const, asOf: new Date() }
  const row = { marketHashName: 'Knife', usdMicros: 20_000_000n, levelUsdMicros: 10_000_000n, ...facts }
  await savePrices(database.db, { source: 'market', game: 'cs' }, [row])
})
afterEach(() => database.close())

const run = (line: string) => runCommand(['price', ...line.split(' ')], { databaseUrl: database.url })

it('price show prints a source’s price, the weekly level, and the shopper’s credit during a spike', async () => {
  const { out, code } = await run('show --game cs --item Knife')
  expect(out).toMatch(/^market\t20\.00 USD\tweekly level 10\.00 USD\t60 sold in 30 days\t/)
  // A price counts up to 30 % above its level, here 13.00 USD. A quarter of the worth is commission.
  expect(out).toContain('worth 13.00 USD, a shopper is credited 9.75 USD')
  expect(code).toBe(0)
})

it('price show marks a price from the future', async () => {
  const asOf = new Date(Date.now() + 3_600_000)
  const row = { marketHashName: 'Case', usdMicros: 1n, levelUsdMicros: null, popularity: 60, asOf }
  await savePrices(database.db, { source: 'market', game: 'cs' }, [{ ...row, popularityKind: 'sales30d' }])
  const { out } = await run('show --game cs --item Case')
  expect(out).toContain(`${asOf.toISOString()}, from the future\n`)
})

const holds = () => readPriceHolds(database.db, 'cs')

it('price block blocks an item, and price list shows the block', async () => {
  expect((await run('block --game cs --item Knife')).out).toMatch(/^cs\tKnife\tblocked since /)
  expect((await run('list')).out).toMatch(/^cs\tKnife\tblocked since /)
  expect(await holds()).toMatchObject([{ name: 'Knife', kind: 'blocked' }])
})

it('a freeze of a blocked item says that the block has ended', async () => {
  await run('block --game cs --item Knife')
  expect((await run('freeze --game cs --item Knife')).out).toMatch(
    /^cs\tKnife\tfrozen since \S+Z, no longer blocked\n$/,
  )
  expect((await run('freeze --game cs --item Knife')).out).toMatch(
    /^cs\tKnife\tfrozen since \S+Z, as before\n$/,
  )
  expect(await holds()).toMatchObject([{ name: 'Knife', kind: 'frozen' }])
})

it.each([
  ['Knive', 'No source lists this name: check its spelling.'],
  ['Knive*', 'No source lists a name that matches: check the spelling.'],
])('a block of %s, which no source lists, says so', async (item, warning) => {
  const { out, code } = await run(`block --game cs --item ${item}`)
  expect({ warning: out.slice(out.indexOf('Z. ') + 3), code }).toEqual({ warning: `${warning}\n`, code: 0 })
  expect(await holds()).toMatchObject([{ name: item, kind: 'blocked' }])
})

it.each([
  ['an item that a source lists', 'Knife'],
  ['a pattern that matches a listed item', 'Knif*'],
  ['a name of which sources list only phases', 'Gem'],
])('a block of %s has no warning', async (_, item) => {
  const facts = { popularity: 60, popularityKind: 'sales30d' as const, asOf: new Date() }
  const row = { marketHashName: 'Gem [Ruby]', usdMicros: 20_000_000n, levelUsdMicros: null, ...facts }
  await savePrices(database.db, { source: 'market', game: 'cs' }, [row])
  expect((await run(`block --game cs --item ${item}`)).out).toMatch(/\tblocked since \S+Z\n$/)
})

it('price release ends a block, and is refused the second time', async () => {
  await savePriceHold(database.db, {
    game: 'cs',
    name: 'Knife',
    kind: 'blocked',
    usdMicros: null,
    since: new Date(),
  })
  expect((await run('release --game cs --item Knife')).code).toBe(0)
  expect(await holds()).toEqual([])
  expect((await run('release --game cs --item Knife')).errors).toContain('no block, freeze or price')
})

it('a whole game is frozen only with --all', async () => {
  expect((await run('freeze --game cs')).errors).toContain('--all for the whole game')
  expect(await holds()).toEqual([])
  expect((await run('freeze --game cs --all')).out).toMatch(/^cs\tthe whole game\tfrozen since /)
  expect(await holds()).toMatchObject([{ name: null, kind: 'frozen' }])
})

it('price list shows which part of a source’s answer was refused', async () => {
  const [refused, feed] = ['EUR 0.93 is refused: too far from the reference', 'rates'] as const
  const row = { source: 'er-api', feed, next_at: new Date(), good_at: new Date(), last_error: refused }
  await database.db.insertInto('price_feed').values(row).execute()
  expect((await run('list')).out).toMatch(new RegExp(`^er-api\\trates\\tanswered .*\\t${refused}$`, 'm'))
})

/** Runs with arguments that contain spaces, where `run` would split them. */
const runWith = (...args: string[]) => runCommand(['price', ...args], { databaseUrl: database.url })

const DOPPLER = '★ Karambit | Doppler (Factory New)'
const PATTERN = ['--game', 'cs', '--item', '* Doppler *']

it('an override prices all items that match a pattern; an item’s own override and a block take precedence', async () => {
  const price = async () => (await runWith('why', '--game', 'cs', '--item', DOPPLER)).out.split('\n').at(-2)
  expect(await price()).toBe('not accepted: no source has a recent price (noPrice)')
  const reason = ['--reason', 'rubies sell for more']
  const overridden = await runWith('override', ...PATTERN, '--usd', '100.00', ...reason, '--by', 'Ada')
  expect(overridden).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^cs\t\* Doppler \*\toverride since /),
  })
  expect(await price()).toBe('worth 100.00 USD, a shopper is credited 75.00 USD after 25.00 % commission')
  await runWith('override', '--game', 'cs', '--item', DOPPLER, '--usd', '850.00', ...reason)
  expect(await price()).toContain('worth 850.00 USD')
  expect((await runWith('list')).out).toMatch(/\* Doppler \*\toverride at 100\.00 USD since /)
  await runWith('block', ...PATTERN)
  expect(await price()).toBe('not accepted: you blocked it (noPrice)')
  const { acts } = JSON.parse(
    (await runCommand(['acts', '--act', 'price override', '--json'], { databaseUrl: database.url })).out,
  )
  expect(acts).toMatchObject([
    { arguments: { item: DOPPLER, usdMicros: 850_000_000 } },
    {
      operator: 'Ada',
      reason: 'rubies sell for more',
      arguments: { item: '* Doppler *', usdMicros: 100_000_000 },
    },
  ])
})

it.each([
  [
    'a pattern that matches every item',
    ['override', '--game', 'cs', '--item', '*', '--usd', '1.00', '--reason', 'x'],
  ],
  ['a price of zero', ['override', ...PATTERN, '--usd', '0.00', '--reason', 'x']],
  ['ten million dollars', ['override', ...PATTERN, '--usd', '10000000.00', '--reason', 'x']],
  [
    'more than the database can store',
    ['override', ...PATTERN, '--usd', '9999999999999.99', '--reason', 'x'],
  ],
  ['a price without cents', ['override', ...PATTERN, '--usd', '850', '--reason', 'x']],
  ['no reason', ['override', ...PATTERN, '--usd', '850.00']],
])('an override with %s is refused', async (_, args) => {
  expect(await runWith(...args)).toMatchObject({ code: 2 })
  expect(await holds()).toEqual([])
})

it('a game has at most 200 patterns: the next one is refused, but an old one can be changed', async () => {
  const hold = { game: 'cs', kind: 'blocked', usdMicros: null, since: new Date() } as const
  for (let n = 1; n <= 200; n += 1) await savePriceHold(database.db, { ...hold, name: `Pattern ${n} *` })
  const freeze = (pattern: string) => runWith('freeze', '--game', 'cs', '--item', pattern)
  expect(await freeze('Pattern 7 *')).toMatchObject({ code: 0 })
  expect(await freeze('Another *')).toMatchObject({
    code: 4,
    errors: expect.stringContaining('release some'),
  })
  const stored = await holds()
  expect(stored).toHaveLength(200)
  expect(stored.filter(({ kind }) => kind === 'frozen').map(({ name }) => name)).toEqual(['Pattern 7 *'])
})

it('a pattern freezes only the items that match it', async () => {
  const row = { popularity: 60, popularityKind: 'sales30d' as const, levelUsdMicros: null }
  const saveBoth = (usdMicros: bigint, asOf = new Date()) =>
    savePrices(database.db, { source: 'market', game: 'cs' }, [
      { ...row, asOf, marketHashName: DOPPLER, usdMicros },
      { ...row, asOf, marketHashName: '100% Case_1', usdMicros },
    ])
  await saveBoth(5_000_000n)
  await runWith('freeze', ...PATTERN)
  await saveBoth(9_000_000n)
  const { rows } = await sql<{ name: string; micros: bigint }>`
    select market_hash_name as name, usd_micros as micros from price where market_hash_name <> 'Knife'`.execute(
    database.db,
  )
  expect(Object.fromEntries(rows.map(({ name, micros }) => [name, micros]))).toEqual({
    [DOPPLER]: 5_000_000n,
    '100% Case_1': 9_000_000n,
  })
})

it('price coverage shows how many items are accepted, by price, and why others are not', async () => {
  const now = new Date()
  const row = (marketHashName: string, usd: number, popularity: number, asOf = now) => ({
    ...{ marketHashName, popularity, popularityKind: 'sales30d' as const, asOf },
    ...{ usdMicros: BigInt(usd) * 1_000_000n, levelUsdMicros: BigInt(usd) * 1_000_000n },
  })
  const sevenHoursAgo = new Date(now.getTime() - 7 * 3_600_000)
  const rows = [
    row('Rare', 700, 2),
    row('Old', 600, 60, sevenHoursAgo),
    row('Odd', 30, 60),
    row('Good', 30, 60),
    row('Bad', 30, 60),
  ]
  await savePrices(database.db, { source: 'market', game: 'cs' }, rows)
  await savePrices(database.db, { source: 'skinport', game: 'cs' }, [row('Odd', 90, 60)])
  await runWith('block', '--game', 'cs', '--item', 'Bad')
  const { out } = await runWith('coverage', '--game', 'cs', '--json')
  const zeros = { accepted: 0, not_popular: 0, no_price: 0, in_dispute: 0, too_cheap: 0, blocked: 0 }
  expect(JSON.parse(out)).toEqual({
    game: 'cs',
    items: 6,
    bands: [
      {
        ...{ fromUsd: 500, ...zeros, not_popular: 1, no_price: 1 },
        examples: [
          { item: 'Old', verdict: 'no_price' },
          { item: 'Rare', verdict: 'not_popular' },
        ],
      },
      { fromUsd: 100, ...zeros, examples: [] },
      {
        ...{ fromUsd: 20, ...zeros, accepted: 2, in_dispute: 1, blocked: 1 },
        examples: [
          { item: 'Bad', verdict: 'blocked' },
          { item: 'Odd', verdict: 'in_dispute' },
        ],
      },
      ...[5, 1, 0].map((fromUsd) => ({ fromUsd, ...zeros, examples: [] })),
    ],
    losses: [],
  })
  expect((await runWith('coverage', '--game', 'cs')).out).toContain('from 20 USD\t2 accepted\t0 not popular')
})
