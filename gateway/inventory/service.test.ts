import { fastify } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { InventoryQuery } from '../../contract/widget-api.ts'
import type { BotContext } from '../bots/bot.ts'
import { botQueue } from '../bots/bot.ts'
import { createDeposit } from '../deposits/service.ts'
import { savePrices, saveRate } from '../pricing/store.ts'
import type { InventoryAnswer, PartnerAnswer, SteamItem } from '../steam/steam.ts'
import { fakeSession } from '../testing/fake-steam.ts'
import { aBot, aStore, startTill, type Till } from '../testing/till.ts'
import { inventoryHandler, sweepInventories } from './jobs.ts'
import { quoteForTrade } from './quotes.ts'
import { inventoryRoutes } from './routes.ts'
import { type InventoryDeps, readInventory } from './service.ts'

const PRICES = { Knife: 20_000_000n, Case: 1_000_000n, Dust: 100_000n, Rare: 9_000_000n }
const MINUTE_MS = 60_000

let till: Till
let deps: InventoryDeps
let bot: BotContext
let hash: string
let depositId: bigint
/** What Steam says, and how often it was asked for an inventory. */
let partner: PartnerAnswer
let owned: InventoryAnswer
let asked: number
let release: Promise<void>

beforeEach(async () => {
  till = await startTill()
  deps = {
    ...till.deps,
    rules: { ...till.deps.rules, commissionBps: 1_000 },
    imageBase: 'https://img.test',
    maxItems: 50,
  }
  partner = { kind: 'ok', holdDays: 0 }
  owned = { kind: 'items', items: [item('1', 'Knife')] }
  asked = 0
  release = Promise.resolve()
  const session = {
    ...fakeSession(),
    checkPartner: async () => partner,
    readInventory: async () => {
      asked += 1
      await release
      return owned
    },
  }
  bot = (await aBot(till, session)).bot
  await openDeposit()
  await price(PRICES)
})
afterEach(() => till.close())

async function openDeposit(minAmount?: number): Promise<void> {
  const store = await aStore(till)
  const { deposit } = await createDeposit(till.deps, store, {
    externalId: 'top-up',
    currency: 'EUR',
    backToStoreUrl: 'https://store.test/',
    ...(minAmount === undefined ? {} : { minAmount }),
  })
  depositId = BigInt(deposit.id)
  hash = deposit.url.slice(-32)
  await till.db
    .updateTable('deposit')
    .set({ user_steam_id: '76561198000000009', user_token: 'tok-en_1', user_name: 'nova' })
    .set({ user_avatar_url: 'a', user_profile_url: 'p' })
    .where('id', '=', depositId)
    .execute()
}

/** Every price as of now, Rare with few sales; a dollar is 0.80 euros. */
async function price(prices: Record<string, bigint>): Promise<void> {
  const asOf = till.clock.now()
  const rows = Object.entries(prices).map(([marketHashName, usdMicros]) => ({
    marketHashName,
    usdMicros,
    popularity: marketHashName === 'Rare' ? 9 : 50,
    popularityKind: 'sales7d' as const,
    asOf,
  }))
  await savePrices(till.db, { source: 'test', game: 'cs' }, rows)
  await saveRate(till.db, 'test', { currency: 'EUR', perUsd: '0.80', asOf })
}

const item = (assetId: string, marketHashName: string, more: Partial<SteamItem> = {}): SteamItem => ({
  assetId,
  classId: '1',
  instanceId: '0',
  amount: 1,
  name: marketHashName,
  marketHashName,
  tradable: true,
  iconPath: 'icon',
  tags: [],
  ...more,
})

/** Runs `call` while the bot works on its queue, as the holder of its lease does. */
async function withBot<T>(call: () => Promise<T>): Promise<T> {
  const handle = inventoryHandler(till.deps)
  const stop = await till.deps.queue.work(botQueue(bot.botId), async (data) => {
    if (typeof data === 'object' && data !== null && 'requestId' in data) {
      await handle(bot, BigInt(String(data.requestId)))
    }
  })
  try {
    return await call()
  } finally {
    await stop()
  }
}

