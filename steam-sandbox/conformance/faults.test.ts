import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest'
import {
  ACTIVE_ONLY,
  control,
  createSession,
  draftOffer,
  failure,
  get,
  logIn,
  type Person,
  type Reply,
  Request,
  read,
  SandboxAgent,
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

const PROFILE = 'https://steamcommunity.com/profiles/76561197960287930/?xml=1'
const MINI_PROFILE = 'https://steamcommunity.com/miniprofile/22202/json'
const API = 'https://api.steampowered.com/IEconService/GetTradeOffers/v1/'

function fault(match: object, effect: object, more: object = {}): Promise<unknown> {
  return control(steam, 'POST faults', { match, effect, ...more })
}

function request(uri: string): Promise<Reply> {
  const agent = new SandboxAgent(steam.port)
  return new Promise((resolve, reject) =>
    Request({ uri, agent, followRedirect: false }, (error, reply) =>
      error ? reject(error) : resolve(reply),
    ),
  )
}

/** Resolves to the error or the status only, because random digits in the rest of an answer could contain 429. */
const refusal = (call: () => Promise<unknown>): Promise<string> =>
  call().then(
    (answer) => (typeof answer === 'number' ? String(answer) : ''),
    (error: unknown) => String(error),
  )

describe('the injection of faults:', () => {
  const { row, expectAllTested } = testsOfRows('faults')

  row('match by host and path', async () => {
    await fault({ host: 'api.steampowered.com', path: '/profiles/' }, { status: 418 })
    expect((await get(bot.community, PROFILE)).status).toBe(200)
    await fault({ host: 'steamcommunity.com', path: '/profiles/' }, { status: 418 })
    expect((await get(bot.community, PROFILE)).status).toBe(418)
  })

  row('ends after `times` requests', async () => {
    await fault({ path: '/profiles/' }, { status: 418 }, { times: 2 })
    const statuses = [
      await get(bot.community, PROFILE),
      await get(bot.community, PROFILE),
      await get(bot.community, PROFILE),
    ].map(({ status }) => status)
    expect(statuses).toEqual([418, 418, 200])
    steam.fault({ match: { path: '/profiles/' }, effect: { status: 410 } })
    expect((await get(bot.community, PROFILE)).status).toBe(410)
    expect((await get(bot.community, PROFILE)).status).toBe(200)
  })

  row('status, body, headers', async () => {
    await fault({ path: '/profiles/' }, { status: 503, body: { a: 1 }, headers: { 'x-eresult': '20' } })
    const page = await get(bot.community, PROFILE)
    expect(page).toMatchObject({ status: 503, body: '{"a":1}' })
    expect(page.headers['x-eresult']).toBe('20')
  })

  row('hang and drop, before and after processing', async () => {
    const offersAfterEach: number[] = []
    for (const effect of [{ hang: 'before' }, { drop: 'before' }, { hang: 'after' }, { drop: 'after' }]) {
      await fault({ path: '/tradeoffer/new/send' }, effect)
      const offer = draftOffer(steam, bot)
      await failure(wait<string>((done) => offer.send(done)))
      offersAfterEach.push(steam.world().offers.length)
    }
    expect(offersAfterEach).toEqual([0, 0, 1, 2])
    expect(steam.waits).toEqual([Infinity, Infinity])
  })

  row('changed answer', async () => {
    const { id } = await sendDraft(steam, bot)
    await control(steam, 'PUT behaviours/offers-without-items', { times: 1 })
    expect((await failure(read(bot, id))).message).toMatch(/glitch|unavailable|malformed/i)
    expect((await read(bot, id)).itemsToReceive).toHaveLength(1)
  })

  row(
    'control API: is not served on the hosts of Steam, refuses pages of other sites, and is not affected by faults',
    async () => {
      expect((await request('https://steamcommunity.com/control/bots')).statusCode).toBe(302)
      expect((await request('https://api.steampowered.com/control/bots')).statusCode).toBe(401)
      await fault({ path: '/control/' }, { status: 500 })
      expect(await control(steam, 'GET bots')).toHaveLength(2)
      const foreignResponse = await fetch(`${steam.url}/control/reset`, {
        method: 'POST',
        headers: { origin: 'https://elsewhere.example' },
      })
      expect(foreignResponse.status).toBe(403)
    },
  )

  row('tight quotas for all callers, and for one bot', async () => {
    const offers = [await sendDraft(steam, bot), await sendDraft(steam, bot), await sendDraft(steam, bot)]
    await control(steam, 'PUT behaviours/cancel-429', { times: 1 })
    const cancelError = await failure(wait<void>((done) => offers[2]?.cancel(done)))
    expect(cancelError.message).toContain('429')
    await control(steam, 'PUT behaviours/tight-quotas')
    const { community } = bot
    const calls: Record<string, () => Promise<unknown>> = {
      offer: () => read(bot, '42'),
      list: () => wait((done) => bot.manager.getOffers(ACTIVE_ONLY, done)),
      cancel: () => wait<void>((done) => offers.pop()?.cancel(done)),
      send: () => sendDraft(steam, bot),
      acknowledge: () => wait<void>((done) => community.acknowledgeTradeProtection(done)),
      profile: () => get(community, PROFILE).then(({ status }) => status),
      miniprofile: () => get(community, MINI_PROFILE).then(({ status }) => status),
      login: () => logIn(steam, 'Tradetill Bot #1'),
    }
    for (const [method, call] of Object.entries(calls)) {
      // The library reports a login that was refused with 429 as malformed.
      const refusals = [await refusal(call), await refusal(call), await refusal(call)]
      expect(
        refusals.map((text) => /429|Malformed login/.test(text)),
        method,
      ).toEqual([false, false, true])
    }
    steam.advance(10)
    expect((await get(community, PROFILE)).status).toBe(200)
    await control(steam, 'DELETE behaviours/tight-quotas')
    await control(steam, 'PUT behaviours/tight-quotas', { steamId: bot.steamId })
    const otherBot = await logIn(steam, 'Tradetill Bot #2')
    for (let count = 0; count < 4; count += 1)
      expect((await failure(read(otherBot, '42'))).message).not.toContain('429')
  })

  row('a blocked address', async () => {
    await control(steam, 'PUT behaviours/address-blocked', { times: 2 })
    for (const uri of [PROFILE, API])
      expect(await request(uri)).toMatchObject({
        statusCode: 403,
        body: expect.stringContaining('<TITLE>Access Denied</TITLE>'),
      })
    expect((await get(bot.community, PROFILE)).status).toBe(200)
  })

  row('Web API: refuses tokens of store.steampowered.com, and Web API keys', async () => {
    const session = createSession(steam)
    session.refreshToken = steam.as('Tradetill Bot #1').refreshToken()
    const cookies = await session.getWebCookies()
    const tokenOf = (host: string) =>
      /%7C%7C([^;]+)/.exec(cookies.find((cookie) => cookie.includes(`Domain=${host}`)) ?? '')?.[1] ?? ''
    const statusOf = async (host: string) =>
      (await request(`${API}?access_token=${tokenOf(host)}`)).statusCode
    expect(await statusOf('steamcommunity.com')).toBe(200)
    expect(await statusOf('store.steampowered.com')).toBe(401)
    expect((await request(`${API}?key=0123456789ABCDEF`)).statusCode).toBe(401)
  })

  expectAllTested()
})
