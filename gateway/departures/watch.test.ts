import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { heldItems } from '../bots/held-item-store.ts'
import { moveItem } from '../bots/items.ts'
import { verifyLedger } from '../ledger/verify.ts'
import type { SteamTrade } from '../steam/steam.ts'
import { type FakeSession, fakeSession, receivedIdOf } from '../testing/fake-steam.ts'
import { offerFor, payFor } from '../testing/payment.ts'
import { testPool } from '../testing/pool.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { steamTrade } from '../testing/trades.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { type ItemFilter, lookThroughItems, movesOf, selectItems } from './item-list-store.ts'

const STORAGE = '76561198000009001'
const STRANGER = '76561198000009002'

let till: Till
let bot: BotContext
let session: FakeSession
/** The asset ids of the deposit's two items at the bot. */
let held: string[]

beforeEach(async () => {
  till = await startTill()
  ;({ bot, session } = await aBot(till))
  const deposit = await aDeposit(till, await aStore(till))
  await payFor(till, { bot, session }, deposit)
  held = deposit.body.items.map((assetId) => receivedIdOf(assetId))
})
afterEach(() => till.close())

const handlers = () => tradeHandlers({ ...till.deps, destinations: new Map([['storage', STORAGE]]) })
const readHistory = (context = bot) => handlers().history(context)

type Giving = Partial<SteamTrade> & { to?: string; assetIds?: string[]; backAs?: string | null }

/**
 * Adds Steam's record of a trade in which the bot gave these assets. Their ids at the receiver begin with a 7.
 * `backAs`: the first digit of their ids at the bot after Steam has undone the trade.
 */
function give(
  tradeId: string,
  { to = STRANGER, assetIds = held, backAs = null, ...change }: Giving = {},
): void {
  const given = assetIds.map((assetId) => ({
    appId: 570,
    contextId: '2',
    assetId,
    newAssetId: `7${assetId}`,
    rolledBackAssetId: backAs && `${backAs}${assetId}`,
  }))
  const trade = steamTrade({
    tradeId,
    partnerSteamId: to,
    received: [],
    given,
    begunAt: till.clock.now(),
    ...change,
  })
  session.trades.set(tradeId, { kind: 'trade', trade })
}

const departures = () =>
  till.db
    .selectFrom('departure')
    .select(['steam_trade_id', 'stage', 'explanation', 'destination'])
    .orderBy('id')
    .execute()
const inHand = async (botId?: bigint) =>
  (await heldItems(till.db, botId === undefined ? {} : { botId })).map(({ assetId }) => assetId)
const alarms = () => till.lines.filter((line) => line.includes('without an explanation'))

/** The differences that verify.sql finds in the books. */
async function differences() {
  const pool = testPool(till.url)
  const found = await verifyLedger(pool)
  await pool.end()
  return found
}

