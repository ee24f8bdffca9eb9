import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import type { Offer, UnreadableOffer } from '../steam/steam.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { offerFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'
import { requestTrade } from './request.ts'
import type { TradeStore } from './trade-store.ts'

const DAY_MS = 86_400_000

let till: Till
let bot: BotContext
let session: FakeSession

beforeEach(async () => {
  till = await startTill()
  ;({ bot, session } = await aBot(till))
})
afterEach(() => till.close())

const trades = () => till.db.selectFrom('trade').selectAll().orderBy('id').execute()
const lists = () => session.calls.filter((call) => call.startsWith('list'))

/** Puts this many old offers to another shopper on top of the bot's list. */
function bury(count: number): void {
  const ownOffers = [...session.offers]
  session.offers.clear()
  for (let index = 0; index < count; index += 1) {
    const offerId = String(100_000 + index)
    session.offers.set(offerId, {
      offerId,
      partnerSteamId: '76561198000000044',
      message: `old ${index}`,
      state: 'declined',
      tradeId: null,
      itemsToReceive: [{ appId: 570, contextId: '2', assetId: offerId }],
      itemsToGive: [],
      createdAt: new Date(0),
      escrowEndsAt: null,
      delaysSettlement: false,
      settlesAt: null,
    } satisfies Offer)
  }
  for (const [id, offer] of ownOffers) session.offers.set(id, offer)
}

/** Requests a trade, and sends its offer without an answer from Steam. */
async function sendWithoutAnswer(createsOffer: boolean) {
  session.sends.push({ answer: 'unknown', createsOffer })
  const answer = requestTrade(till.deps, (await aDeposit(till, await aStore(till))).body)
  await expect.poll(trades).toHaveLength(1)
  const id = (await trades())[0]?.id ?? 0n
  const { trade } = tradeHandlers(till.deps)
  // Steam is down, so the search does not begin yet.
  session.isDown = true
  await trade(bot, id)
  session.isDown = false
  return { answer, work: () => trade(bot, id), row: async () => (await trades())[0] }
}

/** Works often enough, over a long enough time, to give up a send whose offer is missing. */
async function lookFourTimes(work: () => Promise<void>): Promise<void> {
  for (let look = 0; look < 4; look += 1) {
    till.clock.advance(15_000)
    await work()
  }
}

