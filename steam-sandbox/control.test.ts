/** The control API, and the pages for people. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSession, loginCookies } from './conformance/libraries.ts'
import { CATALOGUE } from './items.ts'
import { type RunningSteam, startSteam } from './start.ts'
import { sendOffer } from './world/offers.ts'
import { DAY_S, STATE, TRADE } from './world/world.ts'

const NOW_S = 1_800_000_000
let steam: RunningSteam

beforeEach(async () => {
  steam = await startSteam({ port: 0, seed: 'control', clock: () => NOW_S * 1000 })
})

afterEach(() => steam.close())

async function call(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const init = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetch(`${steam.url}/control/${path}`, { method, ...init })
  return { status: response.status, body: await response.json() }
}

function press(path: string, fields: [string, string][], origin = steam.url): Promise<Response> {
  const body = new URLSearchParams(fields)
  return fetch(`${steam.url}${path}`, { method: 'POST', headers: { origin }, body, redirect: 'manual' })
}

const readPage = async (path: string) => (await fetch(`${steam.url}${path}`)).text()

/** Sends an offer of the first bot for three of a shopper's Counter-Strike 2 items. */
function sendBotOffer(name = 'nova_hound') {
  const { accounts } = steam.world()
  const shopper = accounts.find((account) => account.name === name)
  const bot = accounts.find(({ kind }) => kind === 'bot')
  if (!shopper || !bot) throw new Error('The seed lacks a bot or shopper.')
  const items = shopper.assets
    .filter(({ appId, classId }) => appId === 730 && CATALOGUE.get(classId)?.tradable)
    .slice(0, 3)
  const { steamId, token } = shopper
  const intent = { sender: bot.steamId, partner: steamId, token, message: 'CODE', items }
  const answer = steam.change((world, nowS) => sendOffer(world, intent, nowS))
  if (answer.kind !== 'sent') throw new Error(JSON.stringify(answer))
  return { offerId: answer.offerId, assetIds: items.map(({ assetId }) => assetId), steamId, bot }
}

async function makeTrade() {
  const offer = sendBotOffer()
  await call('POST', `offers/${offer.offerId}/accept`)
  return { ...offer, tradeId: steam.world().trades[0]?.id ?? '' }
}

describe('time', () => {
  it('is advanced by the control API, and a trade that falls due meanwhile settles', async () => {
    await makeTrade()
    expect((await call('POST', 'clock', { advanceDays: 7 })).body).toEqual({
      nowS: NOW_S + 7 * DAY_S,
      aheadS: 7 * DAY_S,
    })
    expect(steam.world().trades[0]?.settled).toBe(true)
    for (const change of [{ advanceS: -1 }, { advanceDays: 4000 }, {}, { advanceS: 'x' }]) {
      expect((await call('POST', 'clock', change)).status).toBe(400)
    }
    await call('POST', 'reset')
    expect((await call('GET', 'clock')).body).toMatchObject({ aheadS: 0 })
  })

  it('can be set a number of seconds ahead, but never back', async () => {
    for (const aheadS of [DAY_S, DAY_S, 60]) {
      expect((await call('POST', 'clock', { aheadS })).body).toMatchObject({ aheadS: DAY_S })
    }
  })

  it('is advanced by a button of the page', async () => {
    expect((await press('/behaviours/', [['advance', String(7 * DAY_S)]])).status).toBe(303)
    expect((await call('GET', 'clock')).body).toMatchObject({ aheadS: 7 * DAY_S })
    expect(await readPage('/behaviours/')).toContain(', 7 days ahead')
  })
})

it('the control API can set trade protection to last a minute', async () => {
  await call('POST', 'protection', { seconds: 60 })
  await makeTrade()
  expect(steam.world().trades[0]?.settlesAtS).toBe(NOW_S + 60)
})

describe('a reversal', () => {
  it('of a trade, or of some of a trade’s items, can be made by the control API', async () => {
    const { tradeId, assetIds } = await makeTrade()
    const part = { items: assetIds.slice(0, 1) }
    expect((await call('POST', `trades/${tradeId}/reverse`, part)).status).toBe(200)
    expect(steam.world().trades[0]?.status).toBe(TRADE.selectiveRollback)
    expect((await call('POST', `trades/${tradeId}/reverse`)).status).toBe(200)
    const second = await call('POST', `trades/${tradeId}/reverse`)
    expect([second.status, second.body]).toMatchObject([409, { error: expect.stringMatching('taken back') }])
    // The trade and its two reversals.
    expect((await call('GET', 'trades')).body).toHaveLength(3)
  })

  it('of some items, or of all trades, can be made on the page', async () => {
    const { steamId, tradeId, assetIds } = await makeTrade()
    const path = `/profiles/${steamId}/history/`
    expect(await readPage(path)).toContain('Reverse this trade')
    await press(path, [
      ['reverse', 'part'],
      ['trade', tradeId],
      ['item', assetIds[0] ?? ''],
    ])
    expect(steam.world().trades[0]?.status).toBe(TRADE.selectiveRollback)
    await press(path, [['reverse', 'all']])
    expect(steam.world().trades[0]?.items.every((item) => item.rolledBackAssetId)).toBe(true)
    const page = await readPage(path)
    expect(page).toContain('Undone in part')
    expect(page).not.toContain('Reverse this trade')
  })

  it('cannot be made by a page of another site', async () => {
    const { steamId } = await makeTrade()
    const path = `/profiles/${steamId}/history/`
    expect((await press(path, [['reverse', 'all']], 'https://elsewhere.example')).status).toBe(403)
    expect(steam.world().trades[0]?.status).toBe(TRADE.complete)
  })
})

