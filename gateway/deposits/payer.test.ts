import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StoreDeposit } from '../../contract/store-api.ts'
import { depositEventSchema, type WebhookEvent } from '../../contract/webhooks.ts'
import { publishEvents } from '../events/service.ts'
import { ProblemError } from '../http/refusal.ts'
import { payFor } from '../testing/payment.ts'
import { type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aBot, aDeposit, jump, startTill, type Till } from '../testing/till.ts'
import { resolveUser } from './service.ts'
import { viewReader } from './shopper-view.ts'

type Item = NonNullable<StoreDeposit['trade']>['items'][number]

const STEAM_ID = '76561198000000001'
const linkOf = (account: number): string =>
  `https://steamcommunity.com/tradeoffer/new/?partner=${account}&token=Ab_cd-12`
/** The link of the account STEAM_ID. */
const LINK = linkOf(39_734_273)
const OTHER_LINK = linkOf(39_734_274)
const hashOf = (url: string): string => url.slice(-32)
const BODY = { externalId: 'order-1', currency: 'USD', backToStoreUrl: 'https://store.test/' } as const

let till: Till
let api: StoreApi
let profilesRead: string[]

beforeEach(async () => {
  till = await startTill()
  api = await startStoreApi(till)
  profilesRead = []
})
afterEach(async () => {
  await api.app.close()
  await till.close()
})

const post = (change: object) => api.call('POST', '/v1/deposits', { body: { ...BODY, ...change } })

/** Makes the page's call, with a Steam that records the requested profiles. */
async function resolve(url: string, tradeUrl: string) {
  const { steam } = till.deps
  const readProfile = (steamId: string) => {
    profilesRead.push(steamId)
    return steam.readProfile(steamId)
  }
  try {
    return await resolveUser(
      { ...till.deps, steam: { ...steam, readProfile } },
      { hash: hashOf(url), tradeUrl },
    )
  } catch (error) {
    if (error instanceof ProblemError) return error.code
    throw error
  }
}

const deny = (steamId: string) =>
  till.db
    .insertInto('denied_shopper')
    .values({ steam_id: steamId, reason: 'stolen items', denied_at: till.clock.now() })
    .execute()

describe('D-31 a deposit whose store names a payer or a customer label', () => {
  test('has the payer in the answers to its creation, to a read and to a repeated creation', async () => {
    const shopper = { steamId: STEAM_ID, lock: true }
    const created = (await post({ shopper, customerLabel: 'Nova <b>7</b>' })).json()
    expect(created).toMatchObject({ shopper, customerLabel: 'Nova <b>7</b>', trade: null })
    expect((await api.call('GET', `/v1/deposits/${created.id}`)).json()).toEqual(created)
    expect((await post({ shopper, customerLabel: 'Nova <b>7</b>' })).json()).toEqual(created)
    expect((await post({ externalId: 'order-2', shopper: { steamId: STEAM_ID } })).json()).toMatchObject({
      shopper: { steamId: STEAM_ID, lock: false },
      customerLabel: null,
    })
    expect((await post({ externalId: 'order-3' })).json()).toMatchObject({ shopper: null })
  })

  test('accepts only the payer’s link if `lock` is set, and Steam is asked about no other account', async () => {
    const { url } = (await post({ shopper: { steamId: STEAM_ID, lock: true } })).json()
    expect(await resolve(url, OTHER_LINK)).toBe('other_shopper')
    expect(profilesRead).toEqual([])
    expect(await resolve(url, LINK)).toMatchObject({ name: 'nova_hound' })
  })

  test('accepts any link if `lock` is not set', async () => {
    const { url } = (await post({ shopper: { steamId: STEAM_ID } })).json()
    expect(await resolve(url, OTHER_LINK)).toMatchObject({ name: 'nova_hound' })
  })

  test.each([
    ['shopper.steamId', { shopper: { steamId: '12345', lock: true } }],
    // Account 0, and one above the highest account.
    ['shopper.steamId', { shopper: { steamId: '76561197960265728' } }],
    ['shopper.steamId', { shopper: { steamId: '76561202255233024' } }],
    ['shopper.steamId', { shopper: { lock: true } }],
    ['shopper.lock', { shopper: { steamId: STEAM_ID, lock: 'yes' } }],
    ['shopper.name', { shopper: { steamId: STEAM_ID, name: 'nova' } }],
    ['tradeUrl', { shopper: { steamId: STEAM_ID }, tradeUrl: OTHER_LINK }],
    ['customerLabel', { customerLabel: '' }],
    ['customerLabel', { customerLabel: '   ' }],
    ['customerLabel', { customerLabel: 'x'.repeat(65) }],
    ['customerLabel', { customerLabel: 'a\u202eb' }],
    ['customerLabel', { customerLabel: 'a\u2066b' }],
    ['customerLabel', { customerLabel: 'a\nb' }],
    ['customerLabel', { customerLabel: '\ud83d' }],
  ])('is refused if the field %s is wrong: %j', async (path, change) => {
    const answer = await post(change)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'invalid_request', errors: [{ path }] })
  })

  test('may have the highest account id as its payer', async () => {
    expect((await post({ shopper: { steamId: '76561202255233023' } })).statusCode).toBe(201)
  })

  test('gives its page the customer label, but not the payer', async () => {
    const { url } = (await post({ shopper: { steamId: STEAM_ID, lock: true }, customerLabel: 'Nova' })).json()
    const views = await viewReader(till.db, 'https://steamcommunity.com')([hashOf(url)])
    const view = views.get(hashOf(url))
    expect(view?.payment.customerLabel).toBe('Nova')
    expect(view?.body).not.toContain(STEAM_ID)
  })

  // A zero-width space; a zero-width joiner, a soft hyphen and a byte order mark; the fillers of Hangul; an empty
  // Braille cell; a variation selector and a language tag.
  test.each(['\u200b', ' \u200d\u00ad\ufeff ', '\u3164\u115f\uffa0', '\u2800', '\ufe0f\u{e0001}'])(
    'is created with an invisible customer label (%j), which the page leaves out',
    async (customerLabel) => {
      const created = (await post({ customerLabel })).json()
      expect(created.customerLabel).toBe(customerLabel)
      const views = await viewReader(till.db, 'https://steamcommunity.com')([hashOf(created.url)])
      expect(views.get(hashOf(created.url))?.payment.customerLabel).toBeNull()
    },
  )
})

