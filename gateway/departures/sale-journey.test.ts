/**
 * An item from its deposit to the money: the till's database and rules, the vault with its own files and hands, and both
 * sandboxes over HTTP. The same by a browser and processes: `npm run prove -- sale`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BOT, openStand, type Stand } from '../../vault/testing/stand.ts'
import type { BotContext } from '../bots/bot.ts'
import type { ActDeps } from '../operations/operation.ts'
import { reportSales } from '../operations/sales.ts'
import { sendItems } from '../operations/wishes.ts'
import { type FakeSession, fakeSession } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { testPool } from '../testing/pool.ts'
import { aBot, aDeposit, aStore, jump, startTill, type Till } from '../testing/till.ts'
import { steamTrade } from '../testing/trades.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { bookTold } from './vault-reports.ts'

const CS = 730
const DAY_S = 86_400
const WEDNESDAY = 3

let till: Till
let stand: Stand
let bot: BotContext
let session: FakeSession
let seller: string
/** As the bot has them, worth 10 and 20 USD. */
let assets: string[]

beforeAll(async () => {
  till = await startTill()
  const pool = testPool(till.url)
  stand = await openStand({ database: { url: till.url, pool, close: () => pool.end() } })
  // Nothing is sold on Tuesdays, when Steam is maintained: what follows falls on the same days of every week.
  await days((7 + WEDNESDAY - till.clock.now().getUTCDay()) % 7)
  stand.enrol(BOT)
  seller = stand.sellOn()
  ;({ bot, session } = await aBot(till, fakeSession(stand.accountOf(BOT).steamId)))
  const deposit = await aDeposit(till, await aStore(till), { game: 'cs' })
  await payFor(till, { bot, session }, deposit)
  assets = deposit.body.items.map((assetId) => `5${assetId}`)
  stand.hold(
    BOT,
    assets.map((assetId) => ({ appId: CS, assetId })),
  )
  await days(9)
  const trade = await till.db.selectFrom('trade').select('id').executeTakeFirstOrThrow()
  await tradeHandlers(till.deps).trade(bot, trade.id)
})
afterAll(async () => {
  await stand.close()
  await till.close()
})

async function days(count: number): Promise<void> {
  stand.pass(count * DAY_S * 1_000)
  await jump(till, count * DAY_S)
}

async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    stand.restart()
    await stand.rounds(1)
    await stand.market.look()
  }
  await bookTold(till.deps)
}

/** The bot's history at Steam tells the till what the vault gave. */
async function readHistory(): Promise<void> {
  for (const trade of stand.steam.world().trades) {
    const given = trade.items.map(({ appId, assetId, newAssetId }) => ({
      ...{ appId, contextId: '2', assetId, newAssetId: newAssetId ?? null, rolledBackAssetId: null },
    }))
    const told = { tradeId: trade.id, partnerSteamId: seller, received: [], given }
    session.trades.set(trade.id, {
      kind: 'trade',
      trade: steamTrade({ ...told, begunAt: till.clock.now() }),
    })
  }
  await tradeHandlers(till.deps).history(bot)
}

const onSale = () => stand.market.world().items.filter(({ status }) => status === 'on_sale')

it('A-018 the items of a deposit are sold on an outside market, and the report says what each brought', async () => {
  const deps: ActDeps = {
    config: Object.assign({}),
    ...{ db: till.db, clock: till.clock, operator: 'Ada', reason: 'to sell them' },
  }
  expect(await sendItems(deps, { to: 'seller', assets: undefined })).toMatchObject({ data: { items: 2 } })
  await rounds(4)
  await readHistory()
  expect(await till.db.selectFrom('departure').select('explanation').execute()).toEqual([
    { explanation: 'vault' },
  ])
  // The receiver of an item of this game waits once more before it can be traded.
  await days(8)
  await rounds(10)
  expect(onSale()).toHaveLength(2)
  expect(await till.db.selectFrom('sale').select('state').execute()).toEqual([
    { state: 'listed' },
    { state: 'listed' },
  ])

  const [first, second] = onSale()
  expect((await stand.market.buy([first?.itemId ?? 0], 'accepts')).kind).toBe('bought')
  expect((await stand.market.buy([second?.itemId ?? 0], 'declines')).kind).toBe('bought')
  await rounds(8)
  await days(9)
  await rounds(4)

  const answer = await reportSales(deps, { from: new Date(0), to: new Date('2100-01-01') })
  if (answer.kind !== 'done') throw new Error(JSON.stringify(answer))
  const { sales, markets } = answer.data
  const sold = sales.find(({ reference }) => reference === String(first?.itemId))
  const cost = await till.db
    .selectFrom('trade_item')
    .select(['trade_id', 'asset_id', 'price'])
    .where('received_asset_id', 'in', assets)
    .orderBy('price')
    .execute()
  const item = cost.find((each) => `${each.trade_id}-${each.asset_id}` === sold?.item)
  expect(sold).toMatchObject({ state: 'paid', market: 'market.csgo.com', costMinor: item?.price })
  expect(sold?.resultMinor).toBe((sold?.receivedMinor ?? 0n) - (item?.price ?? 0n))
  expect(sales.find(({ reference }) => reference === String(second?.itemId))?.state).toBe('cancelled')
  expect(markets).toMatchObject([
    { market: 'market.csgo.com', freeMinor: sold?.receivedMinor, freeDifferenceMinor: 0n },
  ])
})