describe('a cancellation by somebody else with the bot’s session', () => {
  it('can be made by the control API once', async () => {
    const { offerId } = sendBotOffer()
    expect((await call('POST', `offers/${offerId}/cancel`)).status).toBe(200)
    expect(steam.world().offers[0]?.state).toBe(STATE.canceled)
    expect((await call('POST', `offers/${offerId}/cancel`)).status).toBe(409)
    expect((await call('POST', 'offers/999/cancel')).status).toBe(404)
  })
})

describe('the page of an offer', () => {
  it('shows both sides, and gives the items only after the shopper has confirmed the warning and the trade', async () => {
    const { offerId } = sendBotOffer()
    const path = `/tradeoffer/${offerId}/`
    expect(await readPage(path)).toMatch(/Your items[\s\S]*Items of [\s\S]*Nothing/)
    expect(await readPage(path)).toMatch(/<p>Level \d+ · member since [A-Z]\w+ \d+, 20\d\d<\/p>/)
    const gift = await press(path, [['answer', 'accept']])
    expect(gift.headers.get('location')).toBe(`${path}?step=gift`)
    expect(await readPage(`${path}?step=gift`)).toContain('get nothing in return')
    const phone = await press(path, [['answer', 'gift']])
    expect(phone.headers.get('location')).toBe(`${path}?step=phone`)
    expect(await readPage(`${path}?step=phone`)).toContain('Confirm the trade?')
    expect(steam.world().offers[0]?.state).toBe(STATE.active)
    await press(path, [['answer', 'confirm']])
    expect(steam.world().offers[0]?.state).toBe(STATE.accepted)
    expect(await readPage(`${path}?step=phone`)).toContain('You accepted this offer.')
  })

  it('is not needed for the control API to accept the offer', async () => {
    const { offerId } = sendBotOffer()
    expect((await call('POST', `offers/${offerId}/accept`)).status).toBe(200)
    expect(steam.world().offers[0]?.state).toBe(STATE.accepted)
  })
})

describe('a counteroffer', () => {
  it('is made on the page of the offer, without the unticked items', async () => {
    const { offerId, assetIds, bot } = sendBotOffer()
    expect(await readPage(`/tradeoffer/${offerId}/`)).toContain('Send the counteroffer')
    const ticked = assetIds.slice(1).map((id): [string, string] => ['item', id])
    await press(`/tradeoffer/${offerId}/`, [['answer', 'counter'], ...ticked])
    const [first, second] = steam.world().offers
    expect(first?.state).toBe(STATE.countered)
    expect(second).toMatchObject({ partner: bot.steamId, state: STATE.active })
    expect(second?.give.map(({ assetId }) => assetId)).toEqual(assetIds.slice(1))
    expect(await readPage(`/tradeoffer/${offerId}/`)).toContain('You answered with a counteroffer.')
  })

  it('is made by the control API', async () => {
    const { offerId } = sendBotOffer()
    expect((await call('POST', `offers/${offerId}/counter`)).status).toBe(200)
    expect(steam.world().offers[0]?.state).toBe(STATE.countered)
    expect((await call('POST', `offers/${offerId}/counter`)).status).toBe(409)
  })
})

