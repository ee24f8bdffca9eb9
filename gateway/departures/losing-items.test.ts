/** Tests the list of items that lose money, on a real database. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Tx } from '../db/client.ts'
import { losingItems } from '../operations/sales.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'

let till: Till
/** A paid trade of two Dota 2 items, worth 10 and 20 USD, with the shopper's asset ids. */
let paid: { tradeId: bigint; assetIds: readonly string[] }

beforeAll(async () => {
  till = await startTill()
  const deposit = await aDeposit(till, await aStore(till), { game: 'dota' })
  await payFor(till, await aBot(till), deposit)
  const trade = await till.db.selectFrom('trade').select('id').executeTakeFirstOrThrow()
  paid = { tradeId: trade.id, assetIds: [...deposit.body.items] }
})
afterAll(() => till.close())

type Sold = { item: number; currency: 'USD' | 'BRL'; agoS: number }

/** A late sale: the item was given, and the market pays nothing, so the sale loses the item's cost. */
const sellLate = (tx: Tx, { item, currency, agoS }: Sold) =>
  sql`
  insert into sale (market, reference, trade_id, asset_id, app_id, state, currency, price, listed_at, sold_at)
  values ('market.csgo.com', ${`late ${item}`}, ${paid.tradeId}, ${paid.assetIds[item]}, 570, 'late', ${currency}, 1,
    ${ago(agoS)}, ${ago(agoS)})`.execute(tx)
const ago = (seconds: number) => new Date(till.clock.now().getTime() - seconds * 1_000)

/** The items that lose money after these sales, which are then undone. */
async function losingAfter(sell: (tx: Tx) => Promise<unknown>) {
  const [rolledBack, found] = [new Error('rolled back'), [] as Awaited<ReturnType<typeof losingItems>>]
  const transaction = till.db.transaction().execute(async (tx) => {
    await sell(tx)
    // The list reads no settings, so `config` is empty.
    found.push(...(await losingItems({ db: tx, clock: till.clock, config: Object.assign({}) }, 'dota')))
    throw rolledBack
  })
  await expect(transaction).rejects.toBe(rolledBack)
  return found.map(({ sales, currency, resultMinor }) => [sales, currency, resultMinor])
}

it('the greatest loss in dollars comes first, whatever the currency of the sale', async () => {
  const losses = await losingAfter(async (tx) => {
    await sql`insert into exchange_rate (currency, per_usd, as_of, source)
      values ('BRL', 5.5, ${ago(60)}, 'test')`.execute(tx)
    await sellLate(tx, { item: 0, currency: 'BRL', agoS: 30 })
    await sellLate(tx, { item: 1, currency: 'USD', agoS: 30 })
  })
  expect(losses).toEqual([
    [1, 'USD', -2_000n],
    [1, 'BRL', -5_500n],
  ])
})

it('a loss is found among more sales than the report of sales shows', async () => {
  // One more than the report shows.
  const reversedSales = 20_001
  const losses = await losingAfter(async (tx) => {
    await sql`
      insert into sale (market, reference, trade_id, asset_id, app_id, state, causer, currency, price, listed_at, sold_at)
      select 'market.csgo.com', 'reversed ' || n, ${paid.tradeId}, ${paid.assetIds[0]}, 570, 'reversed', 'buyer', 'USD', 1,
        ${ago(60)}, ${ago(60)} from generate_series(1, ${reversedSales}::integer) n`.execute(tx)
    await sellLate(tx, { item: 1, currency: 'USD', agoS: 30 })
  })
  expect(losses.map(([, ...loss]) => loss)).toEqual([['USD', -2_000n]])
})
