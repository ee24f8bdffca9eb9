import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { STATE } from '../world/world.ts'
import {
  ACTIVE_ONLY,
  control,
  failure,
  type LibraryOffer,
  logIn,
  type Person,
  read,
  sendDraft,
  startSteamWithoutWaits,
  wait,
} from './libraries.ts'
import { testsOfRows } from './rows.ts'

let steam: Awaited<ReturnType<typeof startSteamWithoutWaits>>
let bot: Person

beforeAll(async () => {
  // The tests read the history faster than Steam allows.
  steam = await startSteamWithoutWaits({ seed: 'conformance', quotas: false })
  bot = await logIn(steam, 'Tradetill Bot #1')
})
beforeEach(() => steam.reset())
afterAll(() => steam.close())

const list = (person = bot) =>
  new Promise<LibraryOffer[]>((resolve, reject) =>
    person.manager.getOffers(ACTIVE_ONLY, (error, ours) => (error ? reject(error) : resolve(ours))),
  )

const pageSchema = z.object({
  response: z.object({
    more: z.boolean(),
    trades: z.array(z.object({ tradeid: z.string(), time_init: z.number() })),
  }),
})

async function historyPage(after: { time: number; id: string }) {
  const start = { start_after_time: after.time, start_after_tradeid: after.id }
  const query = { max_trades: 500, navigating_back: 0, include_failed: 1, ...start }
  const body = await wait<unknown>((done) => bot.manager._apiCall('GET', 'GetTradeHistory', 1, query, done))
  return pageSchema.parse(body).response
}

/** The library's list: all active offers, and others that changed after this time. */
const listSince = (ms: number) =>
  new Promise<LibraryOffer[]>((resolve, reject) =>
    bot.manager.getOffers(ACTIVE_ONLY, new Date(ms), (error, ours) =>
      error ? reject(error) : resolve(ours),
    ),
  )

async function readingError(behaviour: string) {
  const { id } = await sendDraft(steam, bot)
  await control(steam, `PUT behaviours/${behaviour}`, { times: 1 })
  const error = await failure(read(bot, id))
  // After the fault ends, reads are correct again.
  expect((await read(bot, id)).state).toBe(STATE.active)
  return error
}

async function reportsExpiredSession(request: () => Promise<unknown>): Promise<boolean> {
  let isReported = false
  bot.manager.on('sessionExpired', () => {
    isReported = true
  })
  await request()
  return isReported
}