describe('a list of many pages', () => {
  it('does not delay the proof of an acceptance on its last page, because the watch reads that offer separately', async () => {
    await offerFor(till, bot, await aDeposit(till, await aStore(till)))
    bury(2_500)
    session.accept('1')
    const { watch } = tradeHandlers(till.deps)
    await watch(bot)
    expect(await trades()).toMatchObject([{ state: 'final' }])
    // The first three pages are read by the watch's own pass, and again by the search for orphans.
    expect(lists()).toEqual(['list', 'list 100', 'list 200', 'list', 'list 100', 'list 200'])
  })

  it('is continued at the page that failed, and shows an orphan on its last page', async () => {
    const store = await aStore(till)
    await offerFor(till, bot, await aDeposit(till, store))
    const ownOffer = session.offers.get('1')
    if (ownOffer === undefined) throw new Error('Steam has no offer')
    bury(1_000)
    session.offers.set('50', { ...ownOffer, offerId: '50', message: 'ZZZZZZ' })
    const { watch } = tradeHandlers(till.deps)
    const states = []
    for (let turn = 0; turn < 7; turn += 1) {
      session.isDown = turn === 2
      await watch(bot)
      states.push(session.offers.get('50')?.state)
      till.clock.advance(60_000)
    }
    expect(states.slice(0, 4)).toEqual(['active', 'active', 'active', 'active'])
    expect(states.at(-1)).toBe('cancelled')
    // The watch's own pass, and the search for orphans: each page once, except where Steam did not answer.
    const times = (call: string) => lists().filter((other) => other === call).length
    expect([times('list 300'), times('list 1000')]).toEqual([2, 2])
  })

  it('does not reach further back for a trade whose items do not arrive, because its offer is read separately', async () => {
    const store = await aStore(till)
    await offerFor(till, bot, await aDeposit(till, store))
    session.accept('1', { isReceived: false })
    const lookedBackMs: number[] = []
    const { listOffers } = session
    session.listOffers = async (since, cursor) => {
      lookedBackMs.push(till.clock.now().getTime() - since.getTime())
      const page = await listOffers(since, cursor)
      return page.kind === 'offers' ? { ...page, sent: [] } : page
    }
    const { watch } = tradeHandlers(till.deps)
    for (let turn = 0; turn < 3; turn += 1) {
      await watch(bot)
      till.clock.advance(5 * DAY_MS)
    }
    await watch(bot)
    lookedBackMs.length = 0
    till.clock.advance(5_000)
    await watch(bot)
    expect(lookedBackMs).toEqual([15 * 60_000])
    expect(session.calls.at(-1)).toBe('read 1')
    expect(await trades()).toMatchObject([{ state: 'active', steam_trade_id: '9001' }])
  })

  it('shows an offer whose send got no answer as soon as the offer’s page is read', async () => {
    const { answer, work, row } = await sendWithoutAnswer(true)
    bury(800)
    for (let look = 0; look < 3; look += 1) {
      till.clock.advance(5_000)
      await work()
    }
    expect(await answer).toEqual({ kind: 'active' })
    expect(await row()).toMatchObject({ state: 'active', missed_reads: 0, steam_offer_id: '1' })
  })

  it('is read from its beginning again if the database failed after an offer was found', async () => {
    const { answer, row } = await sendWithoutAnswer(true)
    // The list has nine pages, and the offer is on the first.
    const ownOffers = [...session.offers]
    bury(800)
    const otherOffers = [...session.offers].filter(([offerId]) => offerId !== '1')
    session.offers.clear()
    for (const [offerId, offer] of [...ownOffers, ...otherOffers]) session.offers.set(offerId, offer)
    let isDown = true
    const store: TradeStore = {
      ...till.deps.trades,
      transaction: (work) =>
        isDown ? Promise.reject(new Error('the database is down')) : till.deps.trades.transaction(work),
    }
    const { trade } = tradeHandlers({ ...till.deps, trades: store })
    const id = (await row())?.id ?? 0n
    session.calls.length = 0
    till.clock.advance(5_000)
    await expect(trade(bot, id)).rejects.toThrow('the database is down')
    isDown = false
    till.clock.advance(5_000)
    await trade(bot, id)
    expect(await answer).toEqual({ kind: 'active' })
    expect(lists()).toEqual(['list', 'list'])
  })

  it('proves with its last page, and not before, that an offer whose send got no answer is missing', async () => {
    const { answer, work, row } = await sendWithoutAnswer(false)
    bury(800)
    const missed = []
    for (let look = 0; look < 9; look += 1) {
      till.clock.advance(15_000)
      await work()
      missed.push((await row())?.missed_reads)
    }
    // The third pass ends the trade.
    expect(missed).toEqual([0, 0, 1, 1, 1, 2, 2, 2, 2])
    expect((await row())?.state).toBe('abandoned')
    expect(await answer).toEqual({ kind: 'refused', code: 'steam_unavailable' })
  })
})

describe('an empty answer to the request for a bot’s offers', () => {
  it('does not prove an offer missing: the search continues, and finds the offer', async () => {
    const { answer, work, row } = await sendWithoutAnswer(true)
    const { listOffers } = session
    session.listOffers = async () => ({ kind: 'nothing' })
    for (let look = 0; look < 9; look += 1) {
      till.clock.advance(15_000)
      await work()
    }
    expect(await row()).toMatchObject({ state: 'unknown', missed_reads: 0 })
    session.listOffers = listOffers
    till.clock.advance(15_000)
    await work()
    expect(await answer).toEqual({ kind: 'active' })
  })

  it('does not end the search for orphans, and causes one log line after an hour', async () => {
    const { listOffers } = session
    session.listOffers = async () => ({ kind: 'nothing' })
    const { watch } = tradeHandlers(till.deps)
    const lines = () => till.lines.filter((line) => line.includes('said nothing about a bot’s offers'))
    expect(await watch(bot)).toBe(1)
    for (let minutes = 1; minutes <= 180; minutes += 1) {
      till.clock.advance(60_000)
      expect(await watch(bot)).toBe(1)
      expect(lines()).toHaveLength(minutes < 60 ? 0 : 1)
    }
    session.listOffers = listOffers
    till.clock.advance(60_000)
    expect(await watch(bot)).toBe(0)
  })
})

