import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RunningSteam, startSteam } from '../start.ts'
import { DAY_S, OFFER_LIFE_S, STATE, TRADE } from '../world/world.ts'
import {
  ACTIVE_ONLY,
  control,
  type ExchangedItem,
  failure,
  inventoryOf,
  type LibraryOffer,
  logIn,
  type Person,
  read,
  sendDraft,
  wait,
} from './libraries.ts'
import { testsOfRows } from './rows.ts'

let steam: RunningSteam
let bot: Person
let shopper: Person

beforeAll(async () => {
  steam = await startSteam({ port: 0, seed: 'conformance' })
})
beforeEach(async () => {
  // Each test needs new sessions, because some tests advance the clock past the end of a session.
  steam.reset()
  bot = await logIn(steam, 'Tradetill Bot #1')
  shopper = await logIn(steam, 'nova_hound')
})
afterAll(() => steam.close())

function exchangeDetails(
  offer: LibraryOffer,
  ifFailed = false,
): Promise<{ status: number; received: ExchangedItem[] }> {
  return new Promise((resolve, reject) =>
    offer.getExchangeDetails(ifFailed, (error, status, _time, received) =>
      error ? reject(error) : resolve({ status, received }),
    ),
  )
}

async function rawTrade(tradeId: string): Promise<unknown> {
  return wait<unknown>((done) => bot.manager._apiCall('GET', 'GetTradeStatus', 1, { tradeid: tradeId }, done))
}

const rawOffer = (offerId: string) =>
  wait<unknown>((done) => bot.manager._apiCall('GET', 'GetTradeOffer', 1, { tradeofferid: offerId }, done))

const receivedOffers = () =>
  new Promise<LibraryOffer[]>((resolve, reject) =>
    bot.manager.getOffers(ACTIVE_ONLY, (error, _sent, received) =>
      error ? reject(error) : resolve(received),
    ),
  )

