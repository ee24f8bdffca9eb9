/** The requests of the client libraries that the sandbox must answer. Each `row` is a requirement in rows.ts. */
import { EAuthTokenPlatformType, LoginSession } from 'steam-session'
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest'
import { credentialsOf } from '../credentials.ts'
import { type RunningSteam, startSteam } from '../start.ts'
import { STATE, TRADE } from '../world/world.ts'
import {
  ACTIVE_ONLY,
  control,
  createSession,
  draftOffer,
  get,
  inventoryOf,
  type LibraryOffer,
  logIn,
  loginCookies,
  type Person,
  read,
  SandboxAgent,
  SteamTotp,
  sendDraft,
  steamIdObject,
  wait,
} from './libraries.ts'
import { testsOfRows } from './rows.ts'

let steam: RunningSteam
let bot: Person
let shopper: Person

beforeAll(async () => {
  steam = await startSteam({ port: 0, seed: 'conformance' })
  bot = await logIn(steam, 'Tradetill Bot #1')
  shopper = await logIn(steam, 'nova_hound')
})

beforeEach(() => steam.reset())
afterAll(() => steam.close())

/** The hosts of all requests for this path. */
const hostsAskedFor = async (path: string) => {
  const log = await control(steam, 'GET log')
  return Array.isArray(log) ? log.filter((entry) => entry.path === path).map((entry) => entry.host) : []
}

function credentials() {
  const account = steam.world().accounts.find(({ kind }) => kind === 'bot')
  if (!account) throw new Error('The seed has no bots.')
  return { ...credentialsOf(account), steamId: account.steamId }
}

async function enrol(kind: 'WebBrowser' | 'MobileApp'): Promise<LoginSession> {
  const { accountName, password, sharedSecret } = credentials()
  const session = createSession(steam, kind)
  const done = new Promise<void>((resolve, reject) =>
    session.once('authenticated', resolve).once('error', reject),
  )
  await session.startWithCredentials({
    accountName,
    password,
    steamGuardCode: SteamTotp.generateAuthCode(sharedSecret),
  })
  await done
  return session
}

function claimsOf(token: string): Record<string, unknown> {
  const parts = token.split('.')
  expect(parts).toHaveLength(3)
  return JSON.parse(Buffer.from(parts[1] ?? '', 'base64url').toString())
}

