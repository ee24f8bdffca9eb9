/** A till with one bot, one deposit in euros, and prices, for tests of inventories and quotes. */
import type { InventoryQuery } from '../../contract/widget-api.ts'
import { type BotContext, botQueue } from '../bots/bot.ts'
import { createDeposit } from '../deposits/create.ts'
import { inventoryHandler } from '../inventory/jobs.ts'
import { type InventoryDeps, readInventory } from '../inventory/service.ts'
import { rulesWith } from '../pricing/price.ts'
import { savePrices, saveRate } from '../pricing/store.ts'
import { sealedForDeposit } from '../shoppers/trade-token.ts'
import type { InventoryAnswer, PartnerAnswer, SteamItem } from '../steam/steam.ts'
import { type FakeSession, fakeSession } from './fake-steam.ts'
import { aBot, aStore, startTill, TEST_BOX, type Till } from './till.ts'

/** The shopper of the deposit. */
export const SHOPPER = '76561198000000009'

/** In millionths of a dollar. Dust is too cheap to be accepted, and Rare has too few sales. */
const PRICES = { Knife: 20_000_000n, Case: 1_000_000n, Dust: 100_000n, Rare: 9_000_000n }

export type StockedTill = Awaited<ReturnType<typeof startStockedTill>>

type SteamAnswers = {
  partner: PartnerAnswer
  owned: InventoryAnswer
  /** How many times an inventory was requested. */
  reads: number
  /** Steam answers with an inventory only after this promise resolves. */
  release: Promise<void>
}

export async function startStockedTill() {
  const till = await startTill()
  const rules = rulesWith(() => ({ commissionBps: 1_000 }))
  const deps = { ...till.deps, rules, imageBase: 'https://img.test', maxItems: 50 } satisfies InventoryDeps
  const readers: Reader[] = []
  /** Adds a bot. Steam's answers to it can differ from those to the other bots. */
  const addReader = async (): Promise<Reader> => {
    const reader = await aReader(till, readers.length + 1)
    readers.push(reader)
    return reader
  }
  const { steam, bot } = await addReader()
  const { hash, depositId } = await aDepositInEuros(till)
  await setPrices(till, PRICES)

  /** Runs `call` while these bots work through their queues, as the process that holds their leases does. */
  async function withBots<T>(working: readonly Reader[], call: () => Promise<T>): Promise<T> {
    const handle = inventoryHandler(till.deps)
    const stops = working.map(({ bot: each }) =>
      till.deps.queue.work(botQueue(each.botId), async (data) => {
        if (typeof data === 'object' && data !== null && 'requestId' in data) {
          await handle(each, BigInt(String(data.requestId)), () => {})
        }
      }),
    )
    const stopAll = async () => void (await Promise.all(stops.map(async (stop) => (await stop)())))
    return call().finally(stopAll)
  }
  const withBot = <T>(call: () => Promise<T>): Promise<T> => withBots(readers, call)
  const ask = (more: Partial<InventoryQuery> = {}) =>
    withBot(() => readInventory(deps, { hash, game: 'cs', ...more }))
  return { ...till, deps, steam, bot, hash, depositId, readers, addReader, withBots, withBot, ask }
}

/** A bot that reads inventories, and the answers that Steam gives it. */
export type Reader = { bot: BotContext; session: FakeSession; steam: SteamAnswers }

async function aReader(till: Till, number: number): Promise<Reader> {
  const steam: SteamAnswers = {
    partner: { kind: 'ok', holdDays: { partner: 0, own: 0 } },
    owned: { kind: 'items', items: [anItem('1', 'Knife')] },
    reads: 0,
    release: Promise.resolve(),
  }
  const { bot, session } = await aBot(till, {
    ...fakeSession(`7656119800000000${number}`),
    checkPartner: async () => steam.partner,
    readInventory: async () => {
      steam.reads += 1
      await steam.release
      return steam.owned
    },
  })
  return { bot, session, steam }
}

async function aDepositInEuros(till: Till): Promise<{ hash: string; depositId: bigint }> {
  const { deposit } = await createDeposit(till.deps, await aStore(till), {
    externalId: 'top-up',
    currency: 'EUR',
    backToStoreUrl: 'https://store.test/',
  })
  const depositId = BigInt(deposit.id)
  await till.db
    .updateTable('deposit')
    .set({ user_steam_id: SHOPPER, user_name: 'nova' })
    .set(sealedForDeposit(TEST_BOX, deposit.url.slice(-32), 'tok-en_1'))
    .set({ user_avatar_url: 'a', user_profile_url: 'p' })
    .where('id', '=', depositId)
    .execute()
  return { hash: deposit.url.slice(-32), depositId }
}

/** Stores these prices as of now, with few sales of the item Rare. One dollar is 0.80 euros. */
export async function setPrices(
  till: Pick<Till, 'db' | 'clock'>,
  prices: Record<string, bigint>,
): Promise<void> {
  const asOf = till.clock.now()
  const rows = Object.entries(prices).map(([marketHashName, usdMicros]) => ({
    marketHashName,
    usdMicros,
    levelUsdMicros: usdMicros,
    popularity: marketHashName === 'Rare' ? 9 : 50,
    popularityKind: 'sales7d' as const,
    asOf,
  }))
  await savePrices(till.db, { source: 'test', game: 'cs' }, rows)
  await saveRate(till.db, 'test', { currency: 'EUR', perUsd: '0.80', asOf })
}

export const anItem = (
  assetId: string,
  marketHashName: string,
  more: Partial<SteamItem> = {},
): SteamItem => ({
  assetId,
  classId: '1',
  instanceId: '0',
  amount: 1,
  name: marketHashName,
  marketHashName,
  tradable: true,
  restriction: null,
  market: { kind: 'open' },
  isNoted: false,
  tags: [],
  paintIndex: null,
  ...more,
})
