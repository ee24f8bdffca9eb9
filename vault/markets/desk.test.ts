/** When a desk makes which calls to its market. */
import { beforeEach, expect, it } from 'vitest'
import { createNeeds, type Needs } from '../needs.ts'
import type { OwnItem } from '../steam/look.ts'
import { APP, createOutside } from '../testing/outside.ts'
import { type Book, bookOf, type Listing } from './book.ts'
import { createDesk, type Desk } from './desk.ts'
import type { Listed, Market } from './market.ts'
import { DEFAULT_RULES } from './price-policy.ts'

const SECOND_MS = 1_000
const ROUND_S = 3
const OTHER_APP = APP + 1
let nowMs: number
let desk: Desk
let refreshes: number[]
let book: Book
let moneyReads: number
/** The `since` with which the desk last asked whether sales were paid. */
let moneySince: Date | undefined
let items: Map<string, OwnItem>
/** The names whose prices the desk read. Each price takes seconds. */
let priced: string[]
let ready: Awaited<ReturnType<Market['ready']>>
let logged: Record<string, string | number>[]
let isPingRefused: boolean
let renewals: number
/** The till's answer; undefined if it gives none. */
let isOffAtTill: boolean | undefined
/** How often the market was asked whether the account may sell. */
let readyCalls: number
/** The listings that the market was asked to take down, in order. */
let takenDown: string[]
let needs: Needs
let listCalls: number
let listReply: Awaited<ReturnType<Market['list']>>

beforeEach(() => {
  const outside = createOutside()
  nowMs = 1_800_000_000_000
  refreshes = []
  book = bookOf([])
  moneyReads = 0
  moneySince = undefined
  items = new Map()
  priced = []
  ready = { kind: 'answered', value: { problems: [], feeBp: null } }
  logged = []
  isPingRefused = false
  renewals = 0
  isOffAtTill = false
  readyCalls = 0
  takenDown = []
  needs = createNeeds(() => new Date(nowMs))
  listCalls = 0
  listReply = { kind: 'answered', value: [] }
  desk = createDesk({
    market: {
      ...outside.market,
      async ready() {
        readyCalls += 1
        return ready
      },
      keepOnline: async () =>
        isPingRefused ? { kind: 'refused', code: 'Invalid access token' } : { kind: 'answered', value: null },
      async refresh(appId) {
        refreshes.push(appId)
        return { kind: 'answered', value: null }
      },
    },
    marketAccount: { market: outside.market.name, account: '76561198000000009', isFirst: true },
    seller: {
      ...outside.seller(),
      async round() {},
      async unlist(_, itemIds) {
        takenDown.push(...itemIds)
      },
      async list() {
        listCalls += 1
        return listReply
      },
      async followMoney(_, since) {
        moneySince = since
        moneyReads += 1
        return false
      },
    },
    journal: { book: () => book, add() {} },
    account: {
      recentItems: async () => items,
      async accessToken({ fresh }) {
        if (fresh) renewals += 1
        return 'token'
      },
    },
    tradeToken: undefined,
    pricing: {
      rules: DEFAULT_RULES,
      mayLose: false,
      needsCost: false,
      mayLeave: () => true,
      async priceOf(_, name) {
        nowMs += 4 * SECOND_MS
        priced.push(name)
        return undefined
      },
      till: { costs: async () => new Map() },
      lowest: { read: async () => new Map(), noteOwn() {} },
    },
    till: {
      async isOff() {
        if (isOffAtTill === undefined) throw new Error('the till is away')
        return isOffAtTill
      },
    },
    reportBalance: async () => {},
    isOff: () => false,
    now: () => new Date(nowMs),
    say: (_, about) => void logged.push(about),
    needs,
  })
})

/** Counts how often the desk looks for items to list within this many seconds. */
function countLooks(seconds: number): number {
  let looks = 0
  for (let second = 0; second < seconds; second += 1) {
    if (desk.isDue(APP)) looks += 1
    nowMs += SECOND_MS
  }
  return looks
}

it('a desk looks for items to list every two minutes', () => {
  expect(countLooks(240)).toBe(2)
})

it('a clock that was set back does not delay the next look for items to list', () => {
  expect(desk.isDue(APP)).toBe(true)
  nowMs -= 3_600 * SECOND_MS
  expect(desk.isDue(APP)).toBe(true)
})

it('after items arrive, a desk makes the market read them, and looks for items to list every 20 seconds for three minutes', async () => {
  expect(countLooks(60)).toBe(1)
  expect(desk.isDue(OTHER_APP)).toBe(true)
  await desk.listSoon(APP)
  expect(refreshes).toEqual([APP])
  expect(desk.isDue(OTHER_APP)).toBe(false)
  expect(countLooks(180)).toBe(9)
  expect(countLooks(240)).toBe(2)
})

const givenListing = (end: Listing['end']): Listing => ({
  market: 'm',
  account: null,
  appId: APP,
  assetId: '1',
  itemId: '101',
  priceMinor: 100n,
  begunAt: new Date(nowMs),
  state: 'given',
  end,
})

