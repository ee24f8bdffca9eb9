/**
 * Follows items from their deposit to the money, with the till's database and rules, the vault with its own files,
 * and both sandboxes over HTTP. `npm run prove -- sale` does the same with a browser and real processes.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { reportSales } from '../operations/sales.ts'
import { sendItems } from '../operations/wishes.ts'
import { type SellingTill, startSellingTill } from '../testing/selling-till.ts'
import { PROTECTION_DAYS } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'

const WEDNESDAY = 3

let selling: SellingTill
/** Asset ids in the bot's inventory. The items are worth 10 and 20 USD. */
let assets: string[]

beforeAll(async () => {
  // Every run has the same days of the week: during Steam's maintenance on Tuesdays, nothing is sold.
  selling = await startSellingTill(WEDNESDAY)
  const { till, bench, bot } = selling
  bench.setUpSeller()
  assets = await selling.pay('cs')
  await selling.passDays(PROTECTION_DAYS + 1)
  const trade = await till.db.selectFrom('trade').select('id').executeTakeFirstOrThrow()
  await tradeHandlers(till.deps).trade(bot, trade.id)
})
afterAll(() => selling.close())

it('A-018 the items of a deposit are listed on an outside market, and the report shows the proceeds of the sold one', async () => {
  const { till, bench, acts, runRounds, passDays, readHistory, itemsOnSale } = selling
  expect(await sendItems(acts, { to: 'seller', assets: undefined })).toMatchObject({ data: { items: 2 } })
  await runRounds(4)
  await readHistory()
  expect(await till.db.selectFrom('departure').select('explanation').execute()).toEqual([
    { explanation: 'vault' },
  ])
  // After each trade, an item of this game cannot be traded again for some days.
  await passDays(8)
  await runRounds(10)
  expect(itemsOnSale()).toHaveLength(2)
  expect(await till.db.selectFrom('sale').select('state').execute()).toEqual([
    { state: 'listed' },
    { state: 'listed' },
  ])

  const [first, second] = itemsOnSale()
  expect((await bench.market.buy([first?.itemId ?? 0], 'accepts')).kind).toBe('bought')
  expect((await bench.market.buy([second?.itemId ?? 0], 'declines')).kind).toBe('bought')
  await runRounds(8)
  await passDays(9)
  await runRounds(4)

  const answer = await reportSales(acts, { from: new Date(0), to: new Date('2100-01-01') })
  if (answer.kind !== 'done') throw new Error(JSON.stringify(answer))
  const { sales, markets } = answer.data
  const sold = sales.find(({ reference }) => reference === String(first?.itemId))
  const costs = await till.db
    .selectFrom('trade_item')
    .select(['trade_id', 'asset_id', 'price'])
    .where('received_asset_id', 'in', assets)
    .orderBy('price')
    .execute()
  const item = costs.find((each) => `${each.trade_id}-${each.asset_id}` === sold?.item)
  expect(sold).toMatchObject({ state: 'paid', market: 'market.csgo.com', costMinor: item?.price })
  expect(sold?.resultMinor).toBe((sold?.receivedMinor ?? 0n) - (item?.price ?? 0n))
  expect(sales.find(({ reference }) => reference === String(second?.itemId))?.state).toBe('cancelled')
  expect(markets).toMatchObject([
    { market: 'market.csgo.com', freeMinor: sold?.receivedMinor, freeDifferenceMinor: 0n },
  ])
})
