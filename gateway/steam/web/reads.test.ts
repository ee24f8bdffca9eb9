/** The reads of the port, with a scripted Steam. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  api,
  ok,
  PARTNER,
  type ScriptedSteam,
  type SteamReply,
  scriptedSteam,
  TOKEN,
} from '../../testing/steam-server.ts'
import type { SteamSession } from '../steam.ts'
import { createSandboxAgent } from './agent.ts'
import { createWebSteam } from './web-steam.ts'

let steam: ScriptedSteam

beforeEach(async () => {
  steam = await scriptedSteam()
})
afterEach(() => steam.close())

describe('reads', () => {
  it('are unavailable after their deadline', async () => {
    const methods = [
      'GetTradeOffer',
      'GetTradeOffers',
      'GetTradeStatus',
      'GetTradeHistory',
      'GetTradeHoldDurations',
    ]
    for (const method of methods) steam.routes.set(api(method), () => 'hang')
    const session = await steam.open({ other: 150 })
    const late = { kind: 'unavailable', reason: 'timeout' }
    expect(await session.readOffer('1')).toMatchObject(late)
    expect(await session.listOffers(new Date(), null)).toMatchObject(late)
    expect(await session.readSteamTrade('1')).toMatchObject(late)
    expect(await session.listSteamTrades(null)).toMatchObject(late)
    expect(await session.checkPartner(PARTNER)).toMatchObject(late)
  })

  it('of the sent offers return a page, and the start of the next page', async () => {
    const offer = { accountid_other: 4001, message: 'A', trade_offer_state: 2 }
    steam.routes.set(api('GetTradeOffers'), ({ query }) =>
      query.get('cursor') === '0'
        ? ok({ trade_offers_sent: [{ ...offer, tradeofferid: '1' }], next_cursor: 7 })
        : ok({ trade_offers_sent: [{ ...offer, tradeofferid: '2' }] }),
    )
    const session = await steam.open()
    const since = new Date()
    expect(await session.listOffers(since, null)).toMatchObject({ sent: [{ offerId: '1' }], next: '7' })
    expect(await session.listOffers(since, '7')).toMatchObject({ sent: [{ offerId: '2' }], next: null })
    // A page that gives itself as the next one.
    steam.routes.set(api('GetTradeOffers'), () => ok({ next_cursor: 7 }))
    expect(await session.listOffers(since, '7')).toMatchObject({ kind: 'unavailable' })
    // An answer without content is not an empty list.
    steam.routes.set(api('GetTradeOffers'), () => ok({}))
    expect(await session.listOffers(since, null)).toEqual({ kind: 'nothing' })
  })

  it('of the sent offers return the readable part of a broken row', async () => {
    const row = { tradeofferid: '1', accountid_other: 4001, message: 'A', trade_offer_state: 77 }
    const sent = [row, { ...row, accountid_other: {}, message: 5 }, 'nothing']
    steam.routes.set(api('GetTradeOffers'), () => ok({ trade_offers_sent: sent }))
    const session = await steam.open()
    expect(await session.listOffers(new Date(), null)).toMatchObject({
      sent: [],
      unreadable: [
        { offerId: '1', partnerSteamId: PARTNER.steamId, message: 'A' },
        { offerId: '1', partnerSteamId: null, message: null },
        { offerId: null, partnerSteamId: null, message: null },
      ],
    })
  })

  it('of the history return a page, and the start of the next page', async () => {
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
    steam.routes.set(api('GetTradeHistory'), ({ query }) => {
      const start = `${query.get('start_after_time')} ${query.get('start_after_tradeid')}`
      return ok({ trades: pages.get(start) ?? [], more: start !== '600 6' })
    })
    const session = await steam.open()
    const place = (tradeId: string, atS: number) => ({ tradeId, begunAt: new Date(atS * 1000) })
    expect(await session.listSteamTrades(null)).toMatchObject({
      trades: [{ tradeId: '9' }, { tradeId: '8' }],
      next: place('8', 800),
    })
    expect(await session.listSteamTrades(place('8', 800))).toMatchObject({ next: place('6', 600) })
    expect(await session.listSteamTrades(place('6', 600))).toMatchObject({
      trades: [{ tradeId: '5' }],
      next: null,
    })
    // An empty page that announces another one.
    expect(await session.listSteamTrades(place('5', 500))).toMatchObject({ kind: 'unavailable' })
    // An answer without content is not the end of the history.
    steam.routes.set(api('GetTradeHistory'), () => ok({}))
    expect(await session.listSteamTrades(null)).toMatchObject({ kind: 'unavailable' })
  })

  it('of a trade link report a refused token, and are unavailable if Steam’s answer has no hold', async () => {
    const session = await steam.open()
    steam.routes.set(api('GetTradeHoldDurations'), () => ({
      headers: { 'x-eresult': '15' },
      body: { response: {} },
    }))
    expect(await session.checkPartner(PARTNER)).toEqual({ kind: 'refused', reason: 'invalid_token' })
    steam.routes.set(api('GetTradeHoldDurations'), () => ok({}))
    expect(await session.checkPartner(PARTNER)).toMatchObject({ kind: 'unavailable' })
  })

  it('of an inventory stop at a page that adds nothing', async () => {
    const path = 'steamcommunity.com/tradeoffer/new/partnerinventory/'
    const description = { name: 'Key', market_hash_name: 'Key', tradable: 1, tags: [] }
    steam.routes.set(path, () => ({
      body: {
        success: true,
        more: true,
        more_start: 1000,
        rgInventory: { '5': { id: '5', classid: '1', instanceid: '0' }, '6': { id: '6', classid: '1' } },
        rgDescriptions: { '1_0': description },
      },
    }))
    const session = await steam.open()
    const answer = await session.readInventory(PARTNER, 'tf', 'ru')
    expect(answer).toMatchObject({ kind: 'items', items: [{ assetId: '6' }, { assetId: '5' }] })
    expect(steam.times('/partnerinventory/')).toBe(2)
  })
})

describe('an inventory', () => {
  const OFFERED_PATH = 'steamcommunity.com/tradeoffer/new/partnerinventory/'
  const PUBLIC_PATH = `steamcommunity.com/inventory/${PARTNER.steamId}/440/2`
  const description = (tradable: 0 | 1) => ({ name: 'Key', market_hash_name: 'Key', tradable, tags: [] })
  const offered = (): SteamReply => ({
    body: {
      success: true,
      rgInventory: { '5': { id: '5', classid: '1', instanceid: '0' } },
      rgDescriptions: { '1_0': description(1) },
    },
  })
  const shown = (): SteamReply => ({
    body: {
      success: 1,
      assets: [
        { assetid: '5', classid: '1', instanceid: '0' },
        { assetid: '4', classid: '2', instanceid: '0' },
      ],
      descriptions: [
        { classid: '1', instanceid: '0', ...description(1) },
        { classid: '2', instanceid: '0', ...description(0) },
      ],
    },
  })
  const read = (session: SteamSession) => session.readInventory(PARTNER, 'tf', 'en')
  const summaryOf = (answer: Awaited<ReturnType<typeof read>>) =>
    answer.kind === 'items' ? answer.items.map(({ assetId, tradable }) => [assetId, tradable]) : answer
  const allItems = [
    ['5', true],
    ['4', false],
  ]

  it('is read through the session first, with untradable items from the public page', async () => {
    steam.routes.set(OFFERED_PATH, offered)
    steam.routes.set(PUBLIC_PATH, shown)
    const session = await steam.open()
    steam.log = []
    expect(summaryOf(await read(session))).toEqual(allItems)
    expect(steam.log).toEqual([`GET ${OFFERED_PATH}`, `GET ${PUBLIC_PATH}`])
  })

  it('comes from the public page alone if the session’s page fails', async () => {
    steam.routes.set(OFFERED_PATH, () => ({ status: 500, body: null }))
    steam.routes.set(PUBLIC_PATH, shown)
    expect(summaryOf(await read(await steam.open()))).toEqual(allItems)
    steam.routes.set(OFFERED_PATH, () => 'hang')
    expect(summaryOf(await read(await steam.open({ inventory: 6_000 })))).toEqual(allItems)
  })

  it('has no untradable items if the public page fails, and causes only one request if it is private', async () => {
    steam.routes.set(OFFERED_PATH, offered)
    steam.routes.set(PUBLIC_PATH, () => ({ status: 500, body: null }))
    expect(summaryOf(await read(await steam.open()))).toEqual([['5', true]])
    steam.routes.set(OFFERED_PATH, () => ({ body: { success: false, error: 'This profile is private.' } }))
    const session = await steam.open()
    steam.log = []
    expect(await read(session)).toEqual({ kind: 'refused', reason: 'hidden' })
    expect(steam.log).toEqual([`GET ${OFFERED_PATH}`])
  })

  it('of an account without the game or its items has no items, and a hidden inventory is reported as hidden', async () => {
    steam.routes.set(OFFERED_PATH, () => ({ body: { success: true, rgInventory: [], rgDescriptions: [] } }))
    steam.routes.set(PUBLIC_PATH, () => ({ body: { success: 1, total_inventory_count: 0 } }))
    const session = await steam.open()
    expect(await read(session)).toEqual({ kind: 'refused', reason: 'no_items' })
    const error = 'EYldRefreshAppIfNecessary failed with EResult 55 (55)'
    steam.routes.set(PUBLIC_PATH, () => ({ status: 500, body: { error } }))
    expect(await read(session)).toEqual({ kind: 'refused', reason: 'no_items' })
    steam.routes.set(PUBLIC_PATH, () => ({ status: 403, body: null }))
    expect(await read(session)).toEqual({ kind: 'refused', reason: 'hidden' })
  })

  it('is read in smaller and smaller pages until Steam accepts them; the next read begins with that size', async () => {
    const counts: (string | null)[] = []
    steam.routes.set(OFFERED_PATH, () => ({ status: 500, body: null }))
    steam.routes.set(PUBLIC_PATH, ({ query }) => {
      counts.push(query.get('count'))
      return Number(query.get('count')) > 300 ? { status: 400, body: null } : shown()
    })
    const session = await steam.open()
    expect(summaryOf(await read(session))).toEqual(allItems)
    await read(session)
    expect(counts).toEqual(['1000', '500', '250', '250'])
  })

  it('is read in full pages again ten minutes after Steam refused the size', async () => {
    let nowMs = 0
    const time = { now: () => nowMs, pause: async () => {} }
    const port = createWebSteam({ redirect: createSandboxAgent('sandbox', steam.url), time })
    const opened = await port.openSession(TOKEN)
    if (opened.kind !== 'open') throw new Error(JSON.stringify(opened))
    const counts: (string | null)[] = []
    let most = 300
    steam.routes.set(OFFERED_PATH, () => ({ status: 500, body: null }))
    steam.routes.set(PUBLIC_PATH, ({ query }) => {
      counts.push(query.get('count'))
      return Number(query.get('count')) > most ? { status: 400, body: null } : shown()
    })
    await read(opened.session)
    most = 1_000
    nowMs = 599_000
    await read(opened.session)
    expect(counts).toEqual(['1000', '500', '250', '250'])
    nowMs = 600_000
    expect(summaryOf(await read(opened.session))).toEqual(allItems)
    expect(counts.slice(4)).toEqual(['1000'])
    opened.session.close()
  })

  it('is complete or unavailable, however many items it has', async () => {
    const HALF = 10_000
    let isEndless = false
    steam.routes.set(OFFERED_PATH, ({ query }) => {
      const start = Number(query.get('start') ?? 0)
      const rows = Array.from({ length: HALF }, (_, index) => ({ id: `${start + index + 1}`, classid: '1' }))
      const rest = start === 0 || isEndless ? { more: true, more_start: start + HALF } : { more: false }
      const rgInventory = Object.fromEntries(rows.map((row) => [row.id, row]))
      return { body: { success: true, ...rest, rgInventory, rgDescriptions: { '1_0': description(1) } } }
    })
    steam.routes.set(PUBLIC_PATH, () => ({ status: 500, body: null }))
    const session = await steam.open()
    expect(await read(session)).toMatchObject({ kind: 'items', items: { length: 2 * HALF } })
    isEndless = true
    expect(await read(session)).toMatchObject({ kind: 'unavailable', reason: 'too_large' })
    expect(steam.times('/440/2')).toBe(1)
  })

  it('is complete or unavailable, however short its pages are', async () => {
    const ofTotal = (total: number) => (query: URLSearchParams) => {
      const count = Number(query.get('count'))
      if (count > 75) return { status: 400, body: null }
      const start = Number(query.get('start_assetid') ?? 0)
      const ids = Array.from({ length: Math.min(count, total - start) }, (_, index) =>
        String(start + index + 1),
      )
      const assets = ids.map((assetid) => ({ assetid, classid: '1', instanceid: '0' }))
      const descriptions = [{ classid: '1', instanceid: '0', ...description(1) }]
      const more = start + count < total ? { more_items: 1, last_assetid: String(start + count) } : {}
      return { body: { success: 1, assets, descriptions, ...more } }
    }
    steam.routes.set(OFFERED_PATH, () => ({ status: 500, body: null }))
    const session = await steam.open()
    // At most 20 pages are read, and the smallest have 75 items.
    steam.routes.set(PUBLIC_PATH, ({ query }) => ofTotal(1_500)(query))
    const whole = await read(session)
    expect(whole.kind === 'items' && whole.items).toHaveLength(1_500)
    // A new port with its own budget: the first one's is almost spent.
    const otherSession = await steam.open()
    steam.routes.set(PUBLIC_PATH, ({ query }) => ofTotal(1_501)(query))
    expect(await read(otherSession)).toMatchObject({ kind: 'unavailable' })
  })

  it('is not read again for a while after a refusal for too many requests', async () => {
    steam.routes.set(OFFERED_PATH, () => ({ status: 429, body: null }))
    steam.routes.set(PUBLIC_PATH, () => ({ status: 429, body: null }))
    const session = await steam.open()
    steam.log = []
    expect(await read(session)).toMatchObject({ kind: 'unavailable', reason: 'rate_limited' })
    expect(await read(session)).toMatchObject({ kind: 'unavailable', reason: 'not_our_turn' })
    expect(steam.log).toEqual([`GET ${OFFERED_PATH}`, `GET ${PUBLIC_PATH}`])
  })
})

describe('a profile', () => {
  const profilePath = `steamcommunity.com/profiles/${PARTNER.steamId}/`
  const xml = (name: string, avatar: string) => ({
    body: `<?xml version="1.0"?><profile><steamID64>${PARTNER.steamId}</steamID64><steamID><![CDATA[${name}]]></steamID><avatarFull><![CDATA[${avatar}]]></avatarFull></profile>`,
  })
  const hash = '0123456789abcdef0123456789abcdef01234567'

  it('has a picture from the configured image address, and a name in plain text', async () => {
    steam.routes.set(profilePath, () =>
      xml('nova\u202e<b>', `https://avatars.steamstatic.com/${hash}_full.jpg`),
    )
    const here = steam.url
    expect(await steam.createPort().readProfile(PARTNER.steamId)).toEqual({
      kind: 'profile',
      profile: {
        steamId: PARTNER.steamId,
        name: 'nova<b>',
        avatarUrl: `${here}/${hash}_full.jpg`,
        profileUrl: `${here}/profiles/${PARTNER.steamId}`,
        level: 0,
        memberSince: null,
      },
    })
  })

  it.each([
    ['<memberSince><![CDATA[March 9, 2011]]></memberSince>', '2011-03-09'],
    ['<memberSince>December 31, 2003</memberSince>', '2003-12-31'],
    ['', null],
    ['<memberSince>February 30, 2011</memberSince>', null],
    ['<memberSince>9 марта 2011</memberSince>', null],
    ['<memberSince>Marchember 9, 2011</memberSince>', null],
  ])('has a day of joining only if the page names a real one in English: %s, %s', async (field, day) => {
    const { body } = xml('nova', '')
    steam.routes.set(profilePath, () => ({ body: body.replace('</profile>', `${field}</profile>`) }))
    const answer = await steam.createPort().readProfile(PARTNER.steamId)
    expect(answer.kind === 'profile' && answer.profile.memberSince).toBe(day)
  })

  const DEFAULT_PICTURE = /\/fef49e7fa7e[0-9a-f]+_full\.jpg$/
  it.each([
    `https://evil.example/${hash}_full.jpg`,
    `https://steamstatic.com.evil.example/${hash}_full.jpg`,
    `http://avatars.steamstatic.com/${hash}_full.jpg`,
    'javascript:alert(1)',
  ])('does not take a picture from %s', async (avatar) => {
    steam.routes.set(profilePath, () => xml('nova', avatar))
    const answer = await steam.createPort().readProfile(PARTNER.steamId)
    expect(answer.kind === 'profile' && answer.profile.avatarUrl).toMatch(DEFAULT_PICTURE)
  })

  it.each([
    ['endless blanks', ' '.repeat(1_000_000)],
    ['endless opening tags', '<steamID64>'.repeat(100_000)],
    ['an endless CDATA section', `<![CDATA[${']'.repeat(1_000_000)}`],
    ['other markup', '<b>nova</b>'],
  ])('is unavailable if its page has %s in its fields', async (_what, text) => {
    for (const tag of ['steamID64', 'steamID']) {
      const id = tag === 'steamID' ? `<steamID64>${PARTNER.steamId}</steamID64>` : ''
      steam.routes.set(profilePath, () => ({ body: `<profile>${id}<${tag}>${text}` }))
      expect(await steam.createPort().readProfile(PARTNER.steamId)).toMatchObject({ kind: 'unavailable' })
    }
  })

  it('is read from fields with blanks around them, in CDATA or not', async () => {
    const id = `<steamID64>\n\t${PARTNER.steamId} </steamID64>`
    steam.routes.set(profilePath, () => ({
      body: `<profile>${id}<steamID>\n<![CDATA[ a <b> ]]>\n</steamID>`,
    }))
    expect(await steam.createPort().readProfile(PARTNER.steamId)).toMatchObject({
      profile: { name: 'a <b>' },
    })
    steam.routes.set(profilePath, () => ({ body: `<profile>${id}<steamID> nova\t</steamID>` }))
    expect(await steam.createPort().readProfile(PARTNER.steamId)).toMatchObject({ profile: { name: 'nova' } })
  })

  it('that Steam cannot load at the moment comes from the miniprofile or is unavailable, but is not unknown', async () => {
    const error = 'Failed loading profile data, please try again later.'
    const body = `<?xml version="1.0"?><response><error><![CDATA[${error}]]></error></response>`
    steam.routes.set(profilePath, () => ({ body }))
    expect(await steam.createPort().readProfile(PARTNER.steamId)).toMatchObject({ kind: 'unavailable' })
    steam.routes.set('steamcommunity.com/miniprofile/4001/json', () => ({
      body: { level: 12, persona_name: 'nova', avatar_url: '' },
    }))
    expect(await steam.createPort().readProfile(PARTNER.steamId)).toMatchObject({
      profile: { name: 'nova', level: 12 },
    })
  })

  it('is unknown if Steam lacks the account, and unavailable if Steam limits the request', async () => {
    steam.routes.set(profilePath, () => ({
      body: '<?xml version="1.0"?><response><error><![CDATA[The specified profile could not be found.]]></error></response>',
    }))
    expect(await steam.createPort().readProfile(PARTNER.steamId)).toEqual({ kind: 'unknown_account' })
    steam.routes.set(profilePath, () => ({ status: 429, body: '<html>' }))
    expect(await steam.createPort().readProfile(PARTNER.steamId)).toMatchObject({ reason: 'rate_limited' })
  })
})