describe('an item that a bot gave', () => {
  it('to an allowed destination is booked without an alarm', async () => {
    give('9500', { to: STORAGE, assetIds: held.slice(0, 1) })
    await readHistory()
    expect(await departures()).toMatchObject([
      { stage: 'gone', explanation: 'destination', destination: 'storage' },
    ])
    expect(await inHand()).toEqual(held.slice(1))
    expect(alarms()).toEqual([])
    expect(await differences()).toEqual([])
  })

  it('without an explanation raises one alarm, however often the history is read', async () => {
    give('9500')
    await readHistory()
    till.clock.advance(3_600_000)
    await readHistory({ ...bot, leaseEpoch: 2n })
    expect(alarms()).toHaveLength(1)
    expect(JSON.parse(alarms()[0] ?? '')).toMatchObject({
      partner: STRANGER,
      steamTrade: '9500',
      items: 2,
      inCustody: 2,
    })
    expect(await departures()).toMatchObject([{ stage: 'gone', explanation: null }])
    expect(await inHand()).toEqual([])
    expect(await differences()).toEqual([])
  })

  it('is booked once, even if the same page is read several times at once', async () => {
    give('9500')
    await Promise.all([readHistory(), readHistory(), readHistory({ ...bot, leaseEpoch: 2n })])
    expect(await departures()).toHaveLength(1)
    const out = await till.db
      .selectFrom('custody_entry')
      .select('asset_id')
      .where('moved', '=', 'out')
      .execute()
    expect(out).toHaveLength(2)
    expect(alarms()).toHaveLength(1)
  })

  it('raises an alarm while Steam holds the trade, and stays in custody if the trade is then called off', async () => {
    give('9500', { state: 'in_escrow' })
    await readHistory()
    expect(alarms()).toHaveLength(1)
    expect(await inHand()).toEqual(held)
    // No page shows the trade any more, so it is read by its number.
    session.pageSize = 1
    for (const id of ['9601', '9602', '9603', '9604']) give(id, { assetIds: [] })
    session.trades.delete('9500')
    const failed = steamTrade({
      tradeId: '9500',
      partnerSteamId: STRANGER,
      state: 'failed',
      received: [],
      begunAt: till.clock.now(),
    })
    session.readSteamTrade = async () => ({
      kind: 'trade',
      trade: {
        ...failed,
        given: [
          { appId: 570, contextId: '2', assetId: held[0] ?? '', newAssetId: null, rolledBackAssetId: null },
        ],
      },
    })
    await readHistory()
    expect(await departures()).toMatchObject([{ stage: 'called_off' }])
    expect(await inHand()).toEqual(held)
  })

  it('makes the till read its trade by number within two readings of the history, even if Steam holds six older trades', async () => {
    const ids = Array.from({ length: 7 }, (_, index) => `950${index}`)
    for (const id of ids) give(id, { state: 'in_escrow', assetIds: [`${id}0`] })
    const { history } = handlers()
    await history(bot)
    await history(bot)
    const statusReads = session.calls.filter((call) => call.startsWith('status 950'))
    expect([...new Set(statusReads)].sort()).toEqual(ids.map((id) => `status ${id}`))
  })

  it('makes the till read its trade by number, even if Steam never answers for an older trade', async () => {
    for (const id of ['9500', '9501']) give(id, { state: 'in_escrow', assetIds: [`${id}0`] })
    const { readSteamTrade } = session
    const readIds: string[] = []
    session.readSteamTrade = async (id) => {
      readIds.push(id)
      return id === '9500' ? { kind: 'unavailable', reason: 'timeout', detail: '' } : readSteamTrade(id)
    }
    const { history } = handlers()
    await history(bot)
    await history(bot)
    expect(readIds.filter((id) => id.startsWith('950'))).toEqual(['9500', '9501', '9500'])
  })

  it('comes back into custody under its new id when Steam undoes the trade, and can leave again', async () => {
    give('9500')
    await readHistory()
    give('9500', { state: 'partly_rolled_back', backAs: '3' })
    await readHistory()
    expect(await inHand()).toEqual(held.map((assetId) => `3${assetId}`))
    expect(till.lines.some((line) => line.includes('came back to a bot'))).toBe(true)
    give('9700', { to: STORAGE, assetIds: held.map((assetId) => `3${assetId}`) })
    await readHistory()
    expect(await inHand()).toEqual([])
    expect(await differences()).toEqual([])
  })

  it('comes back if a newer trade undoes the one by which it left, even if the history no longer shows the older trade', async () => {
    give('9500')
    await readHistory()
    give('9500', { state: 'rolled_back' })
    const { listSteamTrades } = session
    const undoing = steamTrade({
      tradeId: '9900',
      received: [],
      begunAt: till.clock.now(),
      rollbackOf: '9500',
    })
    session.listSteamTrades = async (after) => {
      const page = await listSteamTrades(after)
      return page.kind === 'trades' ? { ...page, trades: [undoing] } : page
    }
    await readHistory()
    expect(await departures()).toMatchObject([{ stage: 'returned' }])
    expect(await inHand()).toEqual(held)
  })

  it('moves to another bot of the till, and back', async () => {
    const otherBot = await aBot(till, fakeSession('76561198000000002'))
    give('9500', { to: otherBot.session.steamId })
    await readHistory()
    expect(await departures()).toMatchObject([{ explanation: 'own_bot' }])
    expect(await inHand(otherBot.bot.botId)).toEqual(held.map((assetId) => `7${assetId}`))
    expect(await inHand(bot.botId)).toEqual([])
    give('9500', { to: otherBot.session.steamId, state: 'rolled_back' })
    await readHistory()
    expect(await inHand(bot.botId)).toEqual(held)
    expect(await inHand(otherBot.bot.botId)).toEqual([])
    expect(await differences()).toEqual([])
    const entries = till.db
      .selectFrom('custody_entry')
      .select(['trade_id as tradeId', 'asset_id as givenAssetId'])
    const moves = await movesOf(till.db, await entries.executeTakeFirstOrThrow())
    const [here, there] = [session.steamId, otherBot.session.steamId]
    expect(moves.slice(1).map(({ partnerSteamId }) => partnerSteamId)).toEqual([there, here, here, there])
  })

  it('is booked once for a bot to which the storage sends it, but not if a stranger or a deposit brings it', async () => {
    const otherBot = await aBot(till, fakeSession('76561198000000002'))
    // The till reads the history of a bot only after the bot has held an item.
    await till.db
      .insertInto('custody_entry')
      .columns(['trade_id', 'asset_id', 'bot_id', 'moved'])
      .expression((eb) =>
        eb
          .selectFrom('trade')
          .select(({ val }) => [
            'trade.id',
            val('1').as('asset_id'),
            val(otherBot.bot.botId).as('bot_id'),
            val('in' as const).as('moved'),
          ]),
      )
      .execute()
    give('9500', { to: STORAGE })
    await readHistory()
    const received = held.map((assetId) => ({
      appId: 570,
      contextId: '2',
      assetId: `7${assetId}`,
      newAssetId: `8${assetId}`,
      rolledBackAssetId: null,
    }))
    const sent = (partnerSteamId: string, tradeId = '9800') => {
      const trade = steamTrade({ tradeId, partnerSteamId, received, begunAt: till.clock.now() })
      otherBot.session.trades.set(tradeId, { kind: 'trade', trade })
    }
    sent(STRANGER)
    // The trade of a deposit. Only the delivery books its items.
    sent(STORAGE, '9001')
    await readHistory(otherBot.bot)
    expect(await inHand(otherBot.bot.botId)).not.toContain(`8${held[0]}`)
    otherBot.session.trades.delete('9001')
    sent(STORAGE)
    await readHistory(otherBot.bot)
    await readHistory(otherBot.bot)
    expect(await inHand(otherBot.bot.botId)).toEqual(
      expect.arrayContaining(held.map((assetId) => `8${assetId}`)),
    )
    expect(await inHand(bot.botId)).toEqual([])
    expect(await departures()).toMatchObject([{ stage: 'returned' }])
    // Two items of the deposit, the other bot's own item, and the two items that came back.
    expect(
      await till.db.selectFrom('custody_entry').select('id').where('moved', '=', 'in').execute(),
    ).toHaveLength(5)
  })

  it('causes no alarm and is not booked twice if the operator had recorded all items of the trade as moved', async () => {
    const items = (await heldItems(till.db)).map(({ item }) => item)
    for (const item of items) expect(await moveItem(till.deps, item)).toMatchObject({ kind: 'moved' })
    give('9500')
    await readHistory()
    expect(await departures()).toMatchObject([{ explanation: 'moved' }])
    expect(alarms()).toEqual([])
    expect(await differences()).toEqual([])
  })

  it('raises an alarm even if no deposit brought it', async () => {
    give('9500', { assetIds: ['424242'] })
    await readHistory()
    expect(JSON.parse(alarms()[0] ?? '')).toMatchObject({ items: 1, inCustody: 0 })
    expect(await inHand()).toEqual(held)
  })

  it('leaves custody even if the till learned of its delivery after its departure', async () => {
    const deposit = await aDeposit(till, await aStore(till))
    const { tradeId, offerId } = await offerFor(till, bot, deposit)
    const assetIds = deposit.body.items.map((assetId) => receivedIdOf(assetId))
    give('9500', { to: STORAGE, assetIds })
    await readHistory()
    session.accept(offerId)
    await tradeHandlers(till.deps).trade(bot, tradeId)
    expect(await inHand()).toEqual([...held, ...assetIds])
    await readHistory()
    expect(await inHand()).toEqual(held)
    expect(await differences()).toEqual([])
  })

  it('causes no departure if the reversal of a delivery gave it back', async () => {
    give('9500', { rollbackOf: '9001' })
    await readHistory()
    expect(await departures()).toEqual([])
    expect(await inHand()).toEqual(held)
  })

  it('is found on a later page, and the next pass through the history ends at trades from before the last complete pass', async () => {
    session.begunAt = () => till.clock.now()
    give('9500')
    for (let index = 0; index < 5; index += 1) give(String(9_600 + index), { assetIds: [] })
    session.pageSize = 1
    for (let turn = 0; turn < 2; turn += 1) await readHistory()
    expect(await departures()).toMatchObject([{ steam_trade_id: '9500' }])
    const pages = () => session.calls.filter((call) => call.startsWith('history')).length
    // One page for each of the six trades.
    expect(pages()).toBe(6)
    const twoHoursAgo = new Date(till.clock.now().getTime() - 2 * 3_600_000)
    session.begunAt = () => twoHoursAgo
    till.clock.advance(3 * 3_600_000)
    await readHistory()
    // The first page is enough: its trade began before the last pass.
    expect(pages()).toBe(7)
  })
})

