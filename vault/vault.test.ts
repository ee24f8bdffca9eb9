/** The vault end to end: wishes in a real database, the Steam sandbox, its own files. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { reverseTrade } from '../steam-sandbox/world/trades.ts'
import { STATE, type Trade } from '../steam-sandbox/world/world.ts'
import { BOT, openTestBench, STORAGE, type TestBench } from './testing/test-bench.ts'

/** Steam's status of a trade that moved nothing. */
const FAILED_STATUS = 4

const DAY_MS = 86_400_000

let bench: TestBench

beforeAll(async () => {
  bench = await openTestBench()
  bench.enrol(BOT)
  bench.writeRules()
})
beforeEach(() => {
  bench.restart()
  bench.writeRules()
  // After two days, the gifts of earlier tests no longer count towards the limits.
  bench.advanceMs(2 * DAY_MS)
})
afterAll(() => bench.close())

const offers = () => bench.steam.world().offers
const setTrade = (tradeId: string | undefined, change: (trade: Trade) => Trade) =>
  bench.steam.change((world) => ({
    world: { ...world, trades: world.trades.map((trade) => (trade.id === tradeId ? change(trade) : trade)) },
    answer: undefined,
  }))
const botOffers = () => offers().filter(({ sender }) => sender === bench.accountOf(BOT).steamId)

