import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  control,
  draftOffer,
  failure,
  inventoryOf,
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
  steam = await startSteamWithoutWaits({ seed: 'conformance' })
  bot = await logIn(steam, 'Tradetill Bot #1')
})
beforeEach(() => steam.reset())
afterAll(() => steam.close())

/** Sends an offer while this fault is on. Resolves to the error and the number of offers afterwards. */
async function sendWithFault(behaviour: string) {
  await control(steam, `PUT behaviours/${behaviour}`, { times: 1 })
  const offer = draftOffer(steam, bot)
  const error = await failure(wait<string>((done) => offer.send(done)))
  return { error, offers: steam.world().offers.length }
}

async function sendingError(offer: ReturnType<typeof draftOffer>) {
  return failure(wait<string>((done) => offer.send(done)))
}

describe('sending fails with', () => {
  const { row, expectAllTested } = testsOfRows('sends')

  row('(15) bad token', async () => {
    expect(await sendingError(draftOffer(steam, bot, { token: 'wrongone' }))).toMatchObject({ eresult: 15 })
    expect(await sendingError(draftOffer(steam, bot, { who: 'magic_new_token' }))).toMatchObject({
      eresult: 15,
    })
    expect((await sendWithFault('send-15')).error).toMatchObject({ eresult: 15 })
  })

  row('(26) item gone', async () => {
    const [first, second] = [await sendDraft(steam, bot), draftOffer(steam, bot)]
    steam.as('nova_hound').accept(first.id)
    expect(await sendingError(second)).toMatchObject({ eresult: 26 })
    expect((await sendWithFault('send-26')).error).toMatchObject({ eresult: 26 })
  })

  row('(16), but the offer was created', async () => {
    expect(await sendWithFault('send-16-sent')).toMatchObject({ error: { eresult: 16 }, offers: 1 })
  })

  row('(16), and no offer was created', async () => {
    expect(await sendWithFault('send-16-not-sent')).toMatchObject({ error: { eresult: 16 }, offers: 0 })
  })

  row('(2)', async () => {
    expect(await sendWithFault('send-2')).toMatchObject({ error: { eresult: 2 }, offers: 0 })
  })

  row('(11)', async () => {
    expect(await sendWithFault('send-11')).toMatchObject({ error: { eresult: 11 }, offers: 0 })
  })

  row('(20)', async () => {
    expect(await sendWithFault('send-20')).toMatchObject({ error: { eresult: 20 }, offers: 0 })
  })

  row('(25)', async () => {
    for (let count = 0; count < 5; count += 1) await sendDraft(steam, bot)
    expect(await sendingError(draftOffer(steam, bot))).toMatchObject({
      eresult: 25,
      cause: 'OfferLimitExceeded',
    })
    expect((await sendWithFault('send-25')).error).toMatchObject({ eresult: 25 })
  })

  row('(28)', async () => {
    expect(await sendWithFault('send-28')).toMatchObject({ error: { eresult: 28 }, offers: 0 })
  })

  row('trade ban', async () => {
    expect((await sendWithFault('send-trade-ban')).error).toMatchObject({ cause: 'TradeBan' })
    expect(await sendingError(draftOffer(steam, bot, { who: 'magic_banned' }))).toMatchObject({
      cause: 'TradeBan',
    })
  })

  row('new device: no trades for 7 days', async () => {
    expect((await sendWithFault('send-new-device')).error).toMatchObject({ cause: 'NewDevice' })
  })

  row('partner not available to trade', async () => {
    expect((await sendWithFault('send-cannot-trade')).error).toMatchObject({ cause: 'TargetCannotTrade' })
    const cause = 'TargetCannotTrade'
    expect(await sendingError(draftOffer(steam, bot, { who: 'magic_cannot_trade' }))).toMatchObject({ cause })
  })

  row('limited account', async () => {
    const text = /^This person has a limited account/
    const { error, offers } = await sendWithFault('send-limited-account')
    expect([error.message, offers]).toEqual([expect.stringMatching(text), 0])
    expect((await sendingError(draftOffer(steam, bot, { who: 'magic_limited' }))).message).toMatch(text)
    expect(await inventoryOf(bot.community, steam.as('magic_limited').steamId)).not.toEqual([])
  })

  row('private inventory', async () => {
    const text = / inventory privacy is set to "Private"/
    const { error, offers } = await sendWithFault('send-private-inventory')
    expect([error.message, offers]).toEqual([expect.stringMatching(text), 0])
    expect((await sendingError(draftOffer(steam, bot, { who: 'magic_private' }))).message).toMatch(text)
    expect((await sendingError(draftOffer(steam, bot, { who: 'magic_hidden' }))).message).toMatch(text)
    expect(await inventoryOf(bot.community, steam.as('magic_private').steamId)).not.toEqual([])
  })

  it('private inventory, although an earlier offer can still be accepted', async () => {
    const { steamId, accept } = steam.as('nova_hound')
    const { id } = await sendDraft(steam, bot)
    await control(steam, 'PUT behaviours/goes-private', { steamId })
    expect((await sendingError(draftOffer(steam, bot))).message).toContain('is set to "Private"')
    expect(accept(id)).toMatchObject({ kind: 'accepted' })
  })

  row('too many offers', async () => {
    expect((await sendWithFault('send-too-many-offers')).error).toMatchObject({ cause: 'OfferLimitExceeded' })
  })

  row('item server down', async () => {
    expect((await sendWithFault('send-item-server-down')).error).toMatchObject({
      cause: 'ItemServerUnavailable',
    })
  })

  row('inventory full', async () => {
    const { error } = await sendWithFault('send-inventory-full')
    expect(error.message).toContain('maximum number of items allowed in your')
  })

  row('inventory full for one game, but not for others', async () => {
    const games = [
      { full: 'send-inventory-full-cs', appId: 730, name: 'Counter-Strike 2', other: 440 },
      { full: 'send-inventory-full-dota', appId: 570, name: 'Dota 2', other: 730 },
      { full: 'send-inventory-full-tf', appId: 440, name: 'Team Fortress 2', other: 252490 },
      { full: 'send-inventory-full-rust', appId: 252490, name: 'Rust', other: 570 },
    ]
    for (const { full, appId, name, other } of games) {
      steam.reset()
      await control(steam, `PUT behaviours/${full}`, { steamId: bot.steamId })
      const error = await sendingError(draftOffer(steam, bot, { appId }))
      expect(error.message).toContain(`maximum number of items allowed in your ${name} inventory`)
      await sendDraft(steam, bot, { appId: other })
      expect(steam.world().offers).toHaveLength(1)
    }
  })

  row('401', async () => {
    let isReported = false
    bot.manager.on('sessionExpired', () => {
      isReported = true
    })
    expect((await sendWithFault('send-401')).error.message).toBe('Not Logged In')
    expect(isReported).toBe(true)
  })

  row('302', async () => {
    expect((await sendWithFault('send-302')).error.message).toBe('HTTP error 302')
  })

  row('429', async () => {
    expect((await sendWithFault('send-429')).error.message).toBe('HTTP error 429')
  })

  row('503 HTML', async () => {
    expect((await sendWithFault('send-503-html')).error.message).toBe('HTTP error 503')
  })

  row('200 null', async () => {
    expect((await sendWithFault('send-200-null')).error.message).toBe('Malformed JSON response')
  })

  row('200 HTML', async () => {
    expect((await sendWithFault('send-200-html')).error.message).toBe('Unknown response')
  })

  row('200 {}', async () => {
    expect((await sendWithFault('send-200-empty')).error.message).toBe('Unknown response')
  })

  row('hang before processing', async () => {
    const { error, offers } = await sendWithFault('send-hang-before')
    expect([error.message, offers]).toEqual(['ESOCKETTIMEDOUT', 0])
  })

  row('hang after processing', async () => {
    const { error, offers } = await sendWithFault('send-hang-after')
    expect([error.message, offers]).toEqual(['ESOCKETTIMEDOUT', 1])
  })

  row('drop before processing', async () => {
    const { error, offers } = await sendWithFault('send-drop-before')
    expect(error.message).toMatch(/hang up|ECONNRESET/)
    expect(offers).toBe(0)
  })

  row('drop after processing', async () => {
    const { error, offers } = await sendWithFault('send-drop-after')
    expect(error.message).toMatch(/hang up|ECONNRESET/)
    expect(offers).toBe(1)
  })

  row('trade protection not acknowledged', async () => {
    await control(steam, 'PUT behaviours/must-acknowledge', { steamId: bot.steamId })
    expect(await sendingError(draftOffer(steam, bot))).toMatchObject({ eresult: 2 })
    await wait<void>((done) => bot.community.acknowledgeTradeProtection(done))
    await sendDraft(steam, bot)
  })

  row('(10) (24) (29) (34) (50) (55) (84)', async () => {
    const behaviours = ['send-10', 'send-24', 'send-29', 'send-34', 'send-50', 'send-55', 'send-84']
    for (const behaviour of behaviours) {
      const eresult = Number(behaviour.slice(5))
      expect(await sendWithFault(behaviour)).toMatchObject({ error: { eresult }, offers: 0 })
    }
  })

  row('Steam Guard for less than 15 days', async () => {
    const { error } = await sendWithFault('send-steam-guard')
    expect(error.message).toContain('You must have had Steam Guard enabled for at least 15 days')
  })

  expectAllTested()
})

it('accepting fails while Steam calls the inventory full, and works afterwards', async () => {
  const { id } = await sendDraft(steam, bot)
  const shopper = await logIn(steam, 'nova_hound')
  const received = await read(shopper, id)
  await control(steam, 'PUT behaviours/accept-inventory-full', { times: 1 })
  const error = await failure(wait<string>((done) => received.accept(done)))
  expect(error.message).toContain('maximum number of items allowed in your Counter-Strike 2 inventory')
  expect(await wait<string>((done) => received.accept(done))).toBe('accepted')
})
