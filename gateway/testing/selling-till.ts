/**
 * A till whose items are sold on a market. The till uses a fake of Steam. Its vault has its own files, and calls the
 * sandboxes of Steam and of the market over HTTP. All their clocks advance together.
 */
import { BOT, openTestBench, type TestBench } from '../../vault/testing/test-bench.ts'
import type { BotContext } from '../bots/bot.ts'
import { bookVaultLog } from '../departures/vault-reports.ts'
import type { ActDeps } from '../operations/operation.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { type FakeSession, fakeSession, receivedIdOf } from './fake-steam.ts'
import { payFor } from './payment.ts'
import { testPool } from './pool.ts'
import { aBot, aDeposit, aStore, jump, startTill, type Till } from './till.ts'
import { steamTrade } from './trades.ts'

const DAY_S = 86_400
const APP_IDS = { cs: 730, dota: 570 }

type Game = keyof typeof APP_IDS

export type SellingTill = {
  till: Till
  bench: TestBench
  bot: BotContext
  /** The dependencies of the operator's acts. */
  acts: ActDeps
  /**
   * Pays a deposit of two items, worth 10 and 20 USD, and puts them into the bot's inventory. Returns their asset ids.
   */
  pay(game: Game): Promise<string[]>
  /** Advances all clocks by this many days. */
  passDays(count: number): Promise<void>
  /** Runs this many rounds of the vault, each after a restart. Then books its reports in the till. */
  runRounds(count: number): Promise<void>
  /** Lets the till read the bot's trade history at Steam, including the items that the vault gave away. */
  readHistory(): Promise<void>
  /** The items that the market sandbox offers to buyers. */
  itemsOnSale(): ReturnType<TestBench['market']['world']>['items']
  close(): Promise<void>
}

/** Begins on the given day of the week (0: Sunday). On Tuesdays, during Steam's maintenance, nothing is sold. */
export async function startSellingTill(weekday: number): Promise<SellingTill> {
  const till = await startTill()
  const pool = testPool(till.url)
  const bench = await openTestBench({ database: { url: till.url, pool, close: () => pool.end() } })
  const passDays = async (count: number): Promise<void> => {
    bench.advanceMs(count * DAY_S * 1_000)
    await jump(till, count * DAY_S)
  }
  await passDays((7 + weekday - till.clock.now().getUTCDay()) % 7)
  bench.enrol(BOT)
  const { bot, session } = await aBot(till, fakeSession(bench.accountOf(BOT).steamId))
  return {
    till,
    bench,
    bot,
    passDays,
    acts: {
      // No act of these tests reads the settings, so an untyped empty object stands in for them.
      config: Object.assign({}),
      db: till.db,
      clock: till.clock,
      operator: 'Ada',
      reason: 'to sell them',
    },
    pay: (game) => pay({ till, bench, bot, session }, game),
    async runRounds(count) {
      for (let round = 0; round < count; round += 1) {
        bench.restart()
        await bench.runRounds(1)
        await bench.market.look()
      }
      await bookVaultLog(till.deps)
    },
    readHistory: () => readHistory({ till, bench, bot, session }),
    itemsOnSale: () => bench.market.world().items.filter(({ status }) => status === 'on_sale'),
    async close() {
      await bench.close()
      await till.close()
    },
  }
}

type Parts = { till: Till; bench: TestBench; bot: BotContext; session: FakeSession }

async function pay({ till, bench, bot, session }: Parts, game: Game): Promise<string[]> {
  const deposit = await aDeposit(till, await aStore(till), { game })
  await payFor(till, { bot, session }, deposit)
  const assets = deposit.body.items.map((assetId) => receivedIdOf(assetId))
  bench.addItems(
    BOT,
    assets.map((assetId) => ({ appId: APP_IDS[game], assetId })),
  )
  return assets
}

async function readHistory({ till, bench, bot, session }: Parts): Promise<void> {
  for (const trade of bench.steam.world().trades) {
    const given = trade.items.map(({ appId, assetId, newAssetId }) => ({
      appId,
      contextId: '2',
      assetId,
      newAssetId: newAssetId ?? null,
      rolledBackAssetId: null,
    }))
    const record = { tradeId: trade.id, partnerSteamId: trade.partner, received: [], given }
    session.trades.set(trade.id, {
      kind: 'trade',
      trade: steamTrade({ ...record, begunAt: till.clock.now() }),
    })
  }
  await tradeHandlers(till.deps).history(bot)
}