describe('the answers to a read of offers or trades:', () => {
  const { row, expectAllTested } = testsOfRows('reads')

  row('401 Access is denied', async () => {
    const request = async () => expect((await readingError('read-401')).message).toBe('HTTP error 401')
    expect(await reportsExpiredSession(request)).toBe(true)
  })

  row('403 Access is denied', async () => {
    const request = async () => expect((await readingError('read-403')).message).toBe('HTTP error 403')
    expect(await reportsExpiredSession(request)).toBe(true)
  })

  row('429', async () => {
    expect((await readingError('read-429')).message).toBe('HTTP error 429')
  })

  row('500', async () => {
    expect((await readingError('read-500')).message).toBe('HTTP error 500')
  })

  row('502', async () => {
    expect((await readingError('read-502')).message).toBe('HTTP error 502')
  })

  row('x-eresult 15', async () => {
    expect(await readingError('read-result-15')).toMatchObject({ eresult: '15', message: 'AccessDenied' })
  })

  row('x-eresult 2 with data', async () => {
    const { id } = await sendDraft(steam, bot)
    await control(steam, 'PUT behaviours/read-result-2-with-data')
    expect((await read(bot, id)).state).toBe(STATE.active)
  })

  row('x-eresult 2 without data', async () => {
    expect(await readingError('read-result-2')).toMatchObject({ eresult: '2', message: 'Fail' })
  })

  row('{}', async () => {
    expect((await readingError('read-empty')).message).toBe('Malformed API response')
  })

  row('null', async () => {
    expect((await readingError('read-null')).message).toBe('Malformed JSON response')
  })

  row('all offers without items', async () => {
    await sendDraft(steam, bot)
    await sendDraft(steam, bot)
    await control(steam, 'PUT behaviours/offers-without-items')
    expect((await failure(list())).message).toBe('Data temporarily unavailable')
  })

  row('some offers without items', async () => {
    const [first] = [await sendDraft(steam, bot), await sendDraft(steam, bot)]
    await control(steam, 'PUT behaviours/first-offer-without-items')
    const offers = await list()
    expect(offers.find((offer) => !offer.isGlitched())?.id).toBe(first.id)
  })

  it('offers can lack their message', async () => {
    const { id } = await sendDraft(steam, bot)
    await control(steam, 'PUT behaviours/offers-without-message', { times: 1 })
    const hasMessage = async () =>
      JSON.stringify(
        await wait<unknown>((done) =>
          bot.manager._apiCall('GET', 'GetTradeOffer', 1, { tradeofferid: id }, done),
        ),
      ).includes('"message"')
    expect([await hasMessage(), await hasMessage()]).toEqual([false, true])
  })

  row('item without classid', async () => {
    const { id } = await sendDraft(steam, bot)
    await control(steam, 'PUT behaviours/items-without-class')
    // Without a class, the libraries throw an error that cannot be caught, so this test reads the raw answer.
    const body = await wait<unknown>((done) =>
      bot.manager._apiCall('GET', 'GetTradeOffer', 1, { tradeofferid: id }, done),
    )
    expect(body).toMatchObject({
      response: { offer: { items_to_receive: [{ assetid: expect.any(String) }] } },
    })
    expect(JSON.stringify(body)).not.toContain('classid')
  })

  row('list of offers over several pages', async () => {
    const offers = [await sendDraft(steam, bot), await sendDraft(steam, bot), await sendDraft(steam, bot)]
    await control(steam, 'PUT behaviours/one-offer-a-page')
    expect((await list()).map(({ id }) => id)).toEqual(offers.map(({ id }) => id).reverse())
    const log = await control(steam, 'GET log')
    // The last six requests, three of them for the list.
    const lists = Array.isArray(log) ? log.slice(-6).filter(({ path }) => /GetTradeOffers/.test(path)) : []
    expect(lists).toHaveLength(3)
  })

  row('nine days with 1,000 trades each, in pages', async () => {
    await control(steam, 'PUT behaviours/busy-for-nine-days', { steamId: bot.steamId })
    const ids = new Set<string>()
    let after = { time: 0, id: '0' }
    let pages = 0
    for (let hasMore = true; hasMore && pages < 100; pages += 1) {
      const page = await historyPage(after)
      for (const { tradeid } of page.trades) ids.add(tradeid)
      const oldest = page.trades.at(-1)
      after = { time: oldest?.time_init ?? 0, id: oldest?.tradeid ?? '' }
      hasMore = page.more
    }
    expect(pages).toBe(90)
    // The clock keeps running, so the oldest trades drop out of the list before their page is read.
    expect(ids.size).toBeGreaterThan(8_950)
    expect(ids.size).toBeLessThanOrEqual(9_000)
    const recent = (await listSince(Date.now() - 3_600_000)).length
    // There is one trade every 86 seconds, so about 42 in an hour. A list of all nine days would have 9,000.
    expect(recent).toBeGreaterThan(38)
    expect(recent).toBeLessThan(200)
  })

  it('an answer about the history can be empty', async () => {
    await control(steam, 'PUT behaviours/history-not-there', { times: 1 })
    await expect(historyPage({ time: 0, id: '0' })).rejects.toThrow('expected')
    expect((await historyPage({ time: 0, id: '0' })).more).toBe(false)
  })

  it('an answer about the list of offers can be empty, or lack the offers', async () => {
    const { id } = await sendDraft(steam, bot)
    const rawList = () =>
      wait<unknown>((done) => bot.manager._apiCall('GET', 'GetTradeOffers', 1, { get_sent_offers: 1 }, done))
    await control(steam, 'PUT behaviours/offers-not-there', { times: 1 })
    expect(await rawList()).toEqual({ response: {} })
    await control(steam, 'PUT behaviours/offers-left-out', { times: 1 })
    expect(await rawList()).toEqual({ response: { next_cursor: 0 } })
    expect(await rawList()).toMatchObject({ response: { trade_offers_sent: [{ tradeofferid: id }] } })
  })

  row('an offer in an unknown state', async () => {
    const { id } = await sendDraft(steam, bot)
    await control(steam, 'PUT behaviours/odd-offer-in-lists')
    expect((await list()).map((offer) => offer.state)).toEqual([77, STATE.active])
    await control(steam, 'PUT behaviours/states-nobody-knows')
    expect((await read(bot, id)).state).toBe(77)
  })

  row('hang', async () => {
    const { id } = await sendDraft(steam, bot)
    await control(steam, 'PUT behaviours/read-hang', { times: 1 })
    expect((await failure(read(bot, id))).message).toBe('ESOCKETTIMEDOUT')
    expect(steam.waits).toEqual([Infinity])
  })

  expectAllTested()
})
