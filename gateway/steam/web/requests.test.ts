/** Compares the port's requests with those that the client libraries send for the same purpose. */
import { createRequire } from 'node:module'
import Request from 'request'
import { EAuthTokenPlatformType, LoginSession } from 'steam-session'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  ASSETS,
  api,
  BOT,
  ok,
  PARTNER,
  type ScriptedSteam,
  SEND,
  type SteamRequest,
  scriptedSteam,
  TOKEN,
} from '../../testing/steam-server.ts'
import type { SteamSession } from '../steam.ts'
import { createSandboxAgent } from './agent.ts'

type Done = (error: Error | null, ...results: unknown[]) => void
type LibraryOffer = {
  addTheirItem(item: object): void
  setMessage(text: string): void
  send(done: Done): void
  cancel(done: Done): void
  decline(done: Done): void
  getExchangeDetails(failedToo: boolean, done: Done): void
  loadPartnerInventory(appId: number, contextId: string, done: Done): void
}
type LibraryManager = {
  setCookies(cookies: string[], done: Done): void
  createOffer(partner: string, token: string): LibraryOffer
  getOffer(id: string, done: (error: Error | null, offer: LibraryOffer) => void): void
  getOffers(filter: number, cutoff: Date, done: Done): void
  _apiCall(method: 'GET', name: string, version: number, input: object, done: Done): void
  shutdown(): void
}
type LibraryCommunity = {
  acknowledgeTradeProtection(done: Done): void
  getUserInventoryContents(
    user: string,
    appId: number,
    contextId: string,
    tradable: boolean,
    language: string,
    done: Done,
  ): void
  getSteamUser(user: object, done: Done): void
}

// Our types declare only the methods that the gateway may call. This test also calls other methods.
const load = createRequire(import.meta.url)
const Manager: new (options: object) => LibraryManager = load('steam-tradeoffer-manager')
const Community: new (options: object) => LibraryCommunity = load('steamcommunity')
const SteamId: new (steamId: string) => object = load('steamid')

const ACTIVE_ONLY = 1
const CUTOFF = new Date('2026-01-01T12:00:00Z')
const nextOf = <T>(page: { next: T } | { kind: string }) => ('next' in page ? page.next : null)
const offer = {
  tradeofferid: '55',
  accountid_other: 4001,
  message: 'K7M2QX',
  trade_offer_state: 2,
  is_our_offer: true,
  items_to_receive: [
    { appid: 730, contextid: '2', assetid: '1', classid: '1', instanceid: '0', amount: '1' },
  ],
  time_created: 1_767_225_600,
  time_updated: 1_767_225_600,
}
const DESCRIPTION = { name: 'Key', market_hash_name: 'Key', tradable: 1, tags: [] }
const trade = { tradeid: '900', steamid_other: PARTNER.steamId, status: 3, time_init: 1_767_225_600 }

let steam: ScriptedSteam
let ours: SteamSession
let theirs: { manager: LibraryManager; community: LibraryCommunity }
let shownOffer: object

beforeEach(async () => {
  steam = await scriptedSteam()
  shownOffer = offer
  steam.routes.set(api('GetTradeOffer'), () => ok({ offer: shownOffer }))
  steam.routes.set(api('GetTradeOffers'), () => ok({ trade_offers_sent: [offer], next_cursor: 0 }))
  steam.routes.set(api('GetTradeStatus'), () => ok({ trades: [trade] }))
  steam.routes.set(SEND, () => ({ body: { tradeofferid: '55' } }))
  for (const end of ['cancel', 'decline']) {
    steam.routes.set(`steamcommunity.com/tradeoffer/55/${end}`, () => ({ body: { tradeofferid: '55' } }))
  }
  ours = await steam.open()
  theirs = await openLibrary()
})
afterEach(async () => {
  theirs.manager.shutdown()
  await steam.close()
})

/** Returns the libraries, set up as in their documentation, and redirected to the scripted Steam. */
async function openLibrary() {
  const agent = createSandboxAgent('sandbox', steam.url)
  const session = new LoginSession(EAuthTokenPlatformType.WebBrowser, { agent })
  session.refreshToken = TOKEN
  const cookies = await session.getWebCookies()
  const community = new Community({ request: Request.defaults({ agent }) })
  const manager = new Manager({ community, pollInterval: -1, dataDirectory: null, useAccessToken: true })
  manager.setCookies(
    cookies.filter((cookie) => cookie.includes('Domain=steamcommunity.com')),
    () => {},
  )
  return { manager, community }
}