describe('behaviours', () => {
  it('are listed with descriptions, and can be switched on and off for one person or for all', async () => {
    const { steamId } = steam.as('nova_hound')
    const behavioursText = async () => JSON.stringify((await call('GET', 'behaviours')).body)
    expect(await behavioursText()).toContain(
      '"name":"declines","line":"Declines automatically after 10 seconds."',
    )
    await call('PUT', 'behaviours/declines', { steamId })
    const sentToNova = sendBotOffer()
    const sentToLynx = sendBotOffer('quiet_lynx')
    await call('POST', 'clock', { advanceS: 10 })
    const stateOf = (id: string) => steam.world().offers.find((offer) => offer.id === id)?.state
    expect([stateOf(sentToNova.offerId), stateOf(sentToLynx.offerId)]).toEqual([STATE.declined, STATE.active])
    await call('PUT', 'behaviours/declines', { steamId })
    expect(steam.world().switched).toHaveLength(1)
    await call('DELETE', 'behaviours/declines')
    const sentLater = sendBotOffer()
    await call('POST', 'clock', { advanceS: 10 })
    expect(stateOf(sentLater.offerId)).toBe(STATE.active)
    await call('PUT', 'behaviours/declines', {})
    const sentToBoth = [sendBotOffer(), sendBotOffer('quiet_lynx')]
    await call('POST', 'clock', { advanceS: 10 })
    expect(sentToBoth.map(({ offerId }) => stateOf(offerId))).toEqual([STATE.declined, STATE.declined])
    for (const name of ['nonsense', 'constructor'])
      expect((await call('PUT', `behaviours/${name}`, {})).status).toBe(404)
  })

  it('let a shopper own 5,000 items of Counter-Strike 2', async () => {
    await call('PUT', 'behaviours/many-items', { steamId: steam.as('quiet_lynx').steamId })
    const items = steam
      .as('quiet_lynx')
      .items()
      .filter(({ appId }) => appId === 730)
    expect(new Set(items.map(({ assetId }) => assetId)).size).toBe(5000)
    expect(steam.as('nova_hound').items().length).toBeLessThan(200)
  })

  it('can be switched on and off on a page that has buttons to copy their names', async () => {
    expect(await readPage('/behaviours/')).toContain('data-copy="hidden-inventory"')
    await press('/behaviours/', [['on', 'steam-down']])
    expect(JSON.stringify((await call('GET', 'behaviours')).body)).toMatch(/"steam-down"[^}]*"on":true/)
    await press('/behaviours/', [['off', 'steam-down']])
    expect(JSON.stringify((await call('GET', 'behaviours')).body)).not.toContain('"on":true')
  })

  it('can belong to magic players, whom the API lists apart from ordinary shoppers, and the start page names', async () => {
    const readNames = async (path: string) => {
      const { body } = await call('GET', path)
      return Array.isArray(body) ? body.map(({ name }) => name) : []
    }
    expect(await readNames('players')).toEqual(['nova_hound', 'quiet_lynx'])
    expect(await readNames('magic')).toEqual(
      expect.arrayContaining(['magic_hidden', 'magic_slow', 'magic_reverser']),
    )
    expect(await readPage('/')).toContain('magic_hoarder')
  })
})

describe('the functions for tests', () => {
  it('accept, decline, counter and reverse on behalf of a person', () => {
    const nova = steam.as('nova_hound')
    expect(nova.decline(sendBotOffer().offerId)).toEqual({ kind: 'ended' })
    expect(nova.counter(sendBotOffer().offerId)).toMatchObject({ kind: 'sent' })
    expect(nova.accept(sendBotOffer().offerId)).toMatchObject({ kind: 'accepted' })
    expect(nova.received()).toHaveLength(3)
    nova.reverse()
    expect(steam.world().trades[0]?.status).toBe(TRADE.protectionRollback)
    expect(() => steam.as('nobody')).toThrow('nobody')
  })

  it('switch a bad day on and off', async () => {
    expect(() => steam.begin('nonsense')).toThrow('nonsense')
    steam.begin('steam-down')
    expect(JSON.stringify((await call('GET', 'behaviours')).body)).toContain('"on":true')
    steam.end('steam-down')
    expect(JSON.stringify((await call('GET', 'behaviours')).body)).not.toContain('"on":true')
  })

  it('list received items as tradable only after their protection has ended', () => {
    const [nova, bot] = [steam.as('nova_hound'), steam.as('Tradetill Bot #1')]
    nova.accept(sendBotOffer().offerId)
    expect([bot.items().length, bot.tradable(730).length]).toEqual([3, 0])
    steam.advance(7 * DAY_S)
    expect(bot.tradable(730)).toHaveLength(3)
  })
})

describe('an additional bot', () => {
  it('has no items, logs in, and is listed with the others', async () => {
    const { status, body } = await call('POST', 'bots')
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: 'Tradetill Bot #3', accountName: 'tradetill_bot_3' })
    const bot = steam.as('Tradetill Bot #3')
    expect(bot.items()).toEqual([])
    expect(await loginCookies(steam, bot.refreshToken())).not.toEqual([])
    expect((await call('GET', 'bots')).body).toHaveLength(3)
  })
})

