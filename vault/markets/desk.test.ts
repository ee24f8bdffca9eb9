/** How often a desk looks for items to list, and asks for the money of sales. */
import { beforeEach, expect, it } from 'vitest'
import { APP, outside } from '../testing/outside.ts'
import { type Book, EMPTY_BOOK, type Listing } from './book.ts'
import { createDesk, type Desk } from './desk.ts'
import { DEFAULT_RULES } from './price-policy.ts'

const SECOND_MS = 1_000
let nowMs: number
let desk: Desk
let refreshed: number[]
let book: Book
let asked: number

beforeEach(() => {
  const world = outside()
  nowMs = 1_800_000_000_000
  refreshed = []
  book = EMPTY_BOOK
  asked = 0
  desk = createDesk({
    market: {
      ...world.market,
      async refresh(appId) {
        refreshed.push(appId)
        return { kind: 'said', value: null }
      },
    },
    stall: { market: world.market.name, account: '76561198000000009', isFirst: true },
    seller: {
      ...world.seller(),
      async followMoney() {
        asked += 1
        return false
      },
    },
    journal: { book: () => book, add: async () => {} },
    account: { freeItems: async () => new Map(), accessToken: async () => undefined },
    tradeToken: undefined,
    pricing: {
      ...{ rules: DEFAULT_RULES, mayLose: false, mustBeBooked: false, priceOf: async () => undefined },
      till: { costs: async () => new Map() },
    },
    till: { isOff: async () => false },
    saysBalance: async () => {},
    isOff: () => false,
    now: () => new Date(nowMs),
    say: () => {},
  })
})

/** Counts how often the desk looks for items to list within this many seconds. */
function looksIn(seconds: number): number {
  let looks = 0
  for (let second = 0; second < seconds; second += 1) {
    if (desk.isDue(APP)) looks += 1
    nowMs += SECOND_MS
  }
  return looks
}

it('a desk looks for items to list every two minutes', () => {
  expect(looksIn(240)).toBe(2)
})

it('after items arrive, a desk makes the market read them, and looks every 20 seconds for three minutes', async () => {
  expect(looksIn(60)).toBe(1)
  await desk.listSoon(APP)
  expect(refreshed).toEqual([APP])
  expect(desk.isDue(APP + 1)).toBe(true)
  expect(looksIn(180)).toBe(9)
  expect(looksIn(240)).toBe(2)
})

const CS = 730
const given = (end: Listing['end']): Listing => ({
  ...{ market: 'm', account: null, appId: CS, assetId: '1', itemId: '101', priceMinor: 100n },
  ...{ begunAt: new Date(nowMs), state: 'given', end },
})

/** Counts how often the desk asks for the money within this many minutes. */
async function asksIn(minutes: number): Promise<number> {
  asked = 0
  for (let round = 0; round < minutes * 20; round += 1) {
    await desk.tend()
    nowMs += 3 * SECOND_MS
  }
  return asked
}

it('a desk asks for money every five minutes, and more often after an item was given or its money became due', async () => {
  book = { ...EMPTY_BOOK, listings: [given(null)] }
  expect(await asksIn(2)).toBe(6)
  expect(await asksIn(10)).toBe(2)
  const settlesAt = new Date(nowMs + 600 * SECOND_MS)
  book = { ...EMPTY_BOOK, listings: [given({ kind: 'settling', receivedMinor: 95n, settlesAt })] }
  expect(await asksIn(10)).toBe(2)
  expect(await asksIn(2)).toBe(6)
  expect(await asksIn(10)).toBe(2)
})