const wait = (start: (done: Done) => void) => new Promise<void>((resolve) => start(() => resolve()))
const theirOffer = () =>
  new Promise<LibraryOffer>((resolve) => theirs.manager.getOffer('55', (_, found) => resolve(found)))

/** Returns the requests to this path while `work` ran, without the parts that differ between sessions. */
async function requestsTo(path: string, work: () => Promise<unknown>) {
  const countBefore = steam.requests.length
  await work()
  return steam.requests
    .slice(countBefore)
    .filter((request) => request.path === path)
    .map(withoutSession)
}

function withoutSession({ method, host, path, query, form, headers }: SteamRequest) {
  const pairs = (params: URLSearchParams) =>
    [...params].map(([name, value]) => [name, isOfSession(name) ? 'of the session' : value]).sort()
  const cookie = (headers.cookie ?? '')
    .replace(/(sessionid|steamLoginSecure)=[^;]*/g, '$1')
    .split('; ')
    .sort()
  return { method, host, path, query: pairs(query), form: pairs(form), headers: { ...headers, cookie } }
}
const isOfSession = (name: string) => name === 'sessionid' || name === 'access_token'

type Work = () => Promise<unknown>

async function expectSameRequest(path: string, our: Work, their: Work) {
  expect(await requestsOfBoth(path, our, their)).toHaveLength(1)
}

/** Expects the port and the library to make the same requests to this path. Resolves to those requests. */
async function requestsOfBoth(path: string, our: Work, their: Work) {
  const [mine, library] = [await requestsTo(path, our), await requestsTo(path, their)]
  expect(mine).toEqual(library)
  return mine
}

/** The fields of a multipart form that was parsed as if it were urlencoded. */
function partsOf(form: URLSearchParams): string[][] {
  const sent = [...form].map((pair) => pair.join('=')).join('&')
  const parts = sent.matchAll(/name="(\w+)"\r\n\r\n([^\r]*)\r\n/g)
  return [...parts].map(([, name = '', value = '']) => [name, isOfSession(name) ? 'of the session' : value])
}