test('D-26 the page learns that the store’s trade link is being looked up, and when the look-up ends', async () => {
  const { url } = (await post({ tradeUrl: LINK })).json()
  const hash = hashOf(url)
  const payment = async () =>
    (await viewReader(till.db, 'https://steamcommunity.com')([hash])).get(hash)?.payment
  expect(await payment()).toMatchObject({ user: null, userPending: true })
  await resolve(url, LINK)
  expect(await payment()).toMatchObject({ user: { name: 'nova_hound' }, userPending: false })
})

test('D-26 the page no longer waits for a trade link of the store that could not be looked up for five minutes', async () => {
  const { url } = (await post({ tradeUrl: LINK })).json()
  const hash = hashOf(url)
  const view = async () => (await viewReader(till.db, 'https://steamcommunity.com')([hash])).get(hash)
  const before = await view()
  await jump(till, 299)
  expect((await view())?.payment.userPending).toBe(true)
  await jump(till, 1)
  const after = await view()
  expect(after?.payment).toMatchObject({ user: null, userPending: false })
  expect(after?.etag).not.toBe(before?.etag)
})

describe('D-31 the account that gave the items', () => {
  test('is in the deposit’s events and in the answer to a read, with each item’s market name', async () => {
    const deposit = await aDeposit(till, api.store)
    await payFor(till, await aBot(till), deposit)
    await publishEvents(till.deps)
    const items = [{ marketHashName: 'Item 0' }, { marketHashName: 'Item 1' }]
    // `aDeposit` gives the shopper this id.
    const trade = { partnerSteamId: `7656119800000${deposit.id}`, items }
    const { events } = (await api.call('GET', '/v1/events')).json()
    expect(events.map(({ type }: WebhookEvent) => type)).toContain('deposit.succeeded')
    for (const event of events) expect(event.data.trade).toMatchObject(trade)
    expect((await api.call('GET', `/v1/deposits/${deposit.id}`)).json().trade).toMatchObject(trade)
  })

  test('is null in an event of an earlier version', async () => {
    const deposit = await aDeposit(till, api.store)
    await payFor(till, await aBot(till), deposit)
    await publishEvents(till.deps)
    const [event] = (await api.call('GET', '/v1/events')).json().events
    const { shopper: _, customerLabel: __, trade, ...data } = event.data
    const { partnerSteamId: ___, items, ...rest } = trade
    const oldItems = items.map(({ assetId, name, price, reversed }: Item) => ({
      assetId,
      name,
      price,
      reversed,
    }))
    const parsed = depositEventSchema.parse({
      ...event,
      data: { ...data, trade: { ...rest, items: oldItems } },
    })
    expect(parsed.data).toMatchObject({ shopper: null, customerLabel: null, trade: { partnerSteamId: null } })
    expect(parsed.data.trade?.items.map(({ marketHashName }) => marketHashName)).toEqual([null, null])
  })
})

describe('D-31 accounts that may not pay', () => {
  test('include the till’s bots, whichever field names them', async () => {
    const { session } = await aBot(till)
    const bot = session.steamId
    const link = linkOf(Number(BigInt(bot) - 76_561_197_960_265_728n))
    for (const [path, change] of [
      ['shopper.steamId', { shopper: { steamId: bot } }],
      ['tradeUrl', { tradeUrl: link }],
    ] as const) {
      const answer = await post(change)
      expect(answer.json()).toMatchObject({ code: 'invalid_request', errors: [{ path }] })
    }
    const { url } = (await post({})).json()
    expect(await resolve(url, link)).toBe('shopper_refused')
    expect(profilesRead).toEqual([])
  })

  test('include denied accounts, which are refused before Steam is asked', async () => {
    const { url } = (await post({})).json()
    await deny(STEAM_ID)
    expect(await resolve(url, LINK)).toBe('shopper_refused')
    expect(profilesRead).toEqual([])
    expect(await resolve(url, OTHER_LINK)).toMatchObject({ name: 'nova_hound' })
  })
})
