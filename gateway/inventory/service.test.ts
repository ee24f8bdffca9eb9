import { fastify } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { InventoryQuery } from '../../contract/widget-api.ts'
import { anItem, type StockedTill, startStockedTill } from '../testing/inventory.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { requestTrade } from '../trades/request.ts'
import { inventoryHandler } from './jobs.ts'
import { inventoryRoutes } from './routes.ts'
import { readInventory } from './service.ts'

const MINUTE_MS = 60_000

let till: StockedTill

beforeEach(async () => {
  till = await startStockedTill()
})
afterEach(() => till.close())

/** Opens connections in advance, so calls overlap. Otherwise the first would end before the second starts. */
async function openConnections(count: number): Promise<void> {
  let opened = 0
  let allOpen = () => {}
  const untilAllOpen = new Promise<void>((resolve) => {
    allOpen = resolve
  })
  const connect = () =>
    till.db.connection().execute(async () => {
      opened += 1
      if (opened === count) allOpen()
      await untilAllOpen
    })
  await Promise.all(Array.from({ length: count }, connect))
}

describe('the inventory call', () => {
  test('A-044 prices items in the deposit’s currency, in Steam’s order', async () => {
    till.steam.owned = { kind: 'items', items: [anItem('9', 'Case'), anItem('7', 'Knife')] }
    const inventory = await till.ask()
    expect(inventory).toMatchObject({
      items: [
        { id: '9', name: 'Case', price: 72, iconUrl: 'https://img.test/economy/image/class/730/1/100fx100f' },
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

  test('A-087 D-14 counts unaccepted items by reason, with the time when Steam’s next restriction ends', async () => {
    await till.db
      .insertInto('quote')
      .values({
        id: '00000000-0000-4000-8000-000000000000',
        deposit_id: till.depositId,
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
        deposit_id: till.depositId,
        bot_id: till.bot.botId,
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
    till.steam.owned = {
      kind: 'items',
      items: [
        anItem('1', 'Knife'),
        anItem('2', 'Knife', { tradable: false }),
        anItem('3', 'Dust'),
        anItem('4', 'Rare'),
        anItem('5', 'Nobody sells this'),
        anItem('6', 'Knife'),
        anItem('7', 'Knife', { amount: 40 }),
        anItem('1', 'Knife'),
        ...[8, 9].map((id) => heldItem(String(id), 'held', till.clock.now().getTime() + id * 60_000)),
        heldItem('10', 'protected', till.clock.now().getTime() - 1),
        heldItem('11', 'undescribed', null),
        anItem('12', 'Knife', { market: { kind: 'closed' } }),
        anItem('13', 'Knife', { market: { kind: 'restricted', until: till.clock.now().toISOString() } }),
      ],
    }
    const byTill = { tooCheap: 1, notPopular: 1, noPrice: 1, inAnotherTrade: 1 }
    const bySteam = {
      notTradable: 1,
      stack: 1,
      tradeHold: 2,
      tradeProtected: 1,
      unknownItem: 1,
      notMarketable: 2,
    }
    expect(await till.ask()).toMatchObject({
      items: [{ id: '1' }],
      unavailableItems: 12,
      unavailableByReason: { ...byTill, ...bySteam },
      nextTradableAt: new Date(till.clock.now().getTime() + 8 * 60_000).toISOString(),
    })
    till.steam.owned = { kind: 'items', items: [heldItem('10', 'protected', till.clock.now().getTime() - 1)] }
    till.clock.advance(61_000)
    expect(await till.ask()).not.toHaveProperty('nextTradableAt')
  })

  const heldItem = (id: string, kind: 'held' | 'protected' | 'undescribed', untilMs: number | null) =>
    anItem(id, 'Knife', {
      tradable: false,
      restriction: { kind, until: untilMs === null ? null : new Date(untilMs).toISOString() },
    })

  test('D-15 returns the larger of the game’s and the store’s minimum as minPrice', async () => {
    await till.db.updateTable('deposit').set({ min_amount: 5_000n }).execute()
    expect((await till.ask()).minPrice).toBe(5_000)
  })

  describe.each(['en', 'ru'] as const)('A-074 in language %s returns the state', (language) => {
    test.each([
      ['hidden', { kind: 'refused', reason: 'hidden' }],
      ['tradeNotAvailable', { kind: 'refused', reason: 'no_items' }],
      ['internal', { kind: 'unavailable', reason: 'rate_limited', detail: '429' }],
    ] as const)('%s, from Steam’s answer', async (inventoryErrorType, answer) => {
      till.steam.owned = answer
      expect(await till.ask({ language })).toMatchObject({
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
      ['escrow', { kind: 'ok', holdDays: { partner: 15, own: 0 } }],
      ['internal', { kind: 'unavailable', reason: 'timeout', detail: 'GetTradeHoldDurations' }],
    ] as const)('A-089 %s, from the check of the partner', async (inventoryErrorType, answer) => {
      till.steam.partner = answer
      const inventory = await till.ask({ language })
      const cause = 'reason' in answer && answer.reason === 'cannot_trade' ? 'accountRestricted' : undefined
      expect([inventory.inventoryErrorType, inventory.inventoryErrorCause]).toEqual([
        inventoryErrorType,
        cause,
      ])
      expect(till.steam.reads).toBe(0)
    })

    test('D-28 engineeringWorks if inventories fail for every bot, but items if Steam answers', async () => {
      await till.db.insertInto('outage').values({ kind: 'inventories', since: till.clock.now() }).execute()
      till.steam.owned = { kind: 'unavailable', reason: 'timeout', detail: 'partnerinventory' }
      expect(await till.ask({ language })).toMatchObject({ inventoryErrorType: 'engineeringWorks' })
      till.clock.advance(5_000)
      till.steam.owned = { kind: 'items', items: [anItem('1', 'Knife')] }
      expect(await till.ask({ language })).toMatchObject({ inventoryError: false, items: [{ id: '1' }] })
    })

    test('D-28 engineeringWorks during maintenance, without asking Steam', async () => {
      await till.db.insertInto('outage').values({ kind: 'maintenance', since: till.clock.now() }).execute()
      expect(await till.ask({ language })).toMatchObject({
        inventoryErrorType: 'engineeringWorks',
        minPrice: 240,
      })
      expect(till.steam.reads).toBe(0)
    })

    test('engineeringWorks while no bot is online', async () => {
      await till.db.updateTable('bot').set({ online: false }).execute()
      expect(await readInventory(till.deps, { hash: till.hash, game: 'cs', language })).toMatchObject({
        inventoryErrorType: 'engineeringWorks',
      })
    })

    test('internal if the bot does not answer', async () => {
      const impatient = { ...till.deps, signals: { ...till.deps.signals, until: async () => undefined } }
      expect(await readInventory(impatient, { hash: till.hash, game: 'cs', language })).toMatchObject({
        inventoryErrorType: 'internal',
      })
    })
  })

  test('D-5 prices nothing without a trusted exchange rate', async () => {
    // A rate is trusted for two days.
    till.clock.advance(49 * 60 * MINUTE_MS)
    expect(await till.ask()).toMatchObject({ items: [], inventoryErrorType: 'engineeringWorks' })
    expect(till.lines.join('')).toContain('no exchange rate')
  })

  test('refuses a deposit that is unknown, has no trade link or has ended', async () => {
    const call = (query: InventoryQuery) => readInventory(till.deps, query)
    await expect(call({ hash: 'f'.repeat(32), game: 'cs' })).rejects.toMatchObject({
      code: 'deposit_not_found',
    })
    await till.db.updateTable('deposit').set({ user_steam_id: null }).execute()
    await expect(call({ hash: till.hash, game: 'cs' })).rejects.toMatchObject({ code: 'trade_link_missing' })
    await till.db.updateTable('deposit').set({ status: 'paymentTimeout' }).execute()
    await expect(call({ hash: till.hash, game: 'cs' })).rejects.toMatchObject({ code: 'deposit_closed' })
  })

  test('is not broken by hostile names', async () => {
    const cutInsideCharacter = `${'x'.repeat(199)}\ud83d`
    till.steam.owned = {
      kind: 'items',
      items: [anItem('1', 'Knife', { name: cutInsideCharacter }), anItem('2', '<img onerror=x>')],
    }
    expect(await till.ask()).toMatchObject({ items: [{ id: '1' }], unavailableByReason: { noPrice: 1 } })
  })
})

describe('Steam is asked', () => {
  test('once for simultaneous calls', async () => {
    let letSteamAnswer = () => {}
    till.steam.release = new Promise((resolve) => {
      letSteamAnswer = resolve
    })
    await openConnections(8)
    await till.withBot(async () => {
      const calls = Array.from({ length: 8 }, () => readInventory(till.deps, { hash: till.hash, game: 'cs' }))
      await expect.poll(() => till.steam.reads).toBe(1)
      letSteamAnswer()
      for (const inventory of await Promise.all(calls)) expect(inventory.items).toHaveLength(1)
    })
    expect(till.steam.reads).toBe(1)
  })

  test('at most once a minute, and a stored answer says how old it is', async () => {
    await till.ask()
    till.clock.advance(MINUTE_MS - 1)
    expect((await till.ask()).ageSeconds).toBe(59)
    expect(till.steam.reads).toBe(1)
    till.clock.advance(1)
    expect((await till.ask()).ageSeconds).toBe(0)
    expect(till.steam.reads).toBe(2)
  })

  test('for a reload, but at most once in five seconds', async () => {
    await till.ask()
    till.clock.advance(4_999)
    await till.ask({ reload: true })
    expect(till.steam.reads).toBe(1)
    till.clock.advance(1)
    await till.ask({ reload: true })
    expect(till.steam.reads).toBe(2)
  })

  test('at the next read, however soon, after it refused a trade because the items are gone', async () => {
    till.steam.owned = { kind: 'items', items: [anItem('2', 'Knife'), anItem('1', 'Knife')] }
    const quoteId = (await till.ask()).quoteId ?? undefined
    const [reader] = till.readers
    reader?.session.sends.push({ answer: 'refused', reason: 'items_gone' })
    const request = requestTrade(till.deps, { hash: till.hash, game: 'cs', items: ['1'], quoteId })
    const trades = () => till.db.selectFrom('trade').select('id').execute()
    await expect.poll(trades).toHaveLength(1)
    for (const { id } of await trades()) await tradeHandlers(till.deps).trade(till.bot, id)
    expect(await request).toMatchObject({ code: 'items_unavailable' })
    till.steam.owned = { kind: 'items', items: [anItem('2', 'Knife')] }
    expect((await till.ask({ reload: true })).items).toMatchObject([{ id: '2' }])
  })

  test('again once a refusal is five seconds old, so "Try again" finds the shopper’s changes', async () => {
    till.steam.owned = { kind: 'refused', reason: 'hidden' }
    await till.ask()
    till.steam.owned = { kind: 'items', items: [anItem('1', 'Knife')] }
    till.clock.advance(5_000)
    expect((await till.ask()).items).toHaveLength(1)
  })

  test('separately for each language', async () => {
    await till.ask({ language: 'en' })
    await till.ask({ language: 'ru' })
    expect(till.steam.reads).toBe(2)
  })

  test('once for a request, and not at all if no call waits for the answer any longer', async () => {
    const impatient = { ...till.deps, signals: { ...till.deps.signals, until: async () => undefined } }
    await readInventory(impatient, { hash: till.hash, game: 'cs' })
    const { id } = await till.db.selectFrom('inventory_request').select('id').executeTakeFirstOrThrow()
    till.clock.advance(20_000)
    await inventoryHandler(till.deps)(till.bot, id, () => {})
    expect(till.steam.reads).toBe(0)
    till.clock.advance(-20_000)
    await Promise.all([1, 2].map(() => inventoryHandler(till.deps)(till.bot, id, () => {})))
    expect(till.steam.reads).toBe(1)
  })
})

test('A-102 A-019 GET /api/inventory answers as the contract says, and refuses an unknown game', async () => {
  const app = fastify().setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler)
  await app.register(inventoryRoutes(till.deps))
  const get = (query: string) =>
    till.withBot(async () => app.inject(`/api/inventory?hash=${till.hash}&${query}`))
  const answer = await get('game=cs&language=ru&reload=true')
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toMatchObject({ items: [{ id: '1', rarity: 'rarity-0', wearCategory: null }] })
  expect((await get('game=chess')).statusCode).toBe(400)
  await app.close()
})
