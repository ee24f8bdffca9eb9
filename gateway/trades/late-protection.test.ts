/** Deliveries whose protection Steam reports only later, and one that is proved only after its protection. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { heldItems } from '../bots/held-item-store.ts'
import { countItems, countItemsByGame, heldByGame } from '../bots/item-store.ts'
import { moveItem } from '../bots/items.ts'
import { balancesOf } from '../ledger/store.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { runCommand } from '../testing/command.ts'
import { type FakeSession, fakeSession, receivedIdOf, steamTradeIdOf } from '../testing/fake-steam.ts'
import { offerFor, payFor } from '../testing/payment.ts'
import { testPool } from '../testing/pool.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { steamTrade } from '../testing/trades.ts'
import { tradeHandlers } from './advance.ts'

const DAY_MS = 86_400_000
/** The Steam trade of the first offer. */
const STEAM_TRADE = steamTradeIdOf('1')

let till: Till
let bot: BotContext
let session: FakeSession

beforeEach(async () => {
  till = await startTill()
  ;({ bot, session } = await aBot(till))
})
afterEach(() => till.close())

async function work(): Promise<void> {
  const rows = await till.db.selectFrom('trade').select('id').orderBy('id').execute()
  for (const { id } of rows) await tradeHandlers(till.deps).trade(bot, id)
}

async function differences() {
  const pool = testPool(till.url)
  try {
    return await verifyLedger(pool)
  } finally {
    await pool.end()
  }
}

const tradeRow = () => till.db.selectFrom('trade').selectAll().orderBy('id').executeTakeFirstOrThrow()
const afterMs = (ms: number): Date => new Date(till.clock.now().getTime() + ms)

/** Makes Steam report when a Steam trade's protection ends. */
function reportSettlement(steamTradeId: string, settlesAt: Date | null): void {
  const answer = session.trades.get(steamTradeId)
  if (answer?.kind !== 'trade') throw new Error(`no Steam trade ${steamTradeId}`)
  session.trades.set(steamTradeId, { kind: 'trade', trade: { ...answer.trade, settlesAt } })
}

type Terms = { credit_mode?: 'on_accept' | 'on_release'; liability?: 'operator' | 'store' }

async function aDelivery({ riskLimitUsdCents, ...terms }: Terms & { riskLimitUsdCents?: bigint } = {}) {
  const store = await aStore(till, riskLimitUsdCents === undefined ? {} : { riskLimitUsdCents })
  const settings = { credit_mode: 'on_accept' as const, ...terms }
  await till.db.updateTable('store').set(settings).where('id', '=', store.id).execute()
  await payFor(till, { bot, session }, await aDeposit(till, store))
  return { store, balances: () => balancesOf(till.db, store.id) }
}

describe('a delivery of a game that Steam normally does not protect', () => {
  it('is read again after ten minutes and after a day, and not later', async () => {
    await aDelivery()
    session.calls.length = 0
    const looks = () => session.calls.filter((call) => call.startsWith('status')).length
    const counts = []
    for (const ms of [599_000, 1_000, DAY_MS - 601_000, 1_000, DAY_MS]) {
      till.clock.advance(ms)
      await work()
      await work()
      counts.push(looks())
    }
    expect(counts).toEqual([0, 1, 1, 2, 2])
    expect(await tradeRow()).toMatchObject({ state: 'final', look_at: null, due_at: null })
  })

  it.each(['on_accept', 'on_release'] as const)(
    'D-8 that is protected after all keeps its credit spendable, and at risk until protection ends (%s)',
    async (creditMode) => {
      const { balances, store } = await aDelivery({ credit_mode: creditMode, riskLimitUsdCents: 4_000n })
      const settlesAt = afterMs(7 * DAY_MS)
      reportSettlement(STEAM_TRADE, settlesAt)
      till.clock.advance(600_000)
      await work()
      expect(await tradeRow()).toMatchObject({
        state: 'held',
        settles_at: settlesAt,
        held_amount: 0n,
        at_risk_amount: 3_000n,
        protection_found_at: till.clock.now(),
      })
      expect(await balances()).toEqual([{ currency: 'USD', held: 0n, available: 3_000n }])
      // The first deposit has the id 1001.
      const shown = await runCommand(['deposit', 'show', '1001'], { databaseUrl: till.url })
      expect(shown.out).toContain('Steam protects it after all')
      expect(await differences()).toEqual([])
      // The credit uses a part of the limit, so less is left for the next delivery.
      await payFor(till, { bot, session }, await aDeposit(till, store, { game: 'cs' }))
      const creditedNow = creditMode === 'on_release' ? 0n : 1_000n
      expect(await balances()).toEqual([
        { currency: 'USD', held: 3_000n - creditedNow, available: 3_000n + creditedNow },
      ])
      expect(await differences()).toEqual([])
      till.clock.advance(7 * DAY_MS)
      await work()
      expect(await tradeRow()).toMatchObject({ state: 'final', at_risk_amount: 0n })
      expect(await differences()).toEqual([])
    },
  )

  it('D-36 that is protected after all and partly taken back costs a liable store only that part', async () => {
    const { balances } = await aDelivery({ liability: 'store' })
    reportSettlement(STEAM_TRADE, afterMs(7 * DAY_MS))
    till.clock.advance(600_000)
    await work()
    const [first = ''] = (
      await till.db.selectFrom('trade_item').select('asset_id').orderBy('asset_id').execute()
    ).map((row) => row.asset_id)
    session.takeBack(STEAM_TRADE, [first])
    await tradeHandlers(till.deps).history(bot)
    expect(await tradeRow()).toMatchObject({ state: 'held', reversed_amount: 1_000n, at_risk_amount: 3_000n })
    expect(await differences()).toEqual([])
    till.clock.advance(7 * DAY_MS)
    await work()
    expect(await tradeRow()).toMatchObject({ state: 'final', at_risk_amount: 1_000n })
    expect(await balances()).toEqual([{ currency: 'USD', held: 0n, available: 2_000n }])
    expect(await differences()).toEqual([])
  })

  it('is held from the start if its offer says that Steam delays the settlement', async () => {
    const { accept } = session
    session.accept = (offerId, options) => {
      accept(offerId, options)
      const offer = session.offers.get(offerId)
      if (offer !== undefined) session.offers.set(offerId, { ...offer, delaysSettlement: true })
    }
    await aDelivery({ credit_mode: 'on_release' })
    expect(await tradeRow()).toMatchObject({ state: 'held', held_amount: 3_000n })
    expect((await tradeRow()).settles_at).toEqual(new Date((await acceptedAt()) + 8 * DAY_MS))
  })

  const acceptedAt = async () => (await tradeRow()).accepted_at?.getTime() ?? 0
})

