/** Gifts that Steam leaves as they are for days. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { STATE, type Trade } from '../steam-sandbox/world/world.ts'
import { BOT, openTestBench, STORAGE, type TestBench } from './testing/test-bench.ts'

const DAY_MS = 86_400_000
const TEN_MINUTES_MS = 600_000
/** After nearly six hours, the gap between two questions about an offer would be over an hour if it had no limit. */
const AWAY_DAYS = (35 * TEN_MINUTES_MS) / DAY_MS
/** Steam's statuses of a trade that is complete, and of a failed one that Steam is undoing. */
const COMPLETE_STATUS = 3
const UNDOING_STATUS = 8

let bench: TestBench

beforeAll(async () => {
  bench = await openTestBench()
  bench.enrol(BOT)
  bench.writeRules()
})
afterAll(() => bench.close())

const botOffers = () =>
  bench.steam.world().offers.filter(({ sender }) => sender === bench.accountOf(BOT).steamId)
const setTrade = (tradeId: string | undefined, change: (trade: Trade) => Trade) =>
  bench.steam.change((world) => ({
    world: { ...world, trades: world.trades.map((trade) => (trade.id === tradeId ? change(trade) : trade)) },
    answer: undefined,
  }))
const clearFaults = () => fetch(`${bench.steam.url}/control/faults`, { method: 'DELETE' })
const readStuckOffers = async () => (await bench.readNeeds()).filter(({ kind }) => kind === 'offer_stuck')
/** Runs a round every ten minutes. Resolves to the number of rounds. */
async function runForDays(days: number): Promise<number> {
  const rounds = (days * DAY_MS) / TEN_MINUTES_MS
  for (let round = 0; round < rounds; round += 1) {
    await bench.runRounds(1)
    // `runRounds` has already advanced the clock by a minute.
    bench.advanceMs(TEN_MINUTES_MS - 60_000)
  }
  return rounds
}

it('the vault rarely asks about a gift whose trade Steam does not finish, and reports that a person is needed', async () => {
  const wish = await bench.makeWish(bench.addStock(BOT, 1))
  await bench.runRounds(2)
  bench.acceptAll(STORAGE)
  const { tradeId } = botOffers().at(-1) ?? {}
  setTrade(tradeId, (trade) => ({ ...trade, status: UNDOING_STATUS }))
  const callsBefore = bench.calls.length
  const rounds = await runForDays(2)
  // Without waits, each round would make at least two calls.
  expect(bench.calls.length - callsBefore).toBeLessThan(rounds)
  const lines = bench.logged.filter((line) => line.includes(`"steamTrade":"${tradeId}"`))
  // One line a day.
  expect(lines.length).toBeGreaterThanOrEqual(1)
  expect(lines.length).toBeLessThanOrEqual(2)
  const need = { kind: 'offer_stuck', about: `offer ${botOffers().at(-1)?.id}` }
  expect(await bench.readNeeds()).toEqual([need])
  setTrade(tradeId, (trade) => ({ ...trade, status: COMPLETE_STATUS }))
  // The vault asks about a trade at least every half hour.
  await bench.runRounds(31)
  expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
  expect(await bench.readNeeds()).toEqual([])
})

it('while Steam holds a gift in escrow, the vault reports it and rarely asks about it; later it reports the delivery', async () => {
  const wish = await bench.makeWish(bench.addStock(BOT, 1))
  await bench.runRounds(2)
  const { steamId } = bench.accountOf(BOT)
  bench.steam.begin('hold-15-days', { steamId })
  bench.acceptAll(STORAGE)
  bench.steam.end('hold-15-days', steamId)
  expect(botOffers().at(-1)?.state).toBe(STATE.inEscrow)
  const callsBefore = bench.calls.length
  const rounds = await runForDays(1)
  expect(bench.calls.length - callsBefore).toBeLessThan(rounds / 2)
  expect(bench.logged.filter((line) => line.includes('in escrow'))).toHaveLength(1)
  const need = { kind: 'offer_in_escrow', about: `offer ${botOffers().at(-1)?.id}` }
  expect(await bench.readNeeds()).toEqual([need])
  // An hour before the escrow ends, the vault sees it once more. The need would last for two hours from then.
  bench.advanceMs(14 * DAY_MS - 6 * TEN_MINUTES_MS)
  await bench.runRounds(1)
  expect(await bench.readNeeds()).toEqual([need])
  // Ten rounds.
  await runForDays(10 / 144)
  expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
  expect(await bench.readNeeds()).toEqual([])
})

it('an offer that nobody accepts is cancelled within three rounds once Steam’s API is back', async () => {
  const wish = await bench.makeWish(bench.addStock(BOT, 1))
  await bench.runRounds(2)
  const unavailable = { match: { path: '/IEconService/GetTradeOffer/v1' }, effect: { status: 503 } }
  bench.steam.fault({ ...unavailable, times: 10_000 })
  await runForDays(AWAY_DAYS)
  await clearFaults()
  expect(botOffers().at(-1)?.state).toBe(STATE.active)
  await bench.runRounds(3)
  expect(botOffers().at(-1)?.state).toBe(STATE.canceled)
  expect(await bench.readDeed(wish)).toEqual({ state: 'ended', because: 'withdrawn' })
})