/** Counts how often, within this many minutes, the desk asks whether sales were paid. */
async function countMoneyReads(minutes: number): Promise<number> {
  moneyReads = 0
  for (let round = 0; round < (minutes * 60) / ROUND_S; round += 1) {
    await desk.tend()
    nowMs += ROUND_S * SECOND_MS
  }
  return moneyReads
}

it('a desk asks about payments every five minutes, and every 20 seconds for two minutes after an item was given or its money became due', async () => {
  book = { ...bookOf([]), listings: [givenListing(null)] }
  expect(await countMoneyReads(2)).toBe(6)
  expect(await countMoneyReads(10)).toBe(2)
  const settlesAt = new Date(nowMs + 600 * SECOND_MS)
  book = { ...bookOf([]), listings: [givenListing({ kind: 'settling', receivedMinor: 95n, settlesAt })] }
  expect(await countMoneyReads(10)).toBe(2)
  expect(await countMoneyReads(2)).toBe(6)
  expect(await countMoneyReads(10)).toBe(2)
})

it.each([
  [{ kind: 'refused', code: 'account_blocked' }, 'the market refuses: account_blocked'],
  [{ kind: 'unanswered', because: 'HTTP 502' }, 'the market does not answer'],
  [{ kind: 'locked_out' }, 'the market refuses the key'],
] as const)('a desk that cannot sell says why: %j', async (answer, because) => {
  ready = answer
  await desk.tend()
  expect(logged[0]).toMatchObject({ because })
})

/** Lets this many seconds of rounds pass. */
async function pass(seconds: number): Promise<void> {
  for (let round = 0; round < seconds / ROUND_S; round += 1) {
    await desk.tend()
    nowMs += ROUND_S * SECOND_MS
  }
}

const onSale = (count: number): Listing[] =>
  Array.from({ length: count }, (_, index) => ({
    ...givenListing(null),
    assetId: String(index + 1),
    itemId: String(index + 1),
    state: 'on_sale',
  }))

it.each([
  { kind: 'refused', code: 'account_blocked' },
  { kind: 'unanswered', because: 'HTTP 502' },
  { kind: 'locked_out' },
] as const)(
  'a market that refuses or does not answer the question whether an account may sell is asked every 20 seconds: %j',
  async (answer) => {
    ready = answer
    await pass(60)
    expect(readyCalls).toBe(3)
    ready = { kind: 'answered', value: { problems: [], feeBp: null } }
    await pass(60)
    expect([readyCalls, desk.isOpen()]).toEqual([4, true])
  },
)

it.each([
  ['market', 300],
  ['till', 60],
] as const)(
  'while the %s does not answer, nothing is listed, but listings are taken down only after %i seconds',
  async (party, seconds) => {
    book = { ...bookOf([]), listings: onSale(2) }
    await pass(3)
    expect(desk.isOpen()).toBe(true)
    nowMs += 1_800 * SECOND_MS
    if (party === 'market') ready = { kind: 'unanswered', because: 'HTTP 502' }
    else isOffAtTill = undefined
    await pass(seconds)
    expect([desk.isOpen(), takenDown, logged]).toEqual([false, [], []])
    await pass(60)
    expect(logged).toMatchObject([{ because: `the ${party} does not answer` }])
    expect(new Set(takenDown)).toEqual(new Set(['1', '2']))
  },
)

it('listings that cannot be taken down do not keep other listings on sale', async () => {
  book = { ...bookOf([]), listings: onSale(120) }
  isOffAtTill = true
  await pass(3 * ROUND_S)
  expect(takenDown).toEqual(onSale(120).map(({ itemId }) => itemId))
  // The market is asked again to take down each of them every 21 seconds, not in every round.
  await pass(60)
  expect(takenDown.length).toBeLessThan(120 * 5)
  expect(takenDown.length).toBeGreaterThan(120 * 2)
})

it('a desk lists nothing while its pings fail, because nobody could buy the items', async () => {
  await pass(3)
  expect(desk.isOpen()).toBe(true)
  isPingRefused = true
  await pass(200)
  expect(desk.isOpen()).toBe(false)
  isPingRefused = false
  await pass(30)
  expect(desk.isOpen()).toBe(true)
})

it('an item is offered three times to a market that refuses every listing, and then not for an hour', async () => {
  const item = { assetId: '1', marketHashName: 'Item 1', isTradable: true }
  listReply = { kind: 'refused', code: 'no listings today' }
  for (let tries = 0; tries < 5; tries += 1) {
    await pass(30)
    await desk.bidsFor(APP, [item])
    if (priced.length > tries) await desk.list(APP, [{ assetId: '1', priceMinor: 100n }])
  }
  expect(priced).toHaveLength(3)
  nowMs += 3_600 * SECOND_MS
  await desk.bidsFor(APP, [item])
  expect(priced).toHaveLength(4)
})

