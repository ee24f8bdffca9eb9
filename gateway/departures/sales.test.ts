/** Sales and their books, on a real database: as the vault reports them and as an operator records them. */
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SaleReport } from '../../contract/sale-report.ts'
import { tillIn } from '../../vault/markets/till-store.ts'
import { openDatabase } from '../../vault/till-database.ts'
import { inTransaction } from '../db/transaction.ts'
import { recordCustody } from '../ledger/store.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { losingItems, reportSales } from '../operations/sales.ts'
import { runCommand } from '../testing/command.ts'
import { receivedIdOf } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { testPool } from '../testing/pool.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { type Listing, recordListing, recordReport } from './sales.ts'

const MARKET = 'market.csgo.com'
const DOTA = 570
const CS = 730

let till: Till
let pool: pg.Pool
/**
 * The trade and the shopper's asset ids of free items (Dota 2, worth 10 and 20 USD), and of protected items
 * (Counter-Strike 2).
 */
let free: { tradeId: bigint; assetIds: string[] }
let underProtection: { tradeId: bigint; assetIds: string[] }
let bot: Awaited<ReturnType<typeof aBot>>

beforeAll(async () => {
  till = await startTill()
  pool = testPool(till.url)
  bot = await aBot(till)
  const store = await aStore(till)
  free = await payDeposit(await aDeposit(till, store, { game: 'dota' }))
  underProtection = await payDeposit(await aDeposit(till, store, { game: 'cs' }))
})
afterAll(async () => {
  await pool.end()
  await till.close()
})

async function payDeposit(deposit: Awaited<ReturnType<typeof aDeposit>>) {
  await payFor(till, bot, deposit)
  const trade = await till.db
    .selectFrom('trade')
    .select('id')
    .where('deposit_id', '=', deposit.id)
    .executeTakeFirstOrThrow()
  return { tradeId: trade.id, assetIds: [...deposit.body.items] }
}

const listItem = (change: Partial<Listing> = {}) =>
  inTransaction(till.db, (tx) =>
    recordListing(
      tx,
      {
        market: MARKET,
        reference: '1',
        appId: DOTA,
        listedAssetId: receivedIdOf(free.assetIds[0]),
        currency: 'USD',
        price: 1_300n,
        ...change,
      },
      till.clock.now(),
    ),
  )
const report = (reference: string, saleReport: SaleReport) =>
  inTransaction(till.db, (tx) =>
    recordReport(tx, { market: MARKET, reference, report: saleReport }, till.clock.now()),
  )
const problems = async () => [...new Set((await verifyLedger(pool)).map(({ problem }) => problem))]
const balances = async (market = MARKET) => {
  const rows = await till.db
    .selectFrom('market_account')
    .select(['kind', 'balance'])
    .where('market', '=', market)
    .execute()
  return Object.fromEntries(rows.map(({ kind, balance }) => [kind, balance]))
}
/** The reports read no settings, so these dependencies have none. */
const findDeps = () => ({ db: till.db, clock: till.clock, config: Object.assign({}) })
const allTime = { from: new Date('2000-01-01'), to: new Date('2100-01-01') }
async function salesReport() {
  const answer = await reportSales(findDeps(), allTime)
  if (answer.kind !== 'done') throw new Error(JSON.stringify(answer))
  return answer.data
}

describe('a listing', () => {
  it('of an item that a bot has, or gave to an account of the operator, is recorded once', async () => {
    expect(await listItem()).toBe('recorded')
    expect(await listItem()).toBe('known')
    expect(await listItem({ reference: '9', listedAssetId: '4242' })).toBe('not_ours')
    expect(await listItem({ reference: '9', listedAssetId: receivedIdOf(free.assetIds[1]), appId: CS })).toBe(
      'not_ours',
    )
    await giveAway(free.assetIds[1] ?? '')
    expect(
      await listItem({ reference: '2', listedAssetId: `7${receivedIdOf(free.assetIds[1])}`, price: 2_600n }),
    ).toBe('recorded')
  })

  it('of a protected item is not recorded', async () => {
    const listedAssetId = receivedIdOf(underProtection.assetIds[0])
    expect(await listItem({ reference: '3', appId: CS, listedAssetId })).toBe('not_free')
  })

  it('of an item that is on sale elsewhere is not recorded', async () => {
    expect(await listItem({ market: 'waxpeer.com' })).toBe('taken')
  })

  /** Records the departure of an item to an account of the operator. */
  async function giveAway(assetId: string): Promise<void> {
    const trade = { bot_id: bot.bot.botId, steam_trade_id: '777', partner_steam_id: '76561198000009001' }
    const gone = {
      app_id: DOTA,
      context_id: '2',
      asset_id: receivedIdOf(assetId),
      new_asset_id: `7${receivedIdOf(assetId)}`,
    }
    await inTransaction(till.db, async (tx) => {
      const at = till.clock.now()
      const { id } = await tx
        .insertInto('departure')
        .values({ ...trade, begun_at: at, stage: 'gone', explanation: 'destination', destination: 'vault' })
        .returning('id')
        .executeTakeFirstOrThrow()
      await tx
        .insertInto('departed_item')
        .values({ ...gone, departure_id: id, is_booked: true })
        .execute()
      const { tradeId } = free
      const out = { tradeId, botId: bot.bot.botId, at, moved: 'out', departureId: id } as const
      await recordCustody(tx, out, [{ assetId, receivedAssetId: receivedIdOf(assetId) }])
    })
  }
})