describe('an item that had left its bot when its shopper took it back', () => {
  const takeBack = async () => {
    session.takeBack(STEAM_TRADE)
    till.clock.advance(600_000)
    await work()
    expect((await tradeRow()).state).toBe('reversed')
  }
  /** The numbers of items that are stored for each bot. */
  const countedItems = async () => {
    await countItems(till.db)
    await countItemsByGame(till.db)
    const rows = await till.db
      .selectFrom('bot')
      .innerJoin('bot_games', 'bot_games.bot_id', 'bot.id')
      .select(['items_held', 'items'])
      .orderBy('bot.id')
      .execute()
    return rows.map(({ items_held: inAll, items }) => [inAll, items[570] ?? 0])
  }

  it.each([
    ['before', true],
    ['after', false],
  ])('is subtracted from the bot’s count once, if it was first counted %s it left', async (_, isEarly) => {
    await aDelivery()
    const left = await heldItems(till.db)
    await aDelivery()
    if (isEarly) await countedItems()
    for (const { item } of left) expect(await moveItem(till.deps, item)).toMatchObject({ kind: 'moved' })
    if (isEarly) await countedItems()
    await takeBack()
    expect(await heldByGame(till.db, bot.botId)).toEqual([{ appId: 570, held: 2, protected: 0 }])
    expect(await countedItems()).toEqual([[2, 2]])
    expect(await heldByGame(till.db, bot.botId)).toEqual([{ appId: 570, held: 2, protected: 0 }])
    expect(await differences()).toEqual([])
  })

  it('is subtracted from the count of the other bot of ours that had it', async () => {
    await aDelivery()
    const other = await aBot(till, fakeSession('76561198000000002'))
    const assets = await till.db.selectFrom('trade_item').select('asset_id').execute()
    const given = assets.map(({ asset_id: id }) => ({
      appId: 570,
      contextId: '2',
      assetId: receivedIdOf(id),
      newAssetId: `7${receivedIdOf(id)}`,
      rolledBackAssetId: null,
    }))
    const partnerSteamId = other.session.steamId
    const gift = steamTrade({
      tradeId: '9500',
      partnerSteamId,
      received: [],
      given,
      begunAt: till.clock.now(),
    })
    session.trades.set('9500', { kind: 'trade', trade: gift })
    await tradeHandlers(till.deps).history(bot)
    expect(await heldByGame(till.db, other.bot.botId)).toEqual([{ appId: 570, held: 2, protected: 0 }])
    await takeBack()
    expect(await heldByGame(till.db, other.bot.botId)).toEqual([])
    const zero = [0, 0]
    expect(await countedItems()).toEqual([zero, zero])
    const back = till.db.selectFrom('custody_entry').select('received_asset_id').where('moved', '=', 'back')
    expect((await back.execute()).map((entry) => entry.received_asset_id).toSorted()).toEqual(
      given.map(({ newAssetId }) => newAssetId).toSorted(),
    )
    expect(await differences()).toEqual([])
  })
})

it('a delivery on release that is proved only after its protection ended is spendable, and the ledger agrees', async () => {
  const store = await aStore(till)
  await till.db.updateTable('store').set({ credit_mode: 'on_release' }).execute()
  await offerFor(till, bot, await aDeposit(till, store, { game: 'cs' }))
  session.accept('1', { isReceived: false })
  const [offer, answer] = [session.offers.get('1'), session.trades.get(STEAM_TRADE)]
  if (offer === undefined || answer?.kind !== 'trade')
    throw new Error('Steam has no offer, or no Steam trade')
  session.offers.set('1', { ...offer, settlesAt: afterMs(8 * DAY_MS), delaysSettlement: true })
  await work()
  expect((await tradeRow()).state).toBe('active')
  till.clock.advance(8 * DAY_MS)
  const received = answer.trade.received.map((asset) => ({ ...asset, newAssetId: `5${asset.assetId}` }))
  session.trades.set(STEAM_TRADE, { kind: 'trade', trade: { ...answer.trade, state: 'complete', received } })
  await work()
  expect((await tradeRow()).state).toBe('final')
  expect(await balancesOf(till.db, store.id)).toMatchObject([{ held: 0n, available: 3_000n }])
  expect(await differences()).toEqual([])
})