describe('the states of an offer:', () => {
  const { row, expectAllTested } = testsOfRows('ends')

  row('Declined', async () => {
    const { id } = await sendDraft(steam, bot)
    const received = await read(shopper, id)
    await wait<void>((done) => received.decline(done))
    expect((await read(bot, id)).state).toBe(STATE.declined)
    received.state = STATE.active
    expect(await failure(wait<string>((done) => received.accept(done)))).toMatchObject({ eresult: 11 })
  })

  row('Countered, with a new received offer', async () => {
    const { id } = await sendDraft(steam, bot, { count: 2 })
    const counter = (await read(shopper, id)).counter()
    counter.removeMyItem(counter.itemsToGive[0] ?? {})
    expect(await wait<string>((done) => counter.send(done))).toBe('sent')
    expect((await read(bot, id)).state).toBe(STATE.countered)
    const [received] = await receivedOffers()
    expect(received).toMatchObject({ id: counter.id, state: STATE.active })
    expect(received?.itemsToReceive).toHaveLength(1)
    await wait<void>((done) => received?.decline(done))
    expect(await receivedOffers()).toEqual([])
  })

  row('Expired', async () => {
    const { id } = await sendDraft(steam, bot)
    steam.advance(OFFER_LIFE_S)
    bot = await logIn(steam, 'Tradetill Bot #1')
    expect((await read(bot, id)).state).toBe(STATE.expired)
  })

  row('Canceled by the bot', async () => {
    const offer = await sendDraft(steam, bot)
    await wait<void>((done) => offer.cancel(done))
    expect((await read(bot, offer.id)).state).toBe(STATE.canceled)
    expect((await read(shopper, offer.id)).state).toBe(STATE.canceled)
    const lost = await sendDraft(steam, bot)
    await control(steam, 'PUT behaviours/cancel-drop-after', { times: 1 })
    expect((await failure(wait<void>((done) => lost.cancel(done)))).message).toMatch(/hang up|ECONNRESET/)
    expect((await read(bot, lost.id)).state).toBe(STATE.canceled)
  })

  row('InvalidItems, with missing items', async () => {
    await control(steam, 'PUT behaviours/sells-an-item')
    const { id } = await sendDraft(steam, bot, { count: 2 })
    steam.advance(10)
    const offer = await read(bot, id)
    expect(offer.state).toBe(STATE.invalidItems)
    expect(offer.itemsToReceive.map(({ missing }) => missing)).toEqual([true, false])
  })

  row('InEscrow, for 15 days', async () => {
    const { id } = await sendDraft(steam, bot, { who: 'magic_hold' })
    const partner = await logIn(steam, 'magic_hold')
    const received = await read(partner, id)
    expect(await wait<string>((done) => received.accept(done))).toBe('escrow')
    const offer = await read(bot, id)
    expect(offer).toMatchObject({ state: STATE.inEscrow, escrowEnds: expect.any(Date) })
    const exchange = await exchangeDetails(offer)
    expect(exchange.status).toBe(TRADE.inEscrow)
    expect(exchange.received[0]?.new_assetid).toBeUndefined()
    steam.advance(15 * DAY_S)
    bot = await logIn(steam, 'Tradetill Bot #1')
    expect((await exchangeDetails(await read(bot, id))).status).toBe(TRADE.complete)
  })

  row('NeedsConfirmation, because the bot gives items', async () => {
    const { id } = await sendDraft(steam, bot, { appId: 570 })
    steam.as('nova_hound').accept(id)
    const [item] = steam.as('Tradetill Bot #1').tradable(570)
    const { steamId, tradeUrl } = steam.as('quiet_lynx')
    const gift = bot.manager.createOffer(steamId, new URL(tradeUrl()).searchParams.get('token') ?? '')
    gift.addMyItem({ appid: 570, contextid: '2', assetid: item?.assetId })
    expect(await wait<string>((done) => gift.send(done))).toBe('pending')
    expect(await read(bot, gift.id)).toMatchObject({ state: STATE.needsConfirmation, confirmationMethod: 2 })
    expect(steam.world().offers).toHaveLength(2)
    await control(steam, `POST offers/${gift.id}/confirm`)
    expect((await read(bot, gift.id)).state).toBe(STATE.active)
    const secondGift = bot.manager.createOffer(steamId, new URL(tradeUrl()).searchParams.get('token') ?? '')
    secondGift.addMyItem({ appid: 570, contextid: '2', assetid: item?.assetId })
    await wait<string>((done) => secondGift.send(done))
    await control(steam, `POST offers/${secondGift.id}/deny`)
    expect((await read(bot, secondGift.id)).state).toBe(STATE.canceledBySecondFactor)
  })

  it('Accepted after the phone confirms, if a bot accepts a shopper’s offer and gives items', async () => {
    const { id } = await sendDraft(steam, bot, { appId: 570 })
    steam.as('nova_hound').accept(id)
    const [item] = steam.as('Tradetill Bot #1').tradable(570)
    const { steamId } = steam.as('Tradetill Bot #1')
    const token = steam.world().accounts.find((account) => account.steamId === steamId)?.token
    const request = shopper.manager.createOffer(steamId, token)
    request.addTheirItem({ appid: 570, contextid: '2', assetid: item?.assetId })
    await wait<string>((done) => request.send(done))
    const received = await read(bot, request.id)
    expect(await wait<string>((done) => received.accept(done))).toBe('pending')
    await control(steam, `POST offers/${request.id}/deny`)
    expect(await read(bot, request.id)).toMatchObject({ state: STATE.active, confirmationMethod: 0 })
    await wait<string>((done) => received.accept(done))
    await control(steam, `POST offers/${request.id}/confirm`)
    expect((await read(bot, request.id)).state).toBe(STATE.accepted)
    expect(steam.as('Tradetill Bot #1').tradable(570)).toEqual([])
  })

  row('InEscrow, then called off by the shopper (status 11)', async () => {
    const { id } = await sendDraft(steam, bot, { who: 'magic_hold' })
    const itemsBefore = steam.as('magic_hold').items().length
    steam.as('magic_hold').accept(id)
    expect(steam.as('magic_hold').items()).toHaveLength(itemsBefore - 1)
    const { tradeID } = await read(bot, id)
    await control(steam, `POST offers/${id}/decline`)
    expect(steam.as('magic_hold').items()).toHaveLength(itemsBefore)
    expect((await read(bot, id)).state).toBe(STATE.declined)
    expect(await rawTrade(tradeID)).toMatchObject({
      response: { trades: [{ status: TRADE.escrowRollback }] },
    })
  })

  row('InEscrow, then called off by the bot, which gets a cooldown', async () => {
    const { id } = await sendDraft(steam, bot, { who: 'magic_hold' })
    // The library cancels no offer that it knows to be in escrow. This one was accepted after the library read it.
    const offer = await read(bot, id)
    steam.as('magic_hold').accept(id)
    await wait<void>((done) => offer.cancel(done))
    expect((await read(bot, id)).state).toBe(STATE.canceled)
    await expect(sendDraft(steam, bot)).rejects.toMatchObject({ eresult: 24 })
    steam.advance(7 * 86_400)
    bot = await logIn(steam, 'Tradetill Bot #1')
    expect((await sendDraft(steam, bot)).id).toMatch(/^\d+$/)
  })

  row('Accepted, then reversed (status 12) with only one item marked', async () => {
    const { id } = await sendDraft(steam, bot, { count: 2 })
    steam.as('nova_hound').accept(id)
    steam.as('nova_hound').reverse()
    await control(steam, 'PUT behaviours/rollback-half-marked')
    const raw = JSON.stringify(await rawTrade((await read(bot, id)).tradeID))
    expect(raw).toContain('"status":12')
    expect(raw.match(/"new_assetid"/g)).toHaveLength(2)
    expect(raw.match(/rollback_new_assetid/g)).toHaveLength(1)
  })

  row(
    'Accepted, then stuck: committed (status 2), failed and not yet rolled back (8), or failed with its rollback given up (9)',
    async () => {
      const { id } = await sendDraft(steam, bot)
      steam.as('nova_hound').accept(id)
      const { tradeID } = await read(bot, id)
      for (const [behaviour, status] of [
        ['trade-committed', 2],
        ['rollback-failed', 8],
        ['rollback-abandoned', 9],
      ] as const) {
        await control(steam, `PUT behaviours/${behaviour}`)
        expect(JSON.stringify(await rawTrade(tradeID))).toContain(`"status":${status}`)
        await control(steam, `DELETE behaviours/${behaviour}`)
      }
    },
  )

  row('Accepted, with late-reported protection in a game other than Counter-Strike', async () => {
    for (const behaviour of ['every-game-protected', 'protection-untold']) {
      await control(steam, `PUT behaviours/${behaviour}`)
    }
    const { id } = await sendDraft(steam, bot, { appId: 570 })
    steam.as('nova_hound').accept(id)
    const protectionFlags = async () => [
      JSON.stringify(await rawTrade((await read(bot, id)).tradeID)).includes('time_settlement'),
      JSON.stringify(await rawOffer(id)).includes('"delay_settlement":true'),
    ]
    expect(await protectionFlags()).toEqual([false, false])
    await control(steam, 'DELETE behaviours/protection-untold')
    expect(await protectionFlags()).toEqual([true, true])
    steam.as('nova_hound').reverse()
    expect(await exchangeDetails(await read(bot, id), true)).toMatchObject({
      status: TRADE.protectionRollback,
    })
  })

  row('Accepted, then reversed (status 12)', async () => {
    const { id } = await sendDraft(steam, bot, { count: 2 })
    steam.as('nova_hound').accept(id)
    const offer = await read(bot, id)
    const settlement = { time_settlement: expect.any(Number), status: TRADE.complete }
    expect(await rawTrade(offer.tradeID)).toMatchObject({ response: { trades: [settlement] } })
    steam.as('nova_hound').reverse()
    expect((await read(bot, id)).state).toBe(STATE.accepted)
    await expect(exchangeDetails(offer)).rejects.toThrow('12')
    expect((await exchangeDetails(offer, true)).status).toBe(TRADE.protectionRollback)
    const raw = await rawTrade(offer.tradeID)
    expect(raw).toMatchObject({
      response: {
        trades: [
          {
            status: TRADE.protectionRollback,
            time_mod: expect.any(Number),
            assets_received: [{ rollback_new_assetid: expect.any(String) }, {}],
          },
        ],
      },
    })
    expect(JSON.stringify(raw)).not.toContain('time_settlement')
    const history = await wait<unknown>((done) =>
      bot.manager._apiCall('GET', 'GetTradeHistory', 1, { max_trades: 10, include_total: 1 }, done),
    )
    expect(history).toMatchObject({
      response: {
        more: false,
        total_trades: 2,
        trades: [
          { status: TRADE.complete, rollback_trade: offer.tradeID, assets_given: [{}, {}] },
          { status: TRADE.protectionRollback, tradeid: offer.tradeID },
        ],
      },
    })
    await control(steam, 'PUT behaviours/offer-reverted')
    expect((await read(bot, id)).state).toBe(STATE.reverted)
  })

  row('Accepted, at first without a trade id', async () => {
    const { id } = await sendDraft(steam, bot)
    steam.as('nova_hound').accept(id)
    await control(steam, 'PUT behaviours/accepted-without-trade', { times: 1 })
    const early = await read(bot, id)
    expect(early).toMatchObject({ state: STATE.accepted, tradeID: null })
    expect((await failure(exchangeDetails(early))).message).toMatch(/trade ID/i)
    expect((await read(bot, id)).tradeID).toMatch(/^\d+$/)
  })

  row('Accepted, with an empty GetTradeStatus at first', async () => {
    const { id } = await sendDraft(steam, bot)
    steam.as('nova_hound').accept(id)
    const offer = await read(bot, id)
    await control(steam, 'PUT behaviours/trade-not-there-yet', { times: 1 })
    expect((await failure(exchangeDetails(offer))).message).toMatch(
      /temporarily unavailable|no trade|malformed/i,
    )
    expect((await exchangeDetails(offer)).status).toBe(TRADE.complete)
  })

  row('Accepted, but still shown as active at first', async () => {
    const { id } = await sendDraft(steam, bot)
    steam.as('nova_hound').accept(id)
    await control(steam, 'PUT behaviours/late-state', { times: 1 })
    expect((await read(bot, id)).state).toBe(STATE.active)
    expect((await read(bot, id)).state).toBe(STATE.accepted)
  })

  row('Accepted just before a cancellation', async () => {
    const offer = await sendDraft(steam, bot, { who: 'magic_last_second' })
    expect(await failure(wait<void>((done) => offer.cancel(done)))).toMatchObject({ eresult: 11 })
    expect((await read(bot, offer.id)).state).toBe(STATE.accepted)
  })

  expectAllTested()
})