describe('an offer in Steam’s list that cannot be read', () => {
  it('is read separately, once a minute and after the others, because that answer may be unreadable too', async () => {
    const store = await aStore(till)
    for (let made = 0; made < 2; made += 1) await offerFor(till, bot, await aDeposit(till, store))
    const row = { offerId: '1', partnerSteamId: null, message: null }
    // A list that never ends, so both offers are read on their own.
    session.listOffers = async () => ({
      kind: 'offers',
      sent: [],
      received: [],
      unreadable: [row],
      next: '100',
    })
    const { readOffer } = session
    session.readOffer = async (offerId) => {
      const answer = await readOffer(offerId)
      return offerId === '2' ? answer : { kind: 'unavailable', reason: 'steam_error', detail: '' }
    }
    const { watch } = tradeHandlers(till.deps)
    session.calls.length = 0
    for (let look = 0; look < 12; look += 1) {
      await watch(bot)
      till.clock.advance(5_000)
    }
    const reads = session.calls.filter((call) => call.startsWith('read'))
    expect(reads.slice(0, 2)).toEqual(['read 2', 'read 1'])
    expect(reads.filter((call) => call === 'read 1')).toHaveLength(1)
  })

  it('does not keep a trade unknown if it has another partner or another message', async () => {
    const { answer, work, row } = await sendWithoutAnswer(false)
    const partner = (await row())?.partner_steam_id ?? ''
    session.unreadable = [
      { offerId: '70', partnerSteamId: partner, message: 'by hand' },
      { offerId: '71', partnerSteamId: '76561198000000044', message: null },
      { offerId: null, partnerSteamId: null, message: 'by hand' },
    ]
    await lookFourTimes(work)
    expect((await row())?.state).toBe('abandoned')
    await answer
  })

  it.each<[string, Partial<UnreadableOffer>]>([
    ['except for its partner', {}],
    ['at all', { partnerSteamId: null }],
  ])('%s keeps a trade unknown, and is logged once after an hour', async (_, change) => {
    const { answer, work, row } = await sendWithoutAnswer(false)
    const partnerSteamId = (await row())?.partner_steam_id ?? ''
    session.unreadable = [{ offerId: '70', partnerSteamId, message: null, ...change }]
    await lookFourTimes(work)
    const lines = () => till.lines.filter((line) => line.includes('could not be read for an hour'))
    expect(await row()).toMatchObject({ state: 'unknown', missed_reads: 0 })
    expect(lines()).toHaveLength(0)
    for (let look = 0; look < 8; look += 1) {
      till.clock.advance(600_000)
      await work()
    }
    expect(lines()).toHaveLength(1)
    session.unreadable = []
    await lookFourTimes(work)
    expect((await row())?.state).toBe('abandoned')
    await answer
  })
})

