/**
 * An item from its deposit to the money: the till's database, the seller of the vault, and both sandboxes over HTTP. The
 * hands that give are stood in for, and so is the way from the vault to the database.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Temper } from '../../market-sandbox/world/world.ts'
import { bookOf, type Dated, evolve } from '../../vault/markets/book.ts'
import type { Market } from '../../vault/markets/market.ts'
import { DEFAULT_RULES, listingPrice } from '../../vault/markets/price-policy.ts'
import { toldOf } from '../../vault/markets/reports.ts'
import { scaleOf } from '../../vault/markets/scale.ts'
import { createSeller } from '../../vault/markets/seller.ts'
import { sandboxHands } from '../../vault/testing/market-hands.ts'
import {
  DOTA,
  type MarketStand,
  openMarketStand,
  readyToSell,
  START_MS,
} from '../../vault/testing/market-stand.ts'
import { inTransaction } from '../db/transaction.ts'
import { reportSales } from '../operations/sales.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { recordListing, recordReport } from './sales.ts'

let till: Till
let on: MarketStand
let client: Market
/** As the bot has them, worth 10 and 20 USD. */
let assets: string[]
const entries: Dated[] = []

beforeAll(async () => {
  till = await startTill()
  const bot = await aBot(till)
  const deposit = await aDeposit(till, await aStore(till), { game: 'dota' })
  await payFor(till, bot, deposit)
  assets = deposit.body.items.map((assetId) => `5${assetId}`)
  on = await openMarketStand()
  await on.begin(assets)
  client = on.clientWith(on.market.open(on.seller.steamId))
})
afterAll(async () => {
  await on.end()
  await on.close()
  await till.close()
})

/** The seller, whose record is told to the till entry by entry. */
function startSeller() {
  let book = bookOf(entries)
  const scale = scaleOf('USD')
  if (scale === undefined) throw new Error('dollars have a scale')
  return createSeller({
    market: client,
    hands: sandboxHands(on),
    scale,
    ownAccounts: new Set([on.seller.steamId]),
    now: on.now,
    alarm: (alarm) => {
      throw new Error(JSON.stringify(alarm))
    },
    journal: {
      book: () => book,
      async add(entry) {
        const dated = { at: on.now(), entry }
        entries.push(dated)
        book = evolve(book, dated)
        await inTransaction(till.db, async (tx) => {
          for (const told of toldOf(book, entry)) {
            if (told.kind === 'listing') await recordListing(tx, { ...told, currency: 'USD' }, dated.at)
            else await recordReport(tx, told, dated.at)
          }
        })
      },
    },
  })
}

function priceFor(costMinor: bigint): bigint {
  const known = (costMinor * 13n) / 10n
  const item = { costMinor, mayLose: false, bestMinor: known, knownMinor: known, onSaleMs: 0 }
  const verdict = listingPrice(item, DEFAULT_RULES)
  if (verdict.kind !== 'price') throw new Error(verdict.because)
  return verdict.minor
}

async function work(): Promise<void> {
  // Another process each time: all it knows is the record.
  const seller = startSeller()
  await seller.round(DOTA)
  await seller.advance()
  await seller.followMoney(DOTA, new Date(START_MS - 1000))
}

async function buy(as: Temper, reference: string): Promise<void> {
  expect((await on.market.buy([Number(reference)], as)).kind).toBe('bought')
  await work()
  await on.later(20)
  await work()
  await work()
}

async function reported() {
  const deps = { db: till.db, clock: till.clock, config: Object.assign({}) }
  const answer = await reportSales(deps, { from: new Date(0), to: new Date('2100-01-01') })
  if (answer.kind !== 'done') throw new Error(JSON.stringify(answer))
  return answer.data
}

it('an item that a bot received is offered and sold on a market, and the sale is recorded against it', async () => {
  await readyToSell(on, client, DOTA)
  const lines = assets.map((assetId, index) => ({
    assetId,
    priceMinor: priceFor(index === 0 ? 1_000n : 2_000n),
  }))
  await startSeller().list(DOTA, lines)
  const listed = on.market.world().items.map(({ itemId }) => String(itemId))
  expect(
    await till.db.selectFrom('sale').select(['reference', 'state', 'price']).orderBy('id').execute(),
  ).toEqual([
    { reference: listed[0], state: 'listed', price: 1_299n },
    { reference: listed[1], state: 'listed', price: 2_599n },
  ])
  await buy('accepts', listed[0] ?? '')
  await buy('declines', listed[1] ?? '')
  const { sales, markets } = await reported()
  expect(sales).toMatchObject([
    {
      ...{ reference: listed[0], state: 'paid', priceMinor: 1_299n, receivedMinor: 1_234n },
      ...{ costMinor: 1_000n, resultMinor: 234n, market: 'market.csgo.com' },
    },
    { reference: listed[1], state: 'cancelled', resultMinor: null },
  ])
  const item = await till.db
    .selectFrom('custody_entry')
    .select(['trade_id', 'asset_id'])
    .orderBy('id')
    .execute()
  expect(sales[0]?.item).toBe(`${item[0]?.trade_id}-${item[0]?.asset_id}`)
  const money = await client.money()
  expect(money).toMatchObject({
    kind: 'said',
    value: { freeMinor: markets[0]?.freeMinor, settlingMinor: 0n },
  })
  expect(on.assetsOf(DOTA)).not.toContain(assets[0])
})