const ask = (more: Partial<InventoryQuery> = {}) =>
  withBot(() => readInventory(deps, { hash, game: 'cs', ...more }))

/** Calls on connections that are open already meet; otherwise the first has finished before the second begins. */
async function openConnections(count: number): Promise<void> {
  let opened = 0
  let allOpen = () => {}
  const all = new Promise<void>((resolve) => {
    allOpen = resolve
  })
  const one = () =>
    till.db.connection().execute(async () => {
      opened += 1
      if (opened === count) allOpen()
      await all
    })
  await Promise.all(Array.from({ length: count }, one))
}

const forTrade = (assetIds: string[], quoteId?: string | null) =>
  till.db.transaction().execute((tx) =>
    quoteForTrade(tx, {
      depositId,
      game: 'cs',
      assetIds,
      rules: deps.rules,
      now: till.clock.now(),
      ...(typeof quoteId === 'string' ? { quoteId } : {}),
    }),
  )

describe('the inventory call', () => {
  test('A-044 items are priced in the currency of the deposit, in the order Steam gave', async () => {
    owned = { kind: 'items', items: [item('9', 'Case'), item('7', 'Knife')] }
    const inventory = await ask()
    expect(inventory).toMatchObject({
      items: [
        { id: '9', name: 'Case', price: 72, iconUrl: 'https://img.test/economy/image/icon/100fx100f' },
        { id: '7', name: 'Knife', price: 1_440 },
      ],
      currency: 'EUR',
      minPrice: 240,
      maxItems: 50,
      unavailableItems: 0,
      unavailableByReason: {},
      inventoryError: false,
      inventoryErrorType: null,
    })
    expect(inventory.quoteId).not.toBeNull()
  })

  test('A-087 D-14 what does not pay is counted by reason', async () => {
    await till.db
      .insertInto('quote')
      .values({
        id: '00000000-0000-4000-8000-000000000000',
        deposit_id: depositId,
        game: 'cs',
        currency: 'EUR',
        rate_id: 1n,
        created_at: new Date(0),
        expires_at: new Date(0),
      })
      .execute()
    const trade = await till.db
      .insertInto('trade')
      .values({
        deposit_id: depositId,
        bot_id: bot.botId,
        quote_id: '00000000-0000-4000-8000-000000000000',
        game: 'cs',
        secret_code: 'ABCDEF',
        partner_steam_id: '1',
        partner_token: 't',
        currency: 'EUR',
        total: 1n,
        gross_total: 1n,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const row = { trade_id: trade.id, app_id: 730, context_id: '2', name: 'n', market_hash_name: 'n' }
    await till.db
      .insertInto('trade_item')
      .values({ ...row, asset_id: '6', price: 1n, gross: 1n })
      .execute()
    owned = {
      kind: 'items',
      items: [
        item('1', 'Knife'),
        item('2', 'Knife', { tradable: false }),
        item('3', 'Dust'),
        item('4', 'Rare'),
        item('5', 'Nobody sells this'),
        item('6', 'Knife'),
        item('7', 'Knife', { amount: 40 }),
        item('1', 'Knife'),
      ],
    }
    expect(await ask()).toMatchObject({
      items: [{ id: '1' }],
      unavailableItems: 6,
      unavailableByReason: { notTradable: 2, tooCheap: 1, notPopular: 1, noPrice: 1, inAnotherTrade: 1 },
    })
  })

  test('D-15 minPrice is the larger of the game and the store', async () => {
    await till.db.updateTable('deposit').set({ min_amount: 5_000n }).execute()
    expect((await ask()).minPrice).toBe(5_000)
  })

  test.each([
    ['hidden', { kind: 'refused', reason: 'hidden' }],
    ['tradeNotAvailable', { kind: 'refused', reason: 'no_items' }],
    ['engineeringWorks', { kind: 'unavailable', reason: 'rate_limited', detail: '429' }],
  ] as const)('A-074 %s, from what Steam said', async (inventoryErrorType, answer) => {
    owned = answer
    expect(await ask()).toMatchObject({
      items: [],
      inventoryError: true,
      inventoryErrorType,
      quoteId: null,
      minPrice: 240,
    })
  })

  test.each([
    ['invalidPartner', { kind: 'refused', reason: 'invalid_token' }],
    ['tradeNotAvailable', { kind: 'refused', reason: 'cannot_trade' }],
    ['escrow', { kind: 'ok', holdDays: 15 }],
  ] as const)('A-074 A-089 %s, from the check of the partner', async (inventoryErrorType, answer) => {
    partner = answer
    expect(await ask()).toMatchObject({ inventoryErrorType })
    expect(asked).toBe(0)
  })

  test('A-074 engineeringWorks while no bot is online', async () => {
    await till.db.updateTable('bot').set({ online: false }).execute()
    expect(await readInventory(deps, { hash, game: 'cs' })).toMatchObject({
      inventoryErrorType: 'engineeringWorks',
    })
  })

  test('A-074 internal when the bot does not answer', async () => {
    const impatient = { ...deps, signals: { ...deps.signals, until: async () => undefined } }
    expect(await readInventory(impatient, { hash, game: 'cs' })).toMatchObject({
      inventoryErrorType: 'internal',
    })
  })

  test('D-5 without an exchange rate that can be trusted nothing is priced', async () => {
    till.clock.advance(49 * 60 * MINUTE_MS)
    expect(await ask()).toMatchObject({ items: [], inventoryErrorType: 'engineeringWorks' })
    expect(till.lines.join('')).toContain('no exchange rate')
  })

  test('refuses a deposit that is unknown, has no user or is closed', async () => {
    const call = (query: InventoryQuery) => readInventory(deps, query)
    await expect(call({ hash: 'f'.repeat(32), game: 'cs' })).rejects.toMatchObject({
      code: 'deposit_not_found',
    })
    await till.db.updateTable('deposit').set({ user_steam_id: null }).execute()
    await expect(call({ hash, game: 'cs' })).rejects.toMatchObject({ code: 'trade_link_missing' })
    await till.db.updateTable('deposit').set({ status: 'paymentTimeout' }).execute()
    await expect(call({ hash, game: 'cs' })).rejects.toMatchObject({ code: 'deposit_closed' })
  })

  test('hostile names neither break the answer nor the database', async () => {
    const half = `${'x'.repeat(199)}\ud83d`
    owned = { kind: 'items', items: [item('1', 'Knife', { name: half }), item('2', '<img onerror=x>')] }
    expect(await ask()).toMatchObject({ items: [{ id: '1' }], unavailableByReason: { noPrice: 1 } })
  })
})

describe('how often Steam is asked', () => {
  test('once for all who ask at the same time', async () => {
    let go = () => {}
    release = new Promise((resolve) => {
      go = resolve
    })
    await openConnections(8)
    await withBot(async () => {
      const calls = Array.from({ length: 8 }, () => readInventory(deps, { hash, game: 'cs' }))
      await expect.poll(() => asked).toBe(1)
      go()
      for (const inventory of await Promise.all(calls)) expect(inventory.items).toHaveLength(1)
    })
    expect(asked).toBe(1)
  })

  test('not again within a minute; its age is told', async () => {
    await ask()
    till.clock.advance(MINUTE_MS - 1)
    expect((await ask()).ageSeconds).toBe(59)
    expect(asked).toBe(1)
    till.clock.advance(1)
    expect((await ask()).ageSeconds).toBe(0)
    expect(asked).toBe(2)
  })

  test('a reload asks anew, once in five seconds', async () => {
    await ask()
    till.clock.advance(4_999)
    await ask({ reload: true })
    expect(asked).toBe(1)
    till.clock.advance(1)
    await ask({ reload: true })
    expect(asked).toBe(2)
  })

  test('a refusal is forgotten after five seconds, so that "Try again" sees what the shopper changed', async () => {
    owned = { kind: 'refused', reason: 'hidden' }
    await ask()
    owned = { kind: 'items', items: [item('1', 'Knife')] }
    till.clock.advance(5_000)
    expect((await ask()).items).toHaveLength(1)
  })

  test('another language or token is another inventory', async () => {
    await ask({ language: 'en' })
    await ask({ language: 'ru' })
    await till.db.updateTable('deposit').set({ user_token: 'other' }).execute()
    await ask({ language: 'ru' })
    expect(asked).toBe(3)
  })

  test('a request is taken once, and not when nobody waits for it any more', async () => {
    const impatient = { ...deps, signals: { ...deps.signals, until: async () => undefined } }
    await readInventory(impatient, { hash, game: 'cs' })
    const { id } = await till.db.selectFrom('inventory_request').select('id').executeTakeFirstOrThrow()
    till.clock.advance(20_000)
    await inventoryHandler(till.deps)(bot, id)
    expect(asked).toBe(0)
    till.clock.advance(-20_000)
    await Promise.all([1, 2].map(() => inventoryHandler(till.deps)(bot, id)))
    expect(asked).toBe(1)
  })
})

describe('D-13 quotes', () => {
  beforeEach(() => {
    owned = { kind: 'items', items: [item('1', 'Knife'), item('2', 'Case'), item('3', 'Case')] }
  })

  test('a trade gets the prices that were shown, whatever they are now', async () => {
    const { quoteId } = await ask()
    await price({ Knife: 1_000_000n })
    till.clock.advance(15 * MINUTE_MS - 1)
    expect(await forTrade(['1', '3'], quoteId)).toMatchObject({
      kind: 'quote',
      quoteId,
      currency: 'EUR',
      items: [
        { assetId: '1', appId: 730, contextId: '2', marketHashName: 'Knife', price: 1_440n, gross: 1_600n },
        { assetId: '3', price: 72n, gross: 80n },
      ],
      minPrice: 240n,
      total: 1_512n,
      gross: 1_680n,
    })
  })

  test('without a quote id the latest counts', async () => {
    await ask()
    await price({ Knife: 30_000_000n })
    till.clock.advance(1_000)
    await ask()
    expect(await forTrade(['1'])).toMatchObject({ total: 2_160n })
  })

  test('expired: as much or more keeps what was shown, less is price_changed', async () => {
    const { quoteId } = await ask()
    till.clock.advance(15 * MINUTE_MS)
    expect(await forTrade(['1', '2'], quoteId)).toMatchObject({ kind: 'quote', total: 1_512n })
    await price({ Knife: 30_000_000n })
    expect(await forTrade(['1'], quoteId)).toMatchObject({ kind: 'quote', total: 1_440n })
    await price({ Knife: 19_900_000n })
    expect(await forTrade(['1'], quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
  })

  test('expired and no longer priced is price_changed', async () => {
    const { quoteId } = await ask()
    till.clock.advance(7 * 60 * MINUTE_MS)
    expect(await forTrade(['2'], quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
  })

  test('A-087 an asset that was not offered is items_unavailable, as is a quote that is not of this deposit', async () => {
    const { quoteId } = await ask()
    const refused = { kind: 'refused', code: 'items_unavailable' }
    expect(await forTrade(['1', '99'], quoteId)).toEqual(refused)
    expect(await forTrade([], quoteId)).toEqual(refused)
    expect(await forTrade(['1'], 'not a quote')).toEqual(refused)
    expect(await forTrade(['1'], '00000000-0000-4000-8000-00000000000f')).toEqual(refused)
  })

  test('old quotes and requests are forgotten, not those of a day', async () => {
    const { quoteId } = await ask()
    const left = async () => (await till.db.selectFrom('inventory_request').select('id').execute()).length
    await sweepInventories(till.deps)
    expect(await left()).toBe(1)
    till.clock.advance(25 * 60 * MINUTE_MS)
    await sweepInventories(till.deps)
    expect(await left()).toBe(0)
    expect(await forTrade(['1'], quoteId)).toMatchObject({ kind: 'refused' })
  })
})

test('A-102 GET /api/inventory answers by the contract and refuses another game (A-019)', async () => {
  const app = fastify().setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler)
  await app.register(inventoryRoutes(deps))
  const get = (query: string) => withBot(async () => app.inject(`/api/inventory?hash=${hash}&${query}`))
  const answer = await get('game=cs&language=ru&reload=true')
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toMatchObject({ items: [{ id: '1', rarity: 'rarity-0', wearCategory: null }] })
  expect((await get('game=chess')).statusCode).toBe(400)
  await app.close()
})