describe('the items of a bot', () => {
  /** A bot with three unprotected items, and an account to give them to. */
  async function makeBotWithTradableItems() {
    const { bot } = await makeTrade()
    steam.advance(7 * DAY_S)
    const taker = steam.as('quiet_lynx')
    return { bot: steam.as(bot.name), taker }
  }

  it('can be given away by the control API, all or some of them, unless they are protected', async () => {
    const { bot: protectedBot } = await makeTrade()
    expect(
      (await call('POST', `bots/${protectedBot.steamId}/give`, { to: steam.as('quiet_lynx').steamId }))
        .status,
    ).toBe(409)
    steam.reset()
    const { bot, taker } = await makeBotWithTradableItems()
    const itemsBefore = taker.items().length
    const [first] = bot.items()
    const path = `bots/${bot.steamId}/give`
    expect(await call('POST', path, { to: taker.steamId, items: [first?.assetId] })).toMatchObject({
      status: 200,
    })
    expect([bot.items().length, taker.items().length]).toEqual([2, itemsBefore + 1])
    expect((await call('POST', path, { to: taker.steamId })).status).toBe(200)
    expect(bot.items()).toEqual([])
    expect((await call('POST', path, { to: taker.steamId })).status).toBe(409)
    expect((await call('POST', path, {})).status).toBe(400)
    expect((await call('POST', path, { to: '1' })).status).toBe(409)
  })

  it('can be given away by a button of the page', async () => {
    const { bot, taker } = await makeBotWithTradableItems()
    expect(await readPage('/bots/')).toContain('Give its items away (it has 3)')
    const fields: [string, string][] = [
      ['from', bot.steamId],
      ['to', taker.steamId],
    ]
    expect((await press('/bots/', fields)).status).toBe(303)
    expect(bot.items()).toEqual([])
    expect((await press('/bots/', fields)).status).toBe(409)
  })

  it('can be made to vanish and appear without a trade, by the control API and by buttons', async () => {
    const { bot } = await makeBotWithTradableItems()
    const heldIds = () => bot.items().map(({ assetId }) => assetId)
    const [first, second] = heldIds()
    const tradeCount = steam.world().trades.length
    const lose = (items?: unknown) =>
      call('POST', `bots/${bot.steamId}/lose`, items === undefined ? {} : { items })
    expect(await lose([second])).toMatchObject({ status: 200, body: { assetIds: [second] } })
    expect((await lose([second])).status).toBe(409)
    expect((await press('/bots/', [['lose', bot.steamId]])).status).toBe(303)
    expect(heldIds()).not.toContain(first)
    expect(heldIds()).toHaveLength(1)
    expect((await press('/bots/', [['find', bot.steamId]])).status).toBe(303)
    expect((await call('POST', `bots/${bot.steamId}/find`)).status).toBe(200)
    expect(new Set(heldIds()).size).toBe(3)
    expect((await lose(heldIds())).status).toBe(200)
    expect((await press('/bots/', [['lose', bot.steamId]])).status).toBe(409)
    expect((await call('POST', 'bots/1/find')).status).toBe(409)
    expect(steam.world().trades).toHaveLength(tradeCount)
  })
})

describe('the page of the bots', () => {
  it('switches a bad day of one bot on and off, and ignores a bad day that the page does not offer', async () => {
    const bot = steam.as('Tradetill Bot #1')
    expect(
      (
        await press('/bots/', [
          ['of', bot.steamId],
          ['on', 'send-new-device'],
        ])
      ).status,
    ).toBe(303)
    expect((await readPage('/bots/')).match(/\(1 on\)/g)).toHaveLength(1)
    await press('/bots/', [
      ['of', bot.steamId],
      ['on', 'steam-down'],
    ])
    expect((await readPage('/bots/')).match(/\(1 on\)/g)).toHaveLength(1)
    await press('/bots/', [
      ['of', bot.steamId],
      ['off', 'send-new-device'],
    ])
    expect(await readPage('/bots/')).not.toContain('(1 on)')
  })

  it('shows the data for a login, and approves a login by QR code', async () => {
    const page = await readPage('/bots/')
    expect(page).toContain('tradetill_bot_1')
    const session = createSession(steam)
    const done = new Promise<void>((resolve, reject) =>
      session.once('authenticated', resolve).once('error', reject),
    )
    const { qrChallengeUrl = '' } = await session.startWithQR()
    const { steamId } = steam.as('Tradetill Bot #2')
    expect(
      (
        await press('/bots/', [
          ['challenge', 'https://s.team/q/1/1'],
          ['bot', steamId],
        ])
      ).status,
    ).toBe(404)
    expect(
      (
        await press('/bots/', [
          ['challenge', qrChallengeUrl],
          ['bot', steamId],
        ])
      ).status,
    ).toBe(303)
    await done
    expect(session.steamID.getSteamID64()).toBe(steamId)
    const path = `logins/${qrChallengeUrl.split('/').at(-1)}/approve`
    expect((await call('POST', path, { steamId })).status).toBe(404)
  })
})