it.each([
  ['that Steam refuses for more than a day is reported to need a person', { status: 500 }, 1],
  ['that lacks a session for more than a day is not blamed on Steam', { status: 302 }, 0],
])('a cancellation %s', async (_, effect, count) => {
  const wish = await bench.makeWish(bench.addStock(BOT, 1))
  await bench.runRounds(2)
  const offerId = botOffers().at(-1)?.id
  bench.steam.fault({ match: { path: `/tradeoffer/${offerId}/cancel` }, effect, times: 10_000 })
  await runForDays(1.1)
  const complaints = bench.logged.filter(
    (line) => line.includes('does not cancel') && line.includes(`"${offerId}"`),
  )
  expect(complaints).toHaveLength(count)
  expect(await readStuckOffers()).toHaveLength(count)
  await clearFaults()
  await bench.runRounds(3)
  expect(await bench.readDeed(wish)).toEqual({ state: 'ended', because: 'withdrawn' })
  expect(await readStuckOffers()).toEqual([])
})

it('an offer is reported to need a person if Steam has not shown for a day whether it was sent', async () => {
  bench.steam.begin('send-drop-after', { times: 1 })
  bench.steam.begin('offers-without-items')
  const wish = await bench.makeWish(bench.addStock(BOT, 1))
  await runForDays(0.9)
  expect(await readStuckOffers()).toEqual([])
  await runForDays(0.2)
  const { message } = botOffers().at(-1) ?? {}
  const about = `offer to ${bench.accountOf(STORAGE).steamId} with the message ${message}`
  expect(await readStuckOffers()).toEqual([{ kind: 'offer_stuck', about }])
  bench.steam.end('offers-without-items')
  await bench.runRounds(3)
  expect(await readStuckOffers()).toEqual([])
  bench.acceptAll(STORAGE)
  await bench.runRounds(3)
  expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
})

it('a gift whose send was lost ends, even if its bot sent thousands of offers in the last days', async () => {
  const { steamId: sender } = bench.accountOf(BOT)
  const { steamId: partner } = bench.accountOf(STORAGE)
  const yesterdayS = Math.floor((bench.now().getTime() - DAY_MS) / 1_000)
  bench.steam.change((world) => {
    const declined = Array.from({ length: 2_500 }, (_, index) => ({
      id: String(world.lastId + 1 + index),
      sender,
      partner,
      message: 'K7MXPQ',
      state: STATE.declined,
      createdAtS: yesterdayS,
      updatedAtS: yesterdayS,
      items: [],
      give: [],
    }))
    const offers = [...world.offers, ...declined]
    return { world: { ...world, lastId: world.lastId + declined.length, offers }, answer: undefined }
  })
  bench.steam.begin('send-drop-before', { times: 1 })
  const wish = await bench.makeWish(bench.addStock(BOT, 1))
  await bench.runRounds(6)
  expect(await bench.readDeed(wish)).toEqual({ state: 'ended', because: 'never_appeared' })
})

it('an offer is confirmed in time even while Steam is slow to price the items of other wishes', async () => {
  const [first = '', ...others] = bench.addStock(BOT, 14)
  const wish = await bench.makeWish([first])
  await bench.runRounds(1)
  expect(botOffers().at(-1)?.state).toBe(STATE.needsConfirmation)
  for (const assetId of others) await bench.makeWish([assetId])
  // Each price takes a minute.
  bench.slowPrices(60_000)
  await bench.runRounds(1)
  bench.slowPrices(0)
  bench.acceptAll(STORAGE)
  await bench.runRounds(2)
  expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
})

it('while a wish waits for room in the limits, the vault reads no inventory for it, and makes the offer once there is room', async () => {
  bench.advanceMs(2 * DAY_MS)
  bench.writeRules({ limits: { usdAnHour: '100000.00', usdADay: '100000.00', itemsAnHour: 1 } })
  bench.restart()
  const [first = '', second = ''] = bench.addStock(BOT, 2)
  await bench.makeWish([first])
  await bench.runRounds(1)
  const later = await bench.makeWish([second])
  await bench.runRounds(1)
  expect(await bench.readDeed(later)).toEqual({ state: 'waiting', because: 'the limits have no room now' })
  const countInventories = () => bench.calls.filter((path) => path.includes('GetInventoryItems')).length
  const readBefore = countInventories()
  await bench.runRounds(10)
  expect(countInventories()).toBe(readBefore)
  bench.advanceMs(3_600_000)
  await bench.runRounds(2)
  expect(await bench.readDeed(later)).toMatchObject({ state: 'offered' })
})