describe('inventories and a trade without faults:', () => {
  const { row, expectAllTested } = testsOfRows('happy')

  row('inventory of 0 items', async () => {
    expect(await inventoryOf(bot.community, steam.as('magic_empty').steamId)).toEqual([])
  })

  row('inventory of 1 item', async () => {
    const { id } = await sendDraft(steam, bot, { appId: 440 })
    steam.as('nova_hound').accept(id)
    const items = await inventoryOf(bot.community, bot.steamId, { appId: 440 })
    expect(items).toHaveLength(1)
  })

  row('inventory of 2,500 items in pages of 1,000', async () => {
    steam.change((world) => {
      const [nova, ...others] = world.accounts
      const item = { appId: 730, contextId: '2', classId: '7300001' }
      const assets = Array.from({ length: 2500 }, (_, index) => ({ ...item, assetId: String(1000 + index) }))
      return {
        world: { ...world, accounts: nova ? [{ ...nova, assets }, ...others] : others },
        answer: undefined,
      }
    })
    const items = await inventoryOf(bot.community, shopper.steamId)
    expect(new Set(items.map(({ assetid }) => assetid)).size).toBe(2500)
    const log = await control(steam, 'GET log')
    const shopperPath = `/inventory/${shopper.steamId}/`
    const pages = Array.isArray(log) ? log.filter(({ path }) => path.startsWith(shopperPath)) : []
    expect(pages).toHaveLength(3)
  })

  row('untradable items', async () => {
    const allItems = await inventoryOf(bot.community, shopper.steamId, { tradableOnly: false })
    const tradable = await inventoryOf(bot.community, shopper.steamId)
    expect(allItems.filter(({ tradable: isTradable }) => !isTradable).length).toBe(
      allItems.length - tradable.length,
    )
    expect(allItems.length).toBeGreaterThan(tradable.length)
  })

  row('items that are not marketable, or not yet', async () => {
    const { steamId } = steam.as('magic_twins')
    const readTwins = async (appId: number) => {
      const items = await inventoryOf(bot.community, steamId, { appId })
      const newestFirst = items.sort((a, b) => Number(b.assetid) - Number(a.assetid))
      return newestFirst.map(({ market_hash_name, marketable, descriptions, owner_descriptions: lines }) => ({
        market_hash_name,
        marketable,
        lines: [...descriptions, ...(lines ?? [])].map(({ value }) => value),
      }))
    }
    const until = expect.stringMatching(/^Marketable After [A-Z][a-z]{2} \d\d, 20\d\d \(7:00:00\) GMT$/)
    const note = '( Not Usable in Crafting )'
    expect((await readTwins(730)).slice(0, 2)).toEqual([
      { market_hash_name: 'AK-47 | Slate (Field-Tested)', marketable: false, lines: [until] },
      { market_hash_name: 'AK-47 | Redline (Field-Tested)', marketable: false, lines: [] },
    ])
    expect((await readTwins(440)).slice(0, 3)).toEqual([
      { market_hash_name: 'Unusual Team Captain', marketable: true, lines: [] },
      { market_hash_name: "Bill's Hat", marketable: true, lines: [note] },
      { market_hash_name: 'Team Captain', marketable: false, lines: [note] },
    ])
  })

  row('accept: the old asset id leaves, a new one appears', async () => {
    const { id } = await sendDraft(steam, bot, { appId: 570 })
    const offer = await read(shopper, id)
    const oldAssetId = offer.itemsToGive[0]?.assetid
    expect(await wait<string>((done) => offer.accept(done))).toBe('accepted')
    const remaining = await inventoryOf(bot.community, shopper.steamId, { appId: 570 })
    expect(remaining.map(({ assetid }) => assetid)).not.toContain(oldAssetId)
    const [arrived] = await inventoryOf(bot.community, bot.steamId, { appId: 570 })
    const { received } = await exchangeDetails(await read(bot, id))
    expect(received).toMatchObject([{ assetid: oldAssetId, new_assetid: arrived?.assetid }])
  })

  expectAllTested()
})
