/** The port against a scripted Steam, which gives each request the answer that the test sets. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../testing/clock.ts'
import {
  ASSETS,
  api,
  BOT,
  FINALIZE,
  jwt,
  loginCookie,
  ok,
  PARTNER,
  type ScriptedSteam,
  SEND,
  SET_TOKEN,
  scriptedSteam,
  TOKEN,
} from '../../testing/steam-server.ts'

let steam: ScriptedSteam

beforeEach(async () => {
  steam = await scriptedSteam()
})
afterEach(() => steam.close())

const audienceOf = (token: string | null) => JSON.parse(atob(token?.split('.')[1] ?? btoa('{}'))).aud

describe('opening a session', () => {
  it('finds the account in the refresh token, and uses the community’s access token', async () => {
    const seen: unknown[] = []
    steam.routes.set(api('GetTradeOffer'), ({ query }) => {
      seen.push(audienceOf(query.get('access_token')))
      return ok({})
    })
    const session = await steam.open()
    expect(session.steamId).toBe(BOT)
    expect(await session.readOffer('1')).toEqual({ kind: 'missing' })
    expect(seen).toEqual([['web:community']])
  })

  it.each([
    '',
    'nonsense',
    'a.b.c',
    jwt({ sub: BOT, aud: ['web:community'] }),
    jwt({ aud: ['web', 'derive'] }),
  ])('with the text %j is refused without a request to Steam', async (token) => {
    expect(await steam.createPort().openSession(token)).toEqual({
      kind: 'refused',
      reason: 'token_malformed',
    })
    expect(steam.log).toEqual([])
  })

  it('with a token that Steam refuses is refused', async () => {
    steam.routes.set(FINALIZE, () => ({ body: { error: 15 } }))
    expect(await steam.createPort().openSession(TOKEN)).toEqual({ kind: 'refused', reason: 'token_dead' })
  })

  it.each([
    [{ body: { error: 84 } }, 'rate_limited'],
    [{ status: 429, body: null }, 'rate_limited'],
    [{ body: { error: 20 } }, 'steam_error'],
    [{ status: 503, body: '<html>' }, 'steam_error'],
    ['drop' as const, 'steam_error'],
  ])('is unavailable if Steam answers %j: %s', async (reply, reason) => {
    steam.routes.set(FINALIZE, () => reply)
    const answer = await steam.createPort().openSession(TOKEN)
    expect(answer).toMatchObject({ kind: 'unavailable', reason })
    expect(JSON.stringify(answer)).not.toContain(TOKEN)
  })
})

describe('logins', () => {
  it('pause for an account after Steam has limited one, so its next attempt sends no request', async () => {
    steam.routes.set(FINALIZE, () => ({ status: 429, body: null }))
    const port = steam.createPort()
    expect(await port.openSession(TOKEN)).toMatchObject({ reason: 'rate_limited' })
    expect(await port.openSession(TOKEN)).toMatchObject({ reason: 'not_our_turn' })
    expect(steam.times('/jwt/finalizelogin')).toBe(1)
  })

  it('of other accounts continue until a second account is refused', async () => {
    steam.routes.set(FINALIZE, () => ({ body: { error: 84 } }))
    const port = steam.createPort()
    const reasons: unknown[] = []
    for (const account of ['1', '2', '3']) {
      const token = jwt({ iss: 'steam', sub: `7656119800000000${account}`, aud: ['web', 'renew', 'derive'] })
      const answer = await port.openSession(token)
      reasons.push(answer.kind === 'unavailable' && answer.reason)
    }
    expect(reasons).toEqual(['rate_limited', 'rate_limited', 'not_our_turn'])
  })
})

describe('a request that Steam limits', () => {
  it('is not repeated for a while, and other methods continue', async () => {
    steam.routes.set(api('GetTradeOffers'), () => ({ status: 429, body: null }))
    steam.routes.set(api('GetTradeOffer'), () => ok({}))
    const session = await steam.open()
    const limited = { kind: 'unavailable', reason: 'rate_limited' }
    expect(await session.listOffers(new Date(), null)).toMatchObject(limited)
    expect(await session.listOffers(new Date(), null)).toMatchObject({
      ...limited,
      reason: 'not_our_turn',
    })
    expect(await session.readOffer('1')).toEqual({ kind: 'missing' })
    expect(steam.times('/GetTradeOffers/v1/')).toBe(1)
  })

  it('is refused if it is a send, and the next send makes no request', async () => {
    steam.routes.set(SEND, () => ({ status: 429, body: null }))
    const session = await steam.open()
    const refused = { kind: 'refused', reason: 'rate_limited' }
    expect(await session.sendOffer(PARTNER, ASSETS, 'K7M2QX')).toEqual(refused)
    expect(await session.sendOffer(PARTNER, ASSETS, 'K7M2QY')).toEqual({ ...refused, reason: 'not_our_turn' })
    expect(steam.times('/tradeoffer/new/send')).toBe(1)
  })
})

describe('a session that has ended or soon ends', () => {
  it.each([
    ['a 401', { status: 401, body: null }],
    ['a page that denies access', { status: 403, body: '<html>Access is denied.</html>' }],
    [
      'a redirect to the login',
      { status: 302, headers: { location: 'https://steamcommunity.com/login/home/' } },
    ],
  ])('is renewed after %s, once for all callers', async (_, ending) => {
    steam.routes.set(api('GetTradeOffer'), ({ query }) => {
      const token = atob(query.get('access_token')?.split('.')[1] ?? '')
      // `n` is the number of the login that gave the token.
      return token.includes('"n":2') ? ok({}) : ending
    })
    const session = await steam.open()
    const answers = await Promise.all(['1', '2', '3', '4'].map((id) => session.readOffer(id)))
    expect(answers.map((answer) => answer.kind)).toEqual(Array(4).fill('missing'))
    expect(steam.logins).toBe(2)
  })

  it('is not renewed a second time for an answer that was already under way', async () => {
    const renewed = Promise.withResolvers<void>()
    steam.routes.set(api('GetTradeOffer'), async ({ query }) => {
      if (atob(query.get('access_token')?.split('.')[1] ?? '').includes('"n":2')) return ok({})
      if (query.get('tradeofferid') === '2') await renewed.promise
      return { status: 401 }
    })
    const session = await steam.open()
    const slow = session.readOffer('2')
    expect(await session.readOffer('1')).toEqual({ kind: 'missing' })
    renewed.resolve()
    expect(await slow).toEqual({ kind: 'missing' })
    expect(steam.logins).toBe(2)
  })

  it('is renewed if a send finds that it has ended, and the send is repeated once', async () => {
    let sends = 0
    steam.routes.set(SEND, () => {
      sends += 1
      return sends === 1 ? { status: 401 } : { body: { tradeofferid: '55' } }
    })
    const session = await steam.open()
    expect(await session.sendOffer(PARTNER, ASSETS, 'K7M2QX')).toEqual({ kind: 'sent', offerId: '55' })
    expect(sends).toBe(2)
  })

  it('is not renewed endlessly if Steam ends it again and again, and its calls fail', async () => {
    steam.routes.set(api('GetTradeOffer'), () => ({ status: 401 }))
    steam.routes.set(SEND, () => ({ status: 401 }))
    const session = await steam.open()
    expect(await session.readOffer('1')).toMatchObject({ kind: 'unavailable', reason: 'steam_error' })
    expect(await session.readOffer('1')).toMatchObject({ kind: 'unavailable', reason: 'steam_error' })
    expect(steam.logins).toBe(2)
    steam.routes.set(FINALIZE, () => ({ body: { error: 15 } }))
    const refusal = await steam.open().catch((error: Error) => error.message)
    expect(refusal).toContain('token_dead')
    expect(await session.sendOffer(PARTNER, ASSETS, 'C')).toEqual({ kind: 'refused', reason: 'session_dead' })
  })

  it('is renewed before its token expires, once for all callers', async () => {
    const expiresAtMs = Date.UTC(2026, 0, 2)
    const seen: unknown[] = []
    steam.routes.set(SET_TOKEN, () => {
      const exp = expiresAtMs / 1000 + (steam.logins - 1) * 86_400
      return loginCookie({ aud: ['web:community'], n: steam.logins, exp })
    })
    steam.routes.set(api('GetTradeOffer'), ({ query }) => {
      seen.push(JSON.parse(atob(query.get('access_token')?.split('.')[1] ?? '')).n)
      return ok({})
    })
    const clock = fakeClock(new Date(expiresAtMs - 11 * 60_000))
    const session = await steam.open({}, clock)
    await session.readOffer('1')
    expect(seen).toEqual([1])
    clock.advance(2 * 60_000)
    await Promise.all(['1', '2', '3'].map((id) => session.readOffer(id)))
    expect(seen).toEqual([1, 2, 2, 2])
    expect(steam.logins).toBe(2)
  })

  it('is still used if its renewal fails before it has ended, and the next call does not repeat the renewal', async () => {
    const exp = Date.UTC(2026, 0, 2) / 1000
    steam.routes.set(SET_TOKEN, () => {
      return loginCookie({ aud: ['web:community'], exp })
    })
    steam.routes.set(api('GetTradeOffer'), () => ok({}))
    const session = await steam.open({}, fakeClock(new Date(exp * 1000 - 60_000)))
    steam.routes.set(FINALIZE, () => {
      steam.logins += 1
      return { status: 503 }
    })
    expect(await session.readOffer('1')).toEqual({ kind: 'missing' })
    expect(await session.readOffer('1')).toEqual({ kind: 'missing' })
    expect(steam.logins).toBe(2)
  })

  it('D-40 is renewed immediately if an advance of the clock ended it, however fresh it was', async () => {
    const clock = fakeClock()
    steam.routes.set(SET_TOKEN, () => {
      const exp = clock.now().getTime() / 1_000 + 86_400
      return loginCookie({ aud: ['web:community'], n: steam.logins, exp })
    })
    steam.routes.set(api('GetTradeOffer'), ({ query }) => {
      const { exp } = JSON.parse(atob(query.get('access_token')?.split('.')[1] ?? ''))
      return exp * 1_000 > clock.now().getTime() ? ok({}) : { status: 401 }
    })
    const session = await steam.open({}, clock)
    for (const logins of [2, 3]) {
      clock.jump(8 * 86_400_000)
      expect(await session.readOffer('1')).toEqual({ kind: 'missing' })
      expect(steam.logins).toBe(logins)
    }
  })

  it('is reported as dead if Steam refuses its token too', async () => {
    const session = await steam.open()
    steam.routes.set(api('GetTradeOffer'), () => ({ status: 401 }))
    steam.routes.set(FINALIZE, () => ({ body: { error: 15 } }))
    expect(await session.readOffer('1')).toMatchObject({ kind: 'unavailable', reason: 'session_dead' })
  })
})

describe('a send', () => {
  it('asks for exactly the items, gives nothing, and contains the code and the token of the link', async () => {
    let form = new URLSearchParams()
    let cookie = ''
    steam.routes.set(SEND, (request) => {
      form = request.form
      cookie = request.headers.cookie ?? ''
      return { body: { tradeofferid: '55' } }
    })
    const session = await steam.open()
    await session.sendOffer(PARTNER, ASSETS, 'K7M2QX')
    expect(cookie).toContain(`sessionid=${form.get('sessionid')}`)
    expect(form.get('partner')).toBe(PARTNER.steamId)
    expect(form.get('tradeoffermessage')).toBe('K7M2QX')
    expect(JSON.parse(form.get('trade_offer_create_params') ?? '')).toEqual({
      trade_offer_access_token: PARTNER.token,
    })
    expect(JSON.parse(form.get('json_tradeoffer') ?? '')).toMatchObject({
      me: { assets: [] },
      them: { assets: [{ appid: 730, contextid: '2', amount: 1, assetid: '9007199254740993' }] },
    })
  })

  it.each([
    ['drop' as const],
    ['hang' as const],
    [{ status: 503, body: '<html>' }],
    [{ body: null }],
    [{ body: { strError: { toString: 1 } } }],
    [{ status: 500, body: { strError: ['(15)'] } }],
    [{ body: '<html>' }],
  ])('whose answer is lost or unreadable is unknown and never resent: %j', async (answer) => {
    steam.routes.set(SEND, () => answer)
    const session = await steam.open({ send: 400 })
    expect(await session.sendOffer(PARTNER, ASSETS, 'K7M2QX')).toMatchObject({ kind: 'unknown' })
    expect(steam.times('/tradeoffer/new/send')).toBe(1)
  })

  it('to an invalid trade link is refused without a request to Steam', async () => {
    const session = await steam.open()
    const before = [...steam.log]
    const steamId = `${PARTNER.steamId}&x=1`
    expect(await session.sendOffer({ ...PARTNER, steamId }, ASSETS, 'C')).toMatchObject({ kind: 'refused' })
    expect(steam.log).toEqual(before)
  })
})