describe('the books', () => {
  it('follow a sale from its delivery to the money, and book a repeated report once', async () => {
    const settlesAt = new Date(till.clock.now().getTime() + 7 * 86_400_000)
    expect(await report('1', { kind: 'sold' })).toBe('changed')
    expect(await report('1', { kind: 'delivered', steamTradeId: '888' })).toBe('changed')
    expect(await balances()).toEqual({})
    for (const expected of ['changed', 'unchanged']) {
      expect(await report('1', { kind: 'settling', received: 1_235n, settlesAt })).toBe(expected)
      expect(await balances()).toEqual({ settling: -1_235n, fees: -65n, sales: 1_300n })
    }
    expect(await report('1', { kind: 'paid', received: 1_235n })).toBe('changed')
    expect(await balances()).toEqual({ settling: 0n, free: -1_235n, fees: -65n, sales: 1_300n })
    expect(await report('404', { kind: 'sold' })).toBe('unknown')
    expect(await problems()).toEqual([])
  })

  it('keep only the refund of a reversed sale, and its item can be listed again', async () => {
    const settlesAt = new Date(till.clock.now().getTime() + 86_400_000)
    await report('2', { kind: 'settling', received: 2_470n, settlesAt })
    await report('2', { kind: 'reversed', causer: 'buyer', refund: 520n })
    expect(await balances()).toEqual({ settling: 0n, free: -1_755n, fees: -65n, sales: 1_820n })
    const listedAssetId = `7${receivedIdOf(free.assetIds[1])}`
    expect(await listItem({ reference: '5', listedAssetId, price: 2_500n })).toBe('recorded')
    expect(await problems()).toEqual([])
  })

  it.each([
    [
      'the balances of a market do not sum to zero',
      `update market_account set balance = balance + 1 where kind = 'free'`,
    ],
    [
      'a balance of a market is not the sum of its entries',
      `update market_account set balance = balance + 1`,
    ],
    [
      'the money of a sale is not where its state says',
      `update sale set received = received - 1 where reference = '1'`,
    ],
    [
      'an item was sold that its shopper took back',
      `insert into custody_entry (trade_id, asset_id, bot_id, moved, departure_id)
        select trade_id, asset_id, 1, 'back', null from sale where reference = '1'`,
    ],
  ])('are checked, and the check can find: %s', async (problem, damage) => {
    const client = await pool.connect()
    try {
      await client.query('begin')
      // Turns off the triggers that would refuse the damage.
      await client.query('set local session_replication_role = replica')
      await client.query(damage)
      expect((await verifyLedger(poolWithin(client))).map((found) => found.problem)).toContain(problem)
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  /** A pool with only what the check uses. The check runs inside the client's transaction, without one of its own. */
  function poolWithin(client: pg.PoolClient): Parameters<typeof verifyLedger>[0] {
    const query = (statement: string, values?: unknown[]) =>
      /^(?:begin|commit)/.test(statement) ? client.query('select') : client.query(statement, values)
    return { connect: async () => ({ query, release: () => undefined }) } as unknown as typeof pool
  }
})

describe('the report of sales', () => {
  it('shows each sale with the cost of its item, and sums by market, game and week', async () => {
    const { sales, totals, markets } = await salesReport()
    expect(
      sales.map(({ reference, state, costMinor, receivedMinor, resultMinor }) => {
        return [reference, state, costMinor, receivedMinor, resultMinor]
      }),
    ).toEqual([
      ['1', 'paid', 1_000n, 1_235n, 235n],
      ['2', 'reversed', 2_000n, null, 520n],
    ])
    expect(sales[0]).toMatchObject({ item: `${free.tradeId}-${free.assetIds[0]}`, game: 'dota' })
    expect(totals.map(({ by, name, resultMinor }) => [by, by === 'week' ? '' : name, resultMinor])).toEqual([
      ['market', MARKET, 755n],
      ['game', 'dota', 755n],
      ['week', '', 755n],
    ])
    expect(markets).toMatchObject([{ market: MARKET, freeMinor: 1_755n, freeDifferenceMinor: null }])
  })

  it('shows the same loss as the list of losing items for an item sold below its cost', async () => {
    const deps = findDeps()
    const [assetId = ''] = free.assetIds
    const original = await till.db
      .selectFrom('trade_item')
      .select(['price', 'gross'])
      .where('asset_id', '=', assetId)
      .executeTakeFirstOrThrow()
    const setCost = (amounts: typeof original) =>
      till.db.updateTable('trade_item').set(amounts).where('asset_id', '=', assetId).execute()
    till.clock.advance(1_000)
    expect(await losingItems(deps, 'dota')).toEqual([])
    await setCost({ price: 4_000n, gross: 4_000n })
    const { sales } = await salesReport()
    const [sold] = sales
    const alike = sales.filter(({ marketHashName }) => marketHashName === sold?.marketHashName)
    expect(await losingItems(deps, 'dota')).toEqual([
      {
        item: sold?.marketHashName,
        sales: alike.length,
        currency: 'USD',
        resultMinor: alike.reduce((sum, { resultMinor }) => sum + (resultMinor ?? 0n), 0n),
      },
    ])
    expect(sold?.resultMinor).toBe(1_235n - 4_000n)
    expect(await losingItems(deps, 'cs')).toEqual([])
    await setCost(original)
  })

  // A market counts in thousandths. The books drop less than a cent of each sale, and there are two here.
  it.each([
    [1_700n, -55n, false],
    [1_754n, -1n, false],
    [1_755n, 0n, false],
    [1_756n, 1n, true],
    [1_757n, 2n, false],
  ])(
    'shows how far %d minor units that the market reports differ from the books: %d, which rounding explains: %s',
    async (freeMinor, freeDifferenceMinor, freeMayBeRounding) => {
      const vault = openDatabase(till.url)
      const money = { currency: 'USD', settlingMinor: 0n, freeMinor } as const
      await tillIn(vault.query).reportBalance(MARKET, money, till.clock.now())
      await vault.close()
      expect((await salesReport()).markets).toMatchObject([
        { freeDifferenceMinor, freeMayBeRounding, settlingDifferenceMinor: 0n, settlingMayBeRounding: false },
      ])
    },
  )
})

describe('the command `items sold`', () => {
  const recordSold = (input: string) =>
    runCommand(['items', 'sold', '--reason', 'sales of November', '--by', 'Ada'], {
      databaseUrl: till.url,
      input,
    })

  it('refuses faulty lines, each with its reason', async () => {
    const item = `${free.tradeId}-${free.assetIds[0]}`
    const otherItem = `${underProtection.tradeId}-${underProtection.assetIds[0]}`
    const { out, code } = await recordSold(
      [
        'item,market,reference,price,received,currency,soldAt',
        `${item},skinport.com,A-1,30.00,26.00,USD,2026-11-02`,
        `${otherItem},skinport.com,A-2,30.00,26.00,USD`,
        `9-9,skinport.com,A-3,30.00,26.00,USD`,
        `${item},skinport.com,A-4,3000,26.00,USD`,
        `${item},Skinport,A-5,30.00,26.00,USD`,
        `nothing`,
        `${item},skinport.com,A-6,30.00,26.00,USD,2026-02-29`,
      ].join('\n'),
    )
    expect(code).not.toBe(0)
    expect(out.split('\n').slice(0, 7)).toEqual([
      `line 2 names an item of another sale: 1 on ${MARKET}, paid`,
      'line 3 names an item of a held trade: it cannot have left before Steam’s protection ends, and after that, run trade release first',
      'line 4 names an item that no bot ever held',
      'line 5 must have a price and the amount received, both with decimals; the amount may not exceed the price',
      'line 6 must name the market in lower case, such as market.csgo.com',
      'line 7 must have the columns item,market,reference,price,received,currency,soldAt, the last of which may be left out',
      'line 8 must have a date such as 2026-11-21, or none',
    ])
  })

  it('records a sale on another market once, and the CSV of the report includes it', async () => {
    await report('5', { kind: 'unlisted' })
    const item = `${free.tradeId}-${free.assetIds[1]}`
    const line = `${item},skinport.com,B-1,30.00,26.40,USD,2026-11-02`
    expect(await recordSold(line)).toMatchObject({ code: 0 })
    // Recording the same sale again changes nothing, and another amount or currency under its reference is refused.
    expect(await recordSold(line)).toMatchObject({ code: 0 })
    for (const [from, to] of [
      ['26.40', '26.41'],
      ['30.00', '31.00'],
      ['USD', 'EUR'],
    ] as const) {
      expect(await recordSold(line.replace(from, to))).toMatchObject({ code: 4 })
    }
    const { out } = await runCommand(
      ['report', 'sales', '--from', '2026-11-01', '--to', '2026-12-01', '--csv'],
      { databaseUrl: till.url },
    )
    const rows = out.split('\n').filter((row) => row.includes('skinport.com'))
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatch(
      new RegExp(
        `^2026-11-02T00:00:00.000Z,paid,skinport.com,B-1,dota,.*,${item},\\d+,USD,30.00,26.40,0.00,20.00,USD,6.40$`,
      ),
    )
    expect(await balances('skinport.com')).toEqual({ free: -2_640n, fees: -360n, sales: 3_000n })
    expect(await problems()).toEqual([])
    const acts = await till.db.selectFrom('operator_act').select(['act', 'arguments']).execute()
    expect(acts).toMatchObject([
      { act: 'items sold', arguments: { item, reference: 'B-1', receivedMinor: 2_640 } },
    ])
  })
})