describe('a wish for an allowed destination', () => {
  it('gets a confirmed offer, and is reported as delivered when Steam has the record of the trade', async () => {
    const assets = bench.addStock(BOT, 3)
    const wish = await bench.makeWish(assets.slice(0, 2))
    await bench.runRounds(2)
    expect(botOffers().at(-1)).toMatchObject({ state: STATE.active, items: [] })
    expect(botOffers().at(-1)?.message).toMatch(new RegExp(`^vault w${wish} x[0-9a-f]{8}$`))
    expect(await bench.readDeed(wish)).toMatchObject({ state: 'offered' })
    bench.acceptAll(STORAGE)
    await bench.runRounds(1)
    expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
    expect(bench.countOwned(BOT, assets)).toBe(1)
  })

  it('is reported with the till’s time, even if that is ahead of the machine’s time', async () => {
    const wish = await bench.makeWish(bench.addStock(BOT, 1))
    const before = bench.now()
    await bench.runRounds(1)
    const { rows } = await bench.asVault.query(
      'select at >= $2 as later from vault_deed where wish_id = $1',
      [wish, before],
    )
    expect(rows).toEqual([{ later: true }])
  })

  it('ends, with its offer cancelled, if the partner does not accept', async () => {
    const assets = bench.addStock(BOT, 1)
    const wish = await bench.makeWish(assets)
    await bench.runRounds(2)
    // The partner has 30 minutes.
    bench.advanceMs(31 * 60_000)
    await bench.runRounds(2)
    expect(await bench.readDeed(wish)).toEqual({ state: 'ended', because: 'withdrawn' })
    expect(botOffers().at(-1)?.state).toBe(STATE.canceled)
    expect(bench.countOwned(BOT, assets)).toBe(1)
  })

  it('gives nothing if the operator removes the destination before the offer is confirmed', async () => {
    const assets = bench.addStock(BOT, 1)
    const wish = await bench.makeWish(assets)
    await bench.runRounds(1)
    expect(botOffers().at(-1)?.state).toBe(STATE.needsConfirmation)
    bench.restart()
    bench.writeRules({ destinations: {} })
    await bench.runRounds(2)
    expect(await bench.readDeed(wish)).toEqual({ state: 'ended', because: 'withdrawn' })
    expect(bench.countOwned(BOT, assets)).toBe(1)
  })

  it.each([
    [
      'is delivered if Steam took the trade back before the vault had seen the delivery',
      'rolled back',
      { state: 'delivered' },
    ],
    ['has ended if its trade failed', FAILED_STATUS, { state: 'ended', because: 'failed' }],
    ['stays open while Steam undoes its failed trade', 8, { state: 'offered' }],
    [
      'is delivered if Steam gave up undoing its failed trade, and the partner has the items',
      9,
      { state: 'delivered' },
    ],
    ['is delivered if its trade is committed, and all items have arrived', 2, { state: 'delivered' }],
  ] as const)('%s', async (_, how, deed) => {
    const wish = await bench.makeWish(bench.addStock(BOT, 1))
    await bench.runRounds(2)
    bench.acceptAll(STORAGE)
    const tradeId = botOffers().at(-1)?.tradeId ?? ''
    if (how === 'rolled back')
      bench.steam.change((world, nowS) => reverseTrade(world, { tradeId, bySupport: true }, nowS))
    else setTrade(tradeId, (trade) => ({ ...trade, status: how }))
    await bench.runRounds(2)
    expect(await bench.readDeed(wish)).toMatchObject(deed)
  })

  it.each([
    ['stays open if its trade is committed, but no item has arrived', 2, { state: 'offered' }],
    [
      'has ended if Steam gave up undoing its failed trade, and no item has arrived',
      9,
      { state: 'ended', because: 'failed' },
    ],
  ] as const)('%s', async (_, status, deed) => {
    const wish = await bench.makeWish(bench.addStock(BOT, 1))
    await bench.runRounds(2)
    bench.acceptAll(STORAGE)
    setTrade(botOffers().at(-1)?.tradeId, (trade) => ({
      ...trade,
      status,
      items: trade.items.map(({ newAssetId: _, ...item }) => item),
    }))
    await bench.runRounds(2)
    expect(await bench.readDeed(wish)).toMatchObject(deed)
  })

  it('ends if the partner declines', async () => {
    const wish = await bench.makeWish(bench.addStock(BOT, 1))
    await bench.runRounds(2)
    bench.steam.as(STORAGE).decline(botOffers().at(-1)?.id ?? '')
    await bench.runRounds(1)
    expect(await bench.readDeed(wish)).toEqual({ state: 'ended', because: 'declined' })
  })

  it.each(['send-16-sent', 'send-drop-after', 'send-200-empty'])(
    'gets at most one offer, for which the vault searches after the fault %s',
    async (fault) => {
      const offersBefore = botOffers().length
      bench.steam.begin(fault, { times: 1 })
      const wish = await bench.makeWish(bench.addStock(BOT, 1))
      await bench.runRounds(3)
      bench.acceptAll(STORAGE)
      await bench.runRounds(4)
      const isSent = fault !== 'send-200-empty'
      expect(botOffers().length - offersBefore).toBe(isSent ? 1 : 0)
      expect(await bench.readDeed(wish)).toMatchObject(
        isSent ? { state: 'delivered' } : { state: 'ended', because: 'never_appeared' },
      )
    },
  )

  it.each(['offers-not-there', 'offers-without-items'])(
    'gets one offer and is delivered if the answer to its send is lost and Steam’s lists prove nothing for minutes (fault %s)',
    async (fault) => {
      const offersBefore = botOffers().length
      bench.steam.begin('send-drop-after', { times: 1 })
      bench.steam.begin(fault)
      const wish = await bench.makeWish(bench.addStock(BOT, 1))
      await bench.runRounds(6)
      bench.steam.end(fault)
      expect(await bench.readDeed(wish)).toMatchObject({ state: 'intended' })
      await bench.runRounds(2)
      bench.acceptAll(STORAGE)
      await bench.runRounds(2)
      expect(botOffers().length - offersBefore).toBe(1)
      expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
    },
  )

  it.each([
    ['clearly refuses its offer', 'send-26', 'steam_26'],
    ['answers with an error number, and the offer never appears', 'send-2', 'steam_2'],
    ['answers without an error number, and the offer never appears', 'send-503-html', 'never_appeared'],
  ])('has ended if Steam %s (fault %s, reason %s)', async (_, fault, because) => {
    bench.steam.begin(fault, { times: 1 })
    const wish = await bench.makeWish(bench.addStock(BOT, 1))
    await bench.runRounds(2)
    // The reason survives a restart.
    bench.restart()
    await bench.runRounds(4)
    expect(await bench.readDeed(wish)).toEqual({ state: 'ended', because })
    const failed = { kind: 'gift_failed', about: 'destination storage' }
    expect(await bench.readNeeds()).toEqual([failed])
    await bench.makeWish(bench.addStock(BOT, 1))
    await bench.runRounds(2)
    expect(await bench.readNeeds()).toEqual([failed])
    bench.acceptAll(STORAGE)
    await bench.runRounds(2)
    expect(await bench.readNeeds()).toEqual([])
  })

  it('is delivered even if Steam sends its result "Fail" (2) with each complete answer', async () => {
    bench.steam.begin('read-result-2-with-data')
    const wish = await bench.makeWish(bench.addStock(BOT, 1))
    await bench.runRounds(3)
    bench.acceptAll(STORAGE)
    await bench.runRounds(2)
    bench.steam.end('read-result-2-with-data')
    expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
  })

  it('is delivered even if its bot has not acknowledged Steam’s notice about trade protection', async () => {
    const behaviourUrl = `${bench.steam.url}/control/behaviours/must-acknowledge`
    const body = JSON.stringify({ steamId: bench.accountOf(BOT).steamId })
    const headers = { 'content-type': 'application/json' }
    await fetch(behaviourUrl, { method: 'PUT', body, headers })
    const wish = await bench.makeWish(bench.addStock(BOT, 1))
    await bench.runRounds(2)
    bench.acceptAll(STORAGE)
    await bench.runRounds(1)
    await fetch(behaviourUrl, { method: 'DELETE', body, headers })
    expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
  })

  it('has its offer sent again if its bot had no session, and ends with a reason of its own if that continues', async () => {
    const wish = await bench.makeWish(bench.addStock(BOT, 1))
    bench.steam.begin('send-401', { times: 2 })
    await bench.runRounds(1)
    bench.steam.end('send-401')
    expect(await bench.readDeed(wish)).toMatchObject({ state: 'intended' })
    await bench.runRounds(2)
    bench.acceptAll(STORAGE)
    await bench.runRounds(2)
    expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
    const secondWish = await bench.makeWish(bench.addStock(BOT, 1))
    bench.steam.begin('send-401')
    await bench.runRounds(20)
    bench.steam.end('send-401')
    expect(await bench.readDeed(secondWish)).toEqual({ state: 'ended', because: 'no_session' })
  })

  it.each([
    'confirm-list-429',
    'confirm-too-many-requests',
    'confirm-list-empty',
    'confirm-list-unreadable',
    'confirm-failed',
    'confirm-failed-done',
    'confirm-drop-after',
    'confirm-429',
  ])('is delivered in spite of the fault %s', async (fault) => {
    bench.steam.begin(fault, { times: 1 })
    const wish = await bench.makeWish(bench.addStock(BOT, 1))
    await bench.runRounds(5)
    bench.acceptAll(STORAGE)
    await bench.runRounds(1)
    expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
  })

  it('waits while its bot is not enrolled', async () => {
    const otherBot = 'Tradetill Bot #2'
    const wish = await bench.makeWish(bench.addStock(otherBot, 1), { botId: await bench.addBotRow(otherBot) })
    await bench.runRounds(1)
    expect(await bench.readDeed(wish)).toEqual({ state: 'waiting', because: 'the bot is not enrolled' })
    expect(offers().some(({ sender }) => sender === bench.accountOf(otherBot).steamId)).toBe(false)
  })
})