describe('an offer whose send got no answer', () => {
  it('counts as missing even if the shopper’s earlier offer is listed, once as unreadable and once without its message', async () => {
    const store = await aStore(till)
    await offerFor(till, bot, await aDeposit(till, store))
    const earlier = session.offers.get('1')
    session.sends.push({ answer: 'unknown', createsOffer: false })
    const answer = requestTrade(till.deps, (await aDeposit(till, store)).body)
    await expect.poll(trades).toHaveLength(2)
    const { id = 0n, partner_steam_id: partnerSteamId = '' } = (await trades())[1] ?? {}
    if (earlier === undefined) throw new Error('Steam has no offer')
    session.offers.set('1', { ...earlier, partnerSteamId, itemsToReceive: [], message: '' })
    session.unreadable = [{ offerId: '1', partnerSteamId, message: null }]
    const { trade } = tradeHandlers(till.deps)
    await trade(bot, id)
    await lookFourTimes(() => trade(bot, id))
    expect((await trades())[1]).toMatchObject({ state: 'abandoned' })
    await answer
  })

  it.each<[string, Partial<Offer>]>([
    ['its items', { itemsToReceive: [] }],
    ['its message', { message: '' }],
    ['its items and its message', { itemsToReceive: [], message: '' }],
  ])('does not count as missing, and is not cancelled, if the row lacks %s', async (_, lack) => {
    const { answer, work, row } = await sendWithoutAnswer(true)
    const ownOffer = session.offers.get('1')
    if (ownOffer === undefined) throw new Error('Steam has no offer')
    session.offers.set('1', { ...ownOffer, ...lack })
    await lookFourTimes(work)
    expect(session.calls).not.toContain('cancel 1')
    expect(await row()).toMatchObject({ state: 'unknown', missed_reads: 0 })
    session.offers.set('1', ownOffer)
    await lookFourTimes(work)
    expect(await answer).toEqual({ kind: 'active' })
  })

  it.each<[string, UnreadableOffer | null]>([
    ['lacks its message', null],
    ['cannot be read', { offerId: '70', partnerSteamId: null, message: null }],
  ])('keeps its ended trade under review if the row %s', async (_, unreadable) => {
    const { answer, work, row } = await sendWithoutAnswer(true)
    const ownOffer = session.offers.get('1')
    session.offers.clear()
    await lookFourTimes(work)
    await answer
    if (ownOffer === undefined) throw new Error('Steam has no offer')
    if (unreadable === null) session.offers.set('1', { ...ownOffer, message: '' })
    else session.unreadable = [unreadable]
    till.clock.advance(DAY_MS)
    await work()
    session.unreadable = []
    session.offers.set('1', ownOffer)
    session.accept('1')
    till.clock.advance(3_600_000)
    if ((await row())?.due_at !== null) await work()
    expect(await row()).toMatchObject({ state: 'final' })
  })
})

describe('a review that an unreadable row keeps from ending', () => {
  it('causes one log line after an hour', async () => {
    const { answer, work } = await sendWithoutAnswer(false)
    await lookFourTimes(work)
    await answer
    session.unreadable = [{ offerId: '70', partnerSteamId: null, message: null }]
    till.clock.advance(DAY_MS)
    const lines = () => till.lines.filter((line) => line.includes('could not be read for an hour'))
    await work()
    for (let look = 0; look < 5; look += 1) {
      till.clock.advance(1_200_000)
      expect(lines()).toHaveLength(look < 3 ? 0 : 1)
      await work()
    }
    expect(lines()).toHaveLength(1)
  })
})

describe('a review that Steam does not answer', () => {
  it('is tried again at growing intervals of up to an hour, for 15 days', async () => {
    const { answer, work, row } = await sendWithoutAnswer(false)
    await lookFourTimes(work)
    await answer
    session.isDown = true
    const waitsMs = []
    for (const ms of [60_000, DAY_MS - 120_000, DAY_MS, 13 * DAY_MS]) {
      till.clock.advance(ms)
      await work()
      const dueAt = (await row())?.due_at
      waitsMs.push(dueAt ? dueAt.getTime() - till.clock.now().getTime() : null)
    }
    expect(waitsMs).toEqual([60_000, 300_000, 3_600_000, null])
  })

  it('keeps its place in a long list while tried once an hour, and continues soon after Steam answers', async () => {
    const { answer, work, row } = await sendWithoutAnswer(false)
    await lookFourTimes(work)
    await answer
    bury(1_000)
    till.clock.advance(2 * DAY_MS)
    const listsBefore = lists().length
    const waitsMs = []
    // While Steam does not answer, the review is due an hour later, and the sweep finds it within half a minute.
    for (const isDown of [false, true, false, false, false]) {
      session.isDown = isDown
      await work()
      const dueAt = (await row())?.due_at
      waitsMs.push(dueAt ? dueAt.getTime() - till.clock.now().getTime() : null)
      till.clock.advance(isDown ? 3_630_000 : 60_000)
    }
    expect(waitsMs).toEqual([60_000, 3_600_000, 60_000, 60_000, null])
    const pages = lists().slice(listsBefore)
    expect(pages.length - new Set(pages).size, 'pages read twice').toBe(1)
  })
})