describe('the port makes the same request as the libraries', () => {
  it('to send an offer', () =>
    expectSameRequest(
      '/tradeoffer/new/send',
      () => ours.sendOffer(PARTNER, ASSETS, 'K7M2QX'),
      () => {
        const sent = theirs.manager.createOffer(PARTNER.steamId, PARTNER.token)
        for (const { appId, contextId, assetId } of ASSETS) {
          sent.addTheirItem({ appid: appId, contextid: contextId, assetid: assetId })
        }
        sent.setMessage('K7M2QX')
        return wait((end) => sent.send(end))
      },
    ))

  it('to read an offer', () =>
    expectSameRequest(
      '/IEconService/GetTradeOffer/v1/',
      () => ours.readOffer('55'),
      () => theirOffer(),
    ))

  it('to list offers', () =>
    expectSameRequest(
      '/IEconService/GetTradeOffers/v1/',
      () => ours.listOffers(CUTOFF, null),
      () => wait((end) => theirs.manager.getOffers(ACTIVE_ONLY, CUTOFF, end)),
    ))

  it('to list further pages of offers', async () => {
    const page = (query: URLSearchParams) => (query.get('cursor') === '0' ? { next_cursor: 7 } : {})
    steam.routes.set(api('GetTradeOffers'), ({ query }) => ok({ trade_offers_sent: [offer], ...page(query) }))
    const requests = await requestsOfBoth(
      '/IEconService/GetTradeOffers/v1/',
      () => ours.listOffers(CUTOFF, null).then((page) => ours.listOffers(CUTOFF, nextOf(page))),
      () => wait((end) => theirs.manager.getOffers(ACTIVE_ONLY, CUTOFF, end)),
    )
    expect(requests.map(({ query }) => query.find(([name]) => name === 'cursor'))).toEqual([
      ['cursor', '0'],
      ['cursor', '7'],
    ])
  })

  it.each(['cancel', 'decline'] as const)('to %s an offer that it has seen', async (how) => {
    shownOffer = { ...offer, is_our_offer: how === 'cancel' }
    await ours.readOffer('55')
    const libraryOffer = await theirOffer()
    await expectSameRequest(
      `/tradeoffer/55/${how}`,
      () => (how === 'cancel' ? ours.cancelOffer('55') : ours.declineOffer('55')),
      () => wait((end) => libraryOffer[how](end)),
    )
  })

  it('to read the state of a Steam trade', async () => {
    shownOffer = { ...offer, trade_offer_state: 3, tradeid: '900' }
    const libraryOffer = await theirOffer()
    await expectSameRequest(
      '/IEconService/GetTradeStatus/v1/',
      () => ours.readSteamTrade('900'),
      () => wait((end) => libraryOffer.getExchangeDetails(true, end)),
    )
  })

  it('to read the tradable items of a partner, with a language added', async () => {
    const path = '/tradeoffer/new/partnerinventory/'
    steam.routes.set(`steamcommunity.com${path}`, () => ({ body: { success: true, rgInventory: [] } }))
    const [mine] = await requestsTo(path, () => ours.readInventory(PARTNER, 'cs', 'en'))
    const [library] = await requestsTo(path, () => {
      const sent = theirs.manager.createOffer(PARTNER.steamId, PARTNER.token)
      return wait((end) => sent.loadPartnerInventory(730, '2', end))
    })
    expect(mine).toEqual({ ...library, query: [...(library?.query ?? []), ['l', 'english']].sort() })
  })

  it('to read more pages of the tradable items of a partner', async () => {
    const path = '/tradeoffer/new/partnerinventory/'
    steam.routes.set(`steamcommunity.com${path}`, ({ query }) => {
      const id = query.get('start') ?? '1'
      const more = id === '1' ? { more: true, more_start: 2_000 } : { more: false }
      const rgInventory = { [id]: { id, classid: '1', instanceid: '0', amount: '1', pos: 1 } }
      return {
        body: { success: true, rgInventory, rgCurrency: {}, rgDescriptions: { '1_0': DESCRIPTION }, ...more },
      }
    })
    const mine = await requestsTo(path, () => ours.readInventory(PARTNER, 'cs', 'ru'))
    const library = await requestsTo(path, () => {
      const sent = theirs.manager.createOffer(PARTNER.steamId, PARTNER.token)
      return wait((end) => sent.loadPartnerInventory(730, '2', end))
    })
    const starts = mine.map(({ query }) => query.find(([name]) => name === 'start')?.[1])
    expect(starts).toEqual([undefined, '2000'])
    expect(mine).toEqual(
      library.map((request) => ({ ...request, query: [...request.query, ['l', 'russian']].sort() })),
    )
  })

  it.each([
    ['en', 'english'],
    ['ru', 'russian'],
  ] as const)('to read the public inventory in %s, page after page', async (language, l) => {
    const path = `/inventory/${PARTNER.steamId}/730/2`
    steam.routes.set(`steamcommunity.com${path}`, ({ query }) => {
      const start = query.get('start_assetid')
      const more = start === null ? { more_items: 1, last_assetid: '9' } : {}
      const assets = [{ assetid: start === null ? '9' : '8', classid: '1', instanceid: '0', amount: '1' }]
      const descriptions = [{ classid: '1', instanceid: '0', ...DESCRIPTION }]
      return { body: { success: 1, total_inventory_count: 2, assets, descriptions, ...more } }
    })
    const requests = await requestsOfBoth(
      path,
      () => ours.readInventory(PARTNER, 'cs', language),
      () =>
        wait((end) => theirs.community.getUserInventoryContents(PARTNER.steamId, 730, '2', false, l, end)),
    )
    expect(requests.map(({ query }) => query)).toEqual([
      [
        ['count', '1000'],
        ['l', l],
      ],
      [
        ['count', '1000'],
        ['l', l],
        ['start_assetid', '9'],
      ],
    ])
  })

  it('to read a profile without a session', () => {
    const nobody = new Community({
      request: Request.defaults({ agent: createSandboxAgent('sandbox', steam.url) }),
    })
    return expectSameRequest(
      `/profiles/${PARTNER.steamId}/`,
      () => steam.createPort().readProfile(PARTNER.steamId),
      () => wait((end) => nobody.getSteamUser(new SteamId(PARTNER.steamId), end)),
    )
  })

  it('to acknowledge trade protection, at a path that begins with two slashes', () =>
    expectSameRequest(
      '//trade/new/acknowledge',
      () => ours.acknowledgeProtection(),
      () => wait((end) => theirs.community.acknowledgeTradeProtection(end)),
    ))

  it('to log in', async () => {
    const login = async (work: () => Promise<unknown>) => {
      const countBefore = steam.requests.length
      await work()
      return steam.requests
        .slice(countBefore)
        .filter(({ path }) => path.includes('/jwt/') || path.includes('/login/settoken'))
        .map(({ method, host, path, query, form, headers }) => {
          const { 'content-length': _, 'content-type': type, ...rest } = headers
          const content = { query: [...query], form: partsOf(form) }
          return { method, host, path, ...content, headers: { ...rest, type: type?.split(';')[0] } }
        })
        .sort((a, b) => a.host.localeCompare(b.host))
    }
    const mine = await login(() => steam.open())
    const transfer = [
      ['steamID', BOT],
      ['nonce', 'n'],
      ['auth', 'a'],
    ]
    expect(mine.map(({ host, form }) => [host, form])).toEqual([
      [
        'login.steampowered.com',
        [
          ['nonce', TOKEN],
          ['sessionid', 'of the session'],
          ['redir', 'https://steamcommunity.com/login/home/?goto='],
        ],
      ],
      ['steamcommunity.com', transfer],
      ['store.steampowered.com', transfer],
    ])
    expect(mine).toEqual(await login(openLibrary))
  })
})