it.each([{ kind: 'unanswered', because: 'HTTP 502' }, { kind: 'locked_out' }] as const)(
  'after a listing fails, a desk lists nothing until the market says that the account may sell: %j',
  async (reply) => {
    await pass(3)
    listReply = reply
    await desk.list(APP, [{ assetId: '1', priceMinor: 100n }])
    expect(desk.isOpen()).toBe(false)
    await desk.tend()
    expect([readyCalls, desk.isOpen()]).toEqual([2, true])
  },
)

it('a market that is switched off after an item was assigned to it gets no listing', async () => {
  await pass(3)
  const lines = [{ assetId: '1', priceMinor: 100n }]
  await desk.list(APP, lines)
  isOffAtTill = true
  await Promise.all([desk.tend(), desk.list(APP, lines)])
  expect(listCalls).toBe(1)
})

it('a market that refuses every ping causes one login to Steam in 15 minutes', async () => {
  isPingRefused = true
  await pass(14 * 60)
  expect(renewals).toBe(1)
  await pass(2 * 60)
  expect(renewals).toBe(2)
})

it('an item that the market postpones may be listed again, but not an item that it refused three times', async () => {
  const item = { assetId: '1', marketHashName: 'Item 1', isTradable: true }
  const refused: Listed = { kind: 'refused', assetId: '1', code: 'not read yet', retry: true }
  const postponed: Listed = { kind: 'postponed', assetId: '1' }
  await pass(3)
  for (const answer of [refused, refused, postponed, postponed, refused]) {
    await desk.bidsFor(APP, [item])
    listReply = { kind: 'answered', value: [answer] }
    await desk.list(APP, [{ assetId: '1', priceMinor: 100n }])
  }
  expect(priced).toHaveLength(5)
  await desk.bidsFor(APP, [item])
  expect(priced).toHaveLength(5)
})

it.each([
  ['even if it is cancelled', { kind: 'cancelled' }, 2, 1],
  ['but less often if it is paid', { kind: 'paid', receivedMinor: 95n }, 1, 15],
] as const)(
  'for two weeks after an item was given, a desk asks about its sale, %s',
  async (_, end, reads, days) => {
    const at = new Date(nowMs)
    const due = { dealId: 'd', partnerSteamId: '1', token: 't', message: 'x', assets: [] }
    const deal = {
      market: 'm',
      account: null,
      due,
      itemIds: ['101'],
      intendedAt: at,
      offerId: '5',
      sentAt: at,
    }
    const ended = { state: 'delivered', steamTradeId: '9', deliveredAt: at } as const
    const deals = new Map([['m/d', { ...deal, isConfirmed: true, isReported: true, ...ended }]])
    // The listing is a month old, and a history since then can be long, so the desk reads only the last `days` days.
    const begunAt = new Date(nowMs - 30 * 86_400 * SECOND_MS)
    const soldMs = nowMs
    book = { ...bookOf([]), deals, listings: [{ ...givenListing(end), begunAt }] }
    expect(await countMoneyReads(10)).toBe(reads)
    expect(moneySince).toEqual(new Date(soldMs - days * 86_400 * SECOND_MS))
    nowMs += 14 * 86_400 * SECOND_MS
    expect(await countMoneyReads(10)).toBe(0)
  },
)

it('for six weeks, a desk asks how a sale ended; then it reports once that it stopped', async () => {
  const stuck = givenListing(null)
  const recent = { ...stuck, itemId: '102', assetId: '2' }
  book = { ...bookOf([]), listings: [stuck] }
  nowMs += 41 * 86_400 * SECOND_MS
  expect(await countMoneyReads(10)).toBeGreaterThan(0)
  nowMs += 86_400 * SECOND_MS
  logged = []
  expect(await countMoneyReads(10)).toBe(0)
  expect(logged).toEqual([{ market: 'm', listing: '101' }])
  expect(needs.list()).toMatchObject([{ kind: 'sale_untold', about: 'm listing 101' }])
  const begunAt = new Date(nowMs)
  book = { ...bookOf([]), listings: [stuck, { ...recent, begunAt }] }
  expect(await countMoneyReads(10)).toBeGreaterThan(0)
  expect(moneySince).toEqual(new Date(begunAt.getTime() - 86_400 * SECOND_MS))
  expect(logged).toHaveLength(1)
})

it('a desk reprices all its listings once an hour, at most ten at a time, but none while it may not list', async () => {
  const listings = onSale(100)
  items = new Map(
    listings.map(({ assetId }) => [
      assetId,
      { assetId, marketHashName: `Item ${assetId}`, isTradable: true },
    ]),
  )
  book = { ...bookOf([]), listings }
  expect(await desk.reprice()).toBe(false)
  await desk.tend()
  const counts: number[] = []
  for (let pricedBefore = 0; await desk.reprice(); pricedBefore = priced.length)
    counts.push(priced.length - pricedBefore)
  expect(counts).toEqual(Array(10).fill(10))
  expect(priced.toSorted()).toEqual(listings.map(({ assetId }) => `Item ${assetId}`).toSorted())
  nowMs += 3_600 * SECOND_MS
  isOffAtTill = true
  await desk.tend()
  expect(await desk.reprice()).toBe(false)
  isOffAtTill = false
  await desk.tend()
  expect(await desk.reprice()).toBe(true)
})
