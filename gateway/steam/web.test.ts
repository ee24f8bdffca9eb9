/** The port against a Steam that does what a test tells it, over real HTTP: trouble that no catalogue of ours foresees. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSandboxAgent } from './agent.ts'
import type { SteamSession } from './steam.ts'
import { createWebSteam } from './web.ts'

const BOT = '76561198000000001'
const PARTNER = { steamId: '76561197960269729', token: 'abcd_-12' }
const ASSETS = [{ appId: 730, contextId: '2', assetId: '9007199254740993' }]

const jwt = (claims: object) => ['{}', JSON.stringify(claims), 'sig'].map((part) => btoa(part)).join('.')
const TOKEN = jwt({ iss: 'steam', sub: BOT, aud: ['web', 'renew', 'derive'] })

type Request = {
  method: string
  host: string
  path: string
  query: URLSearchParams
  form: URLSearchParams
  cookie: string
}
type Answer =
  | { status?: number; headers?: Record<string, string | string[]>; body?: unknown }
  | 'drop'
  | 'hang'
type Route = (request: Request) => Answer | Promise<Answer>

let routes: Map<string, Route>
let log: string[]
let logins: number
let port: number
let sessions: SteamSession[]
const server = createServer(async (incoming, response) => {
  const request = await read(incoming)
  log.push(`${request.method} ${request.host}${request.path}`)
  const route = routes.get(`${request.host}${request.path}`)
  give(response, (await route?.(request)) ?? { status: 404, body: null })
})

beforeEach(async () => {
  log = []
  logins = 0
  sessions = []
  routes = new Map([
    ['login.steampowered.com/jwt/finalizelogin', finalize],
    ['steamcommunity.com/login/settoken', () => cookies('web:community')],
    ['store.steampowered.com/login/settoken', () => cookies('web:store')],
  ])
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})

afterEach(async () => {
  for (const session of sessions) session.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function read(incoming: IncomingMessage): Promise<Request> {
  const url = new URL(incoming.url ?? '/', 'http://steam')
  return {
    method: incoming.method ?? '',
    host: incoming.headers.host ?? '',
    path: url.pathname,
    query: url.searchParams,
    form: new URLSearchParams(await text(incoming)),
    cookie: incoming.headers.cookie ?? '',
  }
}

function give(response: ServerResponse, answer: Answer) {
  if (answer === 'drop') response.socket?.destroy()
  if (typeof answer === 'string') return
  const page = typeof answer.body === 'string'
  const type = page ? 'text/html' : 'application/json'
  response.writeHead(answer.status ?? 200, { 'content-type': type, ...answer.headers })
  response.end(page ? answer.body : JSON.stringify(answer.body))
}

function finalize(): Answer {
  logins += 1
  const hosts = ['https://store.steampowered.com', 'https://steamcommunity.com']
  const transfers = hosts.map((host) => ({
    url: `${host}/login/settoken`,
    params: { nonce: 'n', auth: 'a' },
  }))
  return { body: { steamID: BOT, transfer_info: transfers } }
}

function cookies(audience: string): Answer {
  const token = jwt({ sub: BOT, aud: [audience], n: logins })
  return {
    headers: { 'set-cookie': [`steamLoginSecure=${BOT}%7C%7C${token}; Path=/; Secure; HttpOnly`] },
    body: { result: 1 },
  }
}

const audienceOf = (token: string | null) => JSON.parse(atob(token?.split('.')[1] ?? btoa('{}'))).aud
const api = (method: string) => `api.steampowered.com/IEconService/${method}/v1/`
const SEND = 'steamcommunity.com/tradeoffer/new/send'
const ok = (response: object): Answer => ({ body: { response } })
const times = (path: string) => log.filter((line) => line.endsWith(path)).length

function steamHere(deadlines = {}) {
  const here = `http://127.0.0.1:${port}`
  return createWebSteam({
    redirect: createSandboxAgent('sandbox', here),
    imageBase: here,
    communityBase: here,
    deadlines,
  })
}

async function open(deadlines = {}): Promise<SteamSession> {
  const answer = await steamHere(deadlines).openSession(TOKEN)
  if (answer.kind !== 'open') throw new Error(JSON.stringify(answer))
  sessions.push(answer.session)
  return answer.session
}

describe('opening a session', () => {
  it('knows the account of the token and speaks with the token of the community', async () => {
    const seen: unknown[] = []
    routes.set(api('GetTradeOffer'), ({ query }) => {
      seen.push(audienceOf(query.get('access_token')))
      return ok({})
    })
    const session = await open()
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
  ])('with text %# is refused without asking Steam', async (token) => {
    expect(await steamHere().openSession(token)).toEqual({ kind: 'refused', reason: 'token_malformed' })
    expect(log).toEqual([])
  })

  it('with a token that Steam refuses is refused', async () => {
    routes.set('login.steampowered.com/jwt/finalizelogin', () => ({ body: { error: 15 } }))
    expect(await steamHere().openSession(TOKEN)).toEqual({ kind: 'refused', reason: 'token_dead' })
  })

  it.each([
    [{ body: { error: 84 } }, 'rate_limited'],
    [{ body: { error: 20 } }, 'steam_error'],
    [{ status: 503, body: '<html>' }, 'steam_error'],
    ['drop' as const, 'steam_error'],
  ])('says only that nothing is known when Steam has trouble, case %#', async (answer, reason) => {
    routes.set('login.steampowered.com/jwt/finalizelogin', () => answer)
    const said = await steamHere().openSession(TOKEN)
    expect(said).toMatchObject({ kind: 'unavailable', reason })
    expect(JSON.stringify(said)).not.toContain(TOKEN)
  })
})

describe('a session that Steam ends', () => {
  it.each([
    ['a 401', { status: 401, body: null }],
    ['a page of denial', { status: 403, body: '<html>Access is denied.</html>' }],
    [
      'a redirect to the login',
      { status: 302, headers: { location: 'https://steamcommunity.com/login/home/' } },
    ],
  ])('with %s is renewed once for all who were asking', async (_, ending) => {
    let fresh = false
    routes.set(api('GetTradeOffer'), ({ query }) => {
      const token = atob(query.get('access_token')?.split('.')[1] ?? '')
      fresh = token.includes('"n":2')
      return fresh ? ok({}) : ending
    })
    const session = await open()
    const answers = await Promise.all(['1', '2', '3', '4'].map((id) => session.readOffer(id)))
    expect(answers.map((answer) => answer.kind)).toEqual(Array(4).fill('missing'))
    expect(logins).toBe(2)
  })

  it('is not renewed again for an answer that was on its way meanwhile', async () => {
    const renewed = Promise.withResolvers<void>()
    routes.set(api('GetTradeOffer'), async ({ query }) => {
      if (atob(query.get('access_token')?.split('.')[1] ?? '').includes('"n":2')) return ok({})
      if (query.get('tradeofferid') === '2') await renewed.promise
      return { status: 401 }
    })
    const session = await open()
    const slow = session.readOffer('2')
    expect(await session.readOffer('1')).toEqual({ kind: 'missing' })
    renewed.resolve()
    expect(await slow).toEqual({ kind: 'missing' })
    expect(logins).toBe(2)
  })

  it('before an offer was made is renewed, and the offer sent once', async () => {
    let sends = 0
    routes.set(SEND, () => {
      sends += 1
      return sends === 1 ? { status: 401 } : { body: { tradeofferid: '55' } }
    })
    const session = await open()
    expect(await session.sendOffer(PARTNER, ASSETS, 'K7M2QX')).toEqual({ kind: 'sent', offerId: '55' })
    expect(sends).toBe(2)
  })

  it('for good is reported, and Steam is not asked for logins without end', async () => {
    routes.set(api('GetTradeOffer'), () => ({ status: 401 }))
    routes.set(SEND, () => ({ status: 401 }))
    const session = await open()
    expect(await session.readOffer('1')).toMatchObject({ kind: 'unavailable', reason: 'steam_error' })
    expect(await session.readOffer('1')).toMatchObject({ kind: 'unavailable', reason: 'steam_error' })
    expect(logins).toBe(2)
    routes.set('login.steampowered.com/jwt/finalizelogin', () => ({ body: { error: 15 } }))
    const other = await open().catch((error: Error) => error.message)
    expect(other).toContain('token_dead')
    expect(await session.sendOffer(PARTNER, ASSETS, 'C')).toEqual({ kind: 'refused', reason: 'session_dead' })
  })

  it('with a dead token says so', async () => {
    const session = await open()
    routes.set(api('GetTradeOffer'), () => ({ status: 401 }))
    routes.set('login.steampowered.com/jwt/finalizelogin', () => ({ body: { error: 15 } }))
    expect(await session.readOffer('1')).toMatchObject({ kind: 'unavailable', reason: 'session_dead' })
  })
})

describe('a send', () => {
  it('asks for exactly the items, gives nothing and carries the code and the token of the link', async () => {
    let form = new URLSearchParams()
    let cookie = ''
    routes.set(SEND, (request) => {
      form = request.form
      cookie = request.cookie
      return { body: { tradeofferid: '55' } }
    })
    const session = await open()
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
  ])('whose answer is lost or unreadable is unknown, never resent: case %#', async (answer) => {
    routes.set(SEND, () => answer)
    const session = await open({ send: 400 })
    expect(await session.sendOffer(PARTNER, ASSETS, 'K7M2QX')).toMatchObject({ kind: 'unknown' })
    expect(times('/tradeoffer/new/send')).toBe(1)
  })

  it('to what is no trade link is refused without asking Steam', async () => {
    const session = await open()
    const steamId = `${PARTNER.steamId}&x=1`
    expect(await session.sendOffer({ ...PARTNER, steamId }, ASSETS, 'C')).toMatchObject({ kind: 'refused' })
    expect(times('/tradeoffer/new/send')).toBe(0)
  })
})

describe('reads', () => {
  it('end at their deadline with nothing known', async () => {
    const methods = [
      'GetTradeOffer',
      'GetTradeOffers',
      'GetTradeStatus',
      'GetTradeHistory',
      'GetTradeHoldDurations',
    ]
    for (const method of methods) routes.set(api(method), () => 'hang')
    const session = await open({ other: 150 })
    const late = { kind: 'unavailable', reason: 'timeout' }
    expect(await session.readOffer('1')).toMatchObject(late)
    expect(await session.listSentOffers(new Date())).toMatchObject(late)
    expect(await session.readTradeStatus('1')).toMatchObject(late)
    expect(await session.listTrades(new Date())).toMatchObject(late)
    expect(await session.checkPartner(PARTNER)).toMatchObject(late)
  })

  it('of the sent offers need every page', async () => {
    const offer = { accountid_other: 4001, message: 'A', trade_offer_state: 2 }
    routes.set(api('GetTradeOffers'), ({ query }) =>
      query.get('cursor') === '0'
        ? ok({ trade_offers_sent: [{ ...offer, tradeofferid: '1' }], next_cursor: 7 })
        : ok({ trade_offers_sent: [{ ...offer, tradeofferid: '2' }] }),
    )
    const session = await open()
    expect(await session.listSentOffers(new Date())).toMatchObject({
      offers: [{ offerId: '1' }, { offerId: '2' }],
    })
    routes.set(api('GetTradeOffers'), () => ok({ next_cursor: 7 }))
    expect(await session.listSentOffers(new Date())).toMatchObject({ kind: 'unavailable' })
  })

  it('of the history go back as far as asked, and no further', async () => {
    const row = (tradeid: string, time_init: number) => ({
      tradeid,
      steamid_other: PARTNER.steamId,
      status: 3,
      time_init,
    })
    const pages = new Map([
      ['0 0', [row('9', 900), row('8', 800)]],
      ['800 8', [row('7', 700), row('6', 600)]],
      ['600 6', [row('5', 500)]],
    ])
    routes.set(api('GetTradeHistory'), ({ query }) => {
      const trades = pages.get(`${query.get('start_after_time')} ${query.get('start_after_tradeid')}`) ?? []
      return ok({ trades, more: true })
    })
    const session = await open()
    const ids = async (sinceS: number) => {
      const answer = await session.listTrades(new Date(sinceS * 1000))
      return answer.kind === 'trades' ? answer.trades.map(({ tradeId }) => tradeId) : answer
    }
    expect(await ids(650)).toEqual(['9', '8', '7', '6'])
    expect(await ids(550)).toEqual(['9', '8', '7', '6', '5'])
    expect(await ids(0)).toMatchObject({ kind: 'unavailable' })
  })

  it('of a trade link whose token Steam refuses, and of an answer that does not tell the hold', async () => {
    const session = await open()
    routes.set(api('GetTradeHoldDurations'), () => ({
      headers: { 'x-eresult': '15' },
      body: { response: {} },
    }))
    expect(await session.checkPartner(PARTNER)).toEqual({ kind: 'refused', reason: 'invalid_token' })
    routes.set(api('GetTradeHoldDurations'), () => ok({}))
    expect(await session.checkPartner(PARTNER)).toMatchObject({ kind: 'unavailable' })
  })

  it('of an inventory stop at a page that adds nothing', async () => {
    const path = 'steamcommunity.com/tradeoffer/new/partnerinventory/'
    const description = { name: 'Key', market_hash_name: 'Key', tradable: 1, tags: [] }
    routes.set(path, () => ({
      body: {
        success: true,
        more: true,
        more_start: 1000,
        rgInventory: { '5': { id: '5', classid: '1', instanceid: '0' }, '6': { id: '6', classid: '1' } },
        rgDescriptions: { '1_0': description },
      },
    }))
    const session = await open()
    const answer = await session.readInventory(PARTNER, 'tf', 'ru')
    expect(answer).toMatchObject({ kind: 'items', items: [{ assetId: '6' }, { assetId: '5' }] })
    expect(times('/partnerinventory/')).toBe(2)
  })
})

describe('a profile', () => {
  const profilePath = `steamcommunity.com/profiles/${PARTNER.steamId}/`
  const xml = (name: string, avatar: string) => ({
    body: `<?xml version="1.0"?><profile><steamID64>${PARTNER.steamId}</steamID64><steamID><![CDATA[${name}]]></steamID><avatarFull><![CDATA[${avatar}]]></avatarFull></profile>`,
  })
  const hash = '0123456789abcdef0123456789abcdef01234567'

  it('takes the picture from our image host and the name as plain text', async () => {
    routes.set(profilePath, () => xml('nova\u202e<b>', `https://avatars.steamstatic.com/${hash}_full.jpg`))
    const here = `http://127.0.0.1:${port}`
    expect(await steamHere().readProfile(PARTNER.steamId)).toEqual({
      kind: 'profile',
      profile: {
        steamId: PARTNER.steamId,
        name: 'nova<b>',
        avatarUrl: `${here}/${hash}_full.jpg`,
        profileUrl: `${here}/profiles/${PARTNER.steamId}`,
        level: 0,
      },
    })
  })

  it.each([
    `https://evil.example/${hash}_full.jpg`,
    `https://steamstatic.com.evil.example/${hash}_full.jpg`,
    `http://avatars.steamstatic.com/${hash}_full.jpg`,
    'javascript:alert(1)',
  ])('does not take a picture from %s', async (avatar) => {
    routes.set(profilePath, () => xml('nova', avatar))
    const answer = await steamHere().readProfile(PARTNER.steamId)
    expect(answer.kind === 'profile' && answer.profile.avatarUrl).toMatch(/\/fef49e7fa7e[0-9a-f]+_full\.jpg$/)
  })

  it('of nobody is unknown, of an unreadable page is unavailable', async () => {
    routes.set(profilePath, () => ({
      body: '<?xml version="1.0"?><response><error><![CDATA[The specified profile could not be found.]]></error></response>',
    }))
    expect(await steamHere().readProfile(PARTNER.steamId)).toEqual({ kind: 'unknown_account' })
    routes.set(profilePath, () => ({ status: 429, body: '<html>' }))
    expect(await steamHere().readProfile(PARTNER.steamId)).toMatchObject({ reason: 'rate_limited' })
  })
})