describe('a request without a counterpart in the libraries', () => {
  it.each([
    [
      'GetTradeHoldDurations',
      () => ours.checkPartner(PARTNER),
      [
        ['access_token', 'of the session'],
        ['steamid_target', PARTNER.steamId],
        ['trade_offer_access_token', PARTNER.token],
      ],
    ],
    [
      'GetTradeHistory',
      () => ours.listSteamTrades(null),
      [
        ['access_token', 'of the session'],
        ['get_descriptions', '0'],
        ['include_failed', '1'],
        ['include_total', '0'],
        ['max_trades', '100'],
        ['navigating_back', '0'],
        ['start_after_time', '0'],
        ['start_after_tradeid', '0'],
      ],
    ],
  ])('to %s differs from their GetTradeOffer only in its path and query', async (method, ask, query) => {
    const [mine] = await requestsTo(`/IEconService/${method}/v1/`, ask)
    const [library] = await requestsTo('/IEconService/GetTradeOffer/v1/', theirOffer)
    expect(mine).toEqual({ ...library, path: `/IEconService/${method}/v1/`, query })
  })

  it('for a further page of GetTradeHistory asks for Steam trades older than the trades read before', async () => {
    const path = '/IEconService/GetTradeHistory/v1/'
    steam.routes.set(api('GetTradeHistory'), ({ query }) =>
      ok({ more: query.get('start_after_tradeid') === '0', trades: [{ ...trade, tradeid: '901' }, trade] }),
    )
    const readTwoPages = () => ours.listSteamTrades(null).then((page) => ours.listSteamTrades(nextOf(page)))
    const mine = await requestsTo(path, readTwoPages)
    const starts = mine.map(({ query }) => query.filter(([name]) => name?.startsWith('start_after')).flat())
    const afterOldest = ['start_after_time', String(trade.time_init), 'start_after_tradeid', '900']
    expect(starts).toEqual([['start_after_time', '0', 'start_after_tradeid', '0'], afterOldest])
    const library = await requestsTo(path, async () => {
      for (const { query } of mine) {
        const { access_token: _, ...input } = Object.fromEntries(query)
        await wait((end) => theirs.manager._apiCall('GET', 'GetTradeHistory', 1, input, end))
      }
    })
    expect(mine).toEqual(library)
  })

  it('for the miniprofile equals the request for the profile, but asks for JSON', async () => {
    const read = () => steam.createPort().readProfile(PARTNER.steamId)
    const [page] = await requestsTo(`/profiles/${PARTNER.steamId}/`, read)
    const [mini] = await requestsTo('/miniprofile/4001/json', read)
    const headers = { ...page?.headers, accept: 'application/json' }
    expect(mini).toEqual({ ...page, path: '/miniprofile/4001/json', query: [], headers })
  })
})

it('a session belongs to the account of its token', () => expect(ours.steamId).toBe(BOT))