describe('an item in the list', () => {
  const listItems = async (filter: Partial<ItemFilter> = {}) => {
    const found = await lookThroughItems(till.db, { limit: 10, ...filter })
    const places = found.filter(({ fits }) => fits).map(({ place }) => place)
    return selectItems(till.db, places.slice(0, filter.limit))
  }
  const states = async (filter: Partial<ItemFilter> = {}) =>
    (await listItems(filter)).map(({ state }) => state)

  it('is found by any of its asset ids, with all its changes of custody', async () => {
    give('9500', { to: STORAGE, assetIds: held.slice(0, 1) })
    await readHistory()
    give('9500', { to: STORAGE, assetIds: held.slice(0, 1), state: 'rolled_back', backAs: '3' })
    await readHistory()
    const [item] = await listItems({ asset: held[0] })
    expect(item).toMatchObject({
      state: 'held',
      assetId: `3${held[0]}`,
      price: 1_000n,
      gross: 1_100n,
      leftAt: null,
    })
    for (const asset of [item?.givenAssetId, item?.item, `3${held[0]}`])
      expect(await listItems({ asset })).toEqual([item])
    const moves = await movesOf(till.db, {
      tradeId: item?.tradeId ?? 0n,
      givenAssetId: item?.givenAssetId ?? '',
    })
    expect(moves).toMatchObject([
      {
        moved: 'in',
        assetId: held[0],
        departureId: null,
        partnerSteamId: expect.stringMatching(/^7656119800000/),
      },
      { moved: 'out', assetId: held[0], partnerSteamId: STORAGE },
      { moved: 'in', assetId: `3${held[0]}`, partnerSteamId: STORAGE },
    ])
    expect(await listItems({ asset: '424242' })).toEqual([])
  })

  it('is found by its state and by its bot, page by page', async () => {
    const protectedDeposit = await aDeposit(till, await aStore(till), { game: 'cs' })
    const { tradeId, offerId } = await offerFor(till, bot, protectedDeposit)
    session.accept(offerId, { settlesAt: new Date(till.clock.now().getTime() + 8 * 86_400_000) })
    await tradeHandlers(till.deps).trade(bot, tradeId)
    give('9500', { assetIds: held.slice(0, 1) })
    await readHistory()
    await moveItem(till.deps, (await listItems({ asset: held[1] }))[0]?.item ?? '')
    expect(await states()).toEqual(['protected', 'protected', 'moved', 'departed'])
    expect(await states({ state: 'departed', bot: session.steamId })).toEqual(['departed'])
    expect(await states({ bot: '9' })).toEqual([])
    const [first, next] = await listItems({ limit: 2 })
    expect(await states({ before: next?.place, limit: 2 })).toEqual(['moved', 'departed'])
    expect(first?.protectedUntil).toBeInstanceOf(Date)
    expect((await listItems({ state: 'departed' }))[0]).toMatchObject({
      leftAt: expect.any(Date),
      departureId: 1n,
    })
  })
})