describe('the requests of the libraries:', () => {
  const { row, expectAllTested } = testsOfRows('requests')

  row('login, step 1: finalizelogin', async () => {
    const session = createSession(steam)
    session.refreshToken = steam.as('quiet_lynx').refreshToken()
    const cookies = await session.getWebCookies()
    expect(cookies.some((cookie) => cookie.startsWith('steamRefresh_steam='))).toBe(true)
    expect(await hostsAskedFor('/jwt/finalizelogin')).toContain('login.steampowered.com')
  })

  row('login, step 2: settoken on every host', async () => {
    const hostsBefore = (await hostsAskedFor('/login/settoken')).length
    const cookies = await loginCookies(steam, steam.as('quiet_lynx').refreshToken())
    const { steamId } = steam.as('quiet_lynx')
    expect(cookies.some((cookie) => cookie.startsWith(`steamLoginSecure=${steamId}%7C%7C`))).toBe(true)
    expect((await hostsAskedFor('/login/settoken')).slice(hostsBefore).sort()).toEqual([
      'checkout.steampowered.com',
      'help.steampowered.com',
      'steamcommunity.com',
      'store.steampowered.com',
    ])
  })

  row('enrolment: password and authenticator code', async () => {
    const session = await enrol('WebBrowser')
    expect(session.accountName).toBe(credentials().accountName)
    expect(session.steamID.getSteamID64()).toBe(credentials().steamId)
    expect(await loginCookies(steam, session.refreshToken)).toHaveLength(2)
  })

  row('MobileApp token: renewed over HTTP, unlike a website token', async () => {
    const session = await enrol('MobileApp')
    await session.refreshAccessToken()
    expect(await session.renewRefreshToken()).toBe(true)
    const [cookie = ''] = await session.getWebCookies()
    expect(cookie).toMatch(/^steamLoginSecure=/)
    const web = new LoginSession(EAuthTokenPlatformType.WebBrowser, { agent: new SandboxAgent(steam.port) })
    web.refreshToken = steam.as('Tradetill Bot #1').refreshToken()
    await expect(web.refreshAccessToken()).rejects.toMatchObject({ eresult: 15 })
  })

  row('JWT: three parts, with the claims sub, exp, and an aud that includes derive', async () => {
    const { refreshToken, steamId } = steam.as('Tradetill Bot #1')
    const claims = claimsOf(refreshToken())
    expect(claims).toMatchObject({ iss: 'steam', sub: steamId, aud: ['web', 'renew', 'derive'] })
    expect(Number(claims.exp)).toBeGreaterThan(Date.now() / 1000 + 100 * 86_400)
    const cookies = await loginCookies(steam, refreshToken())
    expect(claimsOf(/%7C%7C([^;]+)/.exec(cookies.join())?.[1] ?? '')).toMatchObject({
      aud: ['web:community'],
    })
  })

  row('trade page, with the days of escrow', async () => {
    const offer = draftOffer(steam, bot, { who: 'magic_hold' })
    const them = await new Promise((resolve, reject) =>
      offer.getUserDetails((error, _me, other) => (error ? reject(error) : resolve(other))),
    )
    expect(them).toMatchObject({
      escrowDays: 15,
      personaName: 'magic_hold',
      probation: false,
      avatarFull: expect.stringMatching(/^https:\/\/avatars\.steamstatic\.com\/[0-9a-f]{40}_full\.jpg$/),
      contexts: { 730: { asset_count: 16, trade_permissions: 'FULL' } },
    })
  })

  row('days of escrow as JSON', async () => {
    const holdDurations = (who: string, token?: string) => {
      const { steamId, tradeUrl } = steam.as(who)
      const input = {
        steamid_target: steamId,
        trade_offer_access_token: token ?? new URL(tradeUrl()).searchParams.get('token'),
      }
      return wait<unknown>((done) => bot.manager._apiCall('GET', 'GetTradeHoldDurations', 1, input, done))
    }
    const escrow = (seconds: number) => ({ escrow_end_duration_seconds: seconds })
    expect(await holdDurations('magic_hold')).toMatchObject({
      response: {
        my_escrow: escrow(0),
        their_escrow: escrow(15 * 86_400),
        both_escrow: { ...escrow(15 * 86_400), escrow_end_date: expect.any(Number) },
      },
    })
    await expect(holdDurations('nova_hound', 'wrongone')).rejects.toMatchObject({ eresult: '15' })
    await expect(holdDurations('magic_new_token')).rejects.toMatchObject({ eresult: '15' })
  })

  row('create an offer', async () => {
    const offer = draftOffer(steam, bot, { count: 3 })
    offer.setMessage('x'.repeat(200))
    expect(await wait<string>((done) => offer.send(done))).toBe('sent')
    expect(steam.world().offers).toMatchObject([
      { id: offer.id, state: STATE.active, message: 'x'.repeat(128) },
    ])
    expect(steam.world().offers[0]?.items).toHaveLength(3)
  })

  row('cancel an offer', async () => {
    const offer = await sendDraft(steam, bot)
    await wait<void>((done) => offer.cancel(done))
    expect((await read(bot, offer.id)).state).toBe(STATE.canceled)
    offer.state = STATE.active
    await expect(wait<void>((done) => offer.cancel(done))).rejects.toMatchObject({ eresult: 11 })
  })

  row('accept and decline by the shopper', async () => {
    const [first, second] = [await sendDraft(steam, bot), await sendDraft(steam, bot, { count: 2 })]
    const declined = await read(shopper, second.id)
    await wait<void>((done) => declined.decline(done))
    const received = await read(shopper, first.id)
    expect(received.itemsToGive).toHaveLength(1)
    expect(await wait<string>((done) => received.accept(done))).toBe('accepted')
    expect(received.tradeID).toMatch(/^\d{18,}$/)
    expect((await read(bot, second.id)).state).toBe(STATE.declined)
  })

  row('list of offers', async () => {
    const offers = [await sendDraft(steam, bot), await sendDraft(steam, bot, { who: 'quiet_lynx' })]
    const list = (person: Person) =>
      new Promise<[LibraryOffer[], LibraryOffer[]]>((resolve, reject) =>
        person.manager.getOffers(ACTIVE_ONLY, (error, ours, theirs) =>
          error ? reject(error) : resolve([ours, theirs]),
        ),
      )
    expect((await list(bot)).map((side) => side.map(({ id }) => id))).toEqual([
      offers.map(({ id }) => id).reverse(),
      [],
    ])
    expect((await list(shopper)).map((side) => side.map(({ id }) => id))).toEqual([[], [offers[0]?.id]])
    steam.as('nova_hound').decline(offers[0]?.id ?? '')
    expect((await list(bot))[0].map(({ id }) => id)).toEqual([offers[1]?.id])
    const since = async (cutoff: number) => {
      const input = { get_sent_offers: 1, active_only: 1, time_historical_cutoff: cutoff }
      const body = await wait<unknown>((done) =>
        bot.manager._apiCall('GET', 'GetTradeOffers', 1, input, done),
      )
      return JSON.stringify(body).match(/"tradeofferid"/g)?.length
    }
    const nowS = Math.floor(Date.now() / 1000)
    expect([await since(nowS - 3_600), await since(nowS + 3_600)]).toEqual([2, 1])
  })

  row('one offer', async () => {
    const offer = await sendDraft(steam, bot)
    expect(await read(bot, offer.id)).toMatchObject({ id: offer.id, state: STATE.active, message: 'CODE-1' })
    await expect(read(bot, '42')).rejects.toThrow('No matching offer found')
    const stranger = await logIn(steam, 'quiet_lynx')
    await expect(read(stranger, offer.id)).rejects.toThrow('No matching offer found')
  })

  row('fields of an offer', async () => {
    const { id } = await sendDraft(steam, bot)
    const input = { tradeofferid: id, get_descriptions: 1 }
    const body = await wait<unknown>((done) => bot.manager._apiCall('GET', 'GetTradeOffer', 1, input, done))
    expect(body).toMatchObject({
      response: {
        offer: {
          tradeofferid: id,
          accountid_other: expect.any(Number),
          message: 'CODE-1',
          expiration_time: expect.any(Number),
          trade_offer_state: STATE.active,
          is_our_offer: true,
          time_created: expect.any(Number),
          time_updated: expect.any(Number),
          from_real_time_trade: false,
          escrow_end_date: 0,
          confirmation_method: 0,
          delay_settlement: true,
          settlement_date: 0,
          items_to_receive: [
            {
              appid: 730,
              contextid: '2',
              assetid: expect.stringMatching(/^\d+$/),
              classid: expect.stringMatching(/^\d+$/),
              instanceid: '0',
              amount: '1',
              missing: false,
              est_usd: expect.any(String),
            },
          ],
        },
        descriptions: [{ market_hash_name: expect.any(String) }],
      },
    })
    expect(JSON.stringify(body)).not.toContain('items_to_give')
  })

  row('new asset ids after a trade', async () => {
    const offer = await sendDraft(steam, bot, { count: 2 })
    steam.as('nova_hound').accept(offer.id)
    const accepted = await read(bot, offer.id)
    const details = await new Promise((resolve, reject) =>
      accepted.getExchangeDetails(false, (error, status, time, items) =>
        error ? reject(error) : resolve({ status, time, items }),
      ),
    )
    expect(details).toMatchObject({
      status: TRADE.complete,
      time: expect.any(Date),
      items: [1, 2].map(() => ({
        assetid: expect.any(String),
        new_assetid: expect.any(String),
        new_contextid: '16',
      })),
    })
  })

  row('inventory', async () => {
    const items = await inventoryOf(bot.community, steam.as('nova_hound').steamId)
    expect(items.length).toBeGreaterThan(60)
    expect(items.every(({ tradable, market_hash_name }) => tradable && market_hash_name !== '')).toBe(true)
  })

  row('avatar and name', async () => {
    const { steamId } = steam.as('nova_hound')
    const user = await wait<{ name: string; privacyState: string }>((done) =>
      bot.community.getSteamUser(steamIdObject(steamId), done),
    )
    expect(user).toMatchObject({ name: 'nova_hound', privacyState: 'public' })
    const summary = { iface: 'ISteamUser', method: 'GetPlayerSummaries' }
    const body = await wait<unknown>((done) =>
      bot.manager._apiCall('GET', summary, 2, { steamids: steamId }, done),
    )
    expect(body).toMatchObject({
      response: {
        players: [
          { steamid: steamId, personaname: 'nova_hound', avatarfull: expect.stringMatching(/_full\.jpg$/) },
        ],
      },
    })
  })

  row('a profile whose owner chose its address', async () => {
    await control(steam, `POST players/${bot.steamId}/address`, { address: 'trade-till' })
    const user = await wait<{ name: string }>((done) =>
      bot.community.getSteamUser(steamIdObject(bot.steamId), done),
    )
    expect(user).toMatchObject({ name: 'Tradetill Bot #1' })
    const items = '/inventory/json/730/2?trading=1'
    const { status, headers } = await get(
      bot.community,
      `https://steamcommunity.com/profiles/${bot.steamId}${items}`,
    )
    const location = `https://steamcommunity.com/id/trade-till${items}`
    expect({ status, headers }).toMatchObject({ status: 302, headers: { location } })
    const { body } = await get(bot.community, location)
    expect(JSON.parse(String(body))).toMatchObject({ success: true, rgInventory: [] })
  })

  row('level', async () => {
    const method = { iface: 'IPlayerService', method: 'GetSteamLevel' }
    const levelOf = (who: string) =>
      wait<unknown>((done) =>
        bot.manager._apiCall('GET', method, 1, { steamid: steam.as(who).steamId }, done),
      )
    expect(await levelOf('nova_hound')).toEqual({ response: { player_level: 34 } })
    expect(await levelOf('magic_hidden')).toEqual({ response: {} })
    const { accounts } = steam.world()
    const mini = await get(
      bot.community,
      `https://steamcommunity.com/miniprofile/${accounts[0]?.accountId}/json`,
    )
    expect(String(mini.body)).toContain('"level":34')
  })

  row('descriptions', async () => {
    const reader = await logIn(steam, 'Tradetill Bot #1', { language: 'english' })
    const offer = await sendDraft(steam, bot)
    const [item] = (await read(reader, offer.id)).itemsToReceive
    expect(item?.market_hash_name).toMatch(/\w/)
    expect(await hostsAskedFor('/ISteamEconomy/GetAssetClassInfo/v1/')).toHaveLength(1)
  })

  row('trade protection notice', async () => {
    await wait<void>((done) => bot.community.acknowledgeTradeProtection(done))
    expect(steam.world().accounts.find(({ steamId }) => steamId === bot.steamId)?.acknowledged).toBe(true)
  })

  expectAllTested()
})
