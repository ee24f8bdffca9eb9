/** Tests when a person is told that a market does not say which items were sold. */
import { expect, it } from 'vitest'
import { createNeeds } from '../needs.ts'
import { APP, createOutside } from '../testing/outside.ts'
import { createFold } from './book.ts'
import { createDesk } from './desk.ts'
import type { Failure } from './market.ts'
import { DEFAULT_RULES } from './price-policy.ts'
import { scaleOf } from './scale.ts'
import { createSeller } from './seller.ts'

const OTHER_APP = 440
const ACCOUNT = '76561198000000009'
const ROUND_MS = 3_000

/** A desk with an item of each game on sale. */
function createBench() {
  const outside = createOutside()
  let nowMs = 1_800_000_000_000
  const now = () => new Date(nowMs)
  const { book, add } = createFold()
  const journal = {
    book: () => book,
    add: (entry: Parameters<typeof add>[0]['entry']) => add({ at: now(), entry }),
  }
  const scale = scaleOf('USD')
  if (scale === undefined) throw new Error('dollars have no scale')
  const failures = new Map<number, Failure>()
  const market = {
    ...outside.market,
    games: [APP, OTHER_APP],
    async round(appId: number) {
      const itemId = String(appId)
      const row = { itemId, assetId: itemId, stage: 'on_sale' as const, leftS: null, price: null }
      return failures.get(appId) ?? { kind: 'answered' as const, value: { rows: [row], due: [] } }
    },
  }
  const marketAccount = { market: market.name, account: ACCOUNT, isFirst: true }
  for (const appId of market.games) {
    const game = { market: market.name, appId, assetId: String(appId) }
    journal.add({ kind: 'listing_begun', ...game, account: ACCOUNT, priceMinor: 100n })
    journal.add({ kind: 'listed', ...game, itemId: String(appId) })
  }
  const needs = createNeeds(now)
  const deskParts: Parameters<typeof createDesk>[0] = {
    market,
    marketAccount,
    journal,
    now,
    needs,
    seller: createSeller({
      ...{ market, marketAccount, journal, now, giftOffers: outside.giftOffers, scale },
      ownAccounts: new Set([ACCOUNT]),
      hasRoom: () => true,
      announce: async () => {},
      alarm() {},
    }),
    account: { recentItems: async () => undefined, accessToken: async () => 'token' },
    tradeToken: undefined,
    pricing: {
      rules: DEFAULT_RULES,
      mayLose: false,
      needsCost: false,
      priceOf: async () => undefined,
      mayLeave: () => true,
      till: { costs: async () => new Map() },
      lowest: { read: async () => new Map(), noteOwn() {} },
    },
    till: { isOff: async () => false },
    reportBalance: async () => {},
    isOff: () => false,
    say() {},
  }
  let desk = createDesk(deskParts)
  return {
    failures,
    unreadSales: () => needs.list().flatMap(({ kind, ...need }) => (kind === 'sales_unread' ? [need] : [])),
    takeDown: (appId: number) =>
      journal.add({ kind: 'unlisted', market: market.name, itemId: String(appId) }),
    restart() {
      desk = createDesk(deskParts)
    },
    async pass(seconds: number) {
      for (const endMs = nowMs + seconds * 1_000; nowMs < endMs; nowMs += ROUND_MS) await desk.tend()
    },
  }
}

const need = (games: string, because: string) => ({
  about: `m account ${ACCOUNT}`,
  text: `the market has not said for five minutes or longer which items of ${games} were sold: ${because}`,
})

it('a market that does not report its sold items for five minutes needs a person until it does', async () => {
  const { failures, pass, unreadSales } = createBench()
  await pass(15)
  failures.set(APP, { kind: 'unanswered', because: 'HTTP 502' })
  await pass(300)
  expect(unreadSales()).toEqual([])
  await pass(15)
  expect(unreadSales()).toMatchObject([need('Dota 2', 'HTTP 502')])
  failures.set(APP, { kind: 'refused', code: 'no list' })
  await pass(15)
  expect(unreadSales()).toMatchObject([need('Dota 2', 'no list')])
  failures.clear()
  await pass(15)
  expect(unreadSales()).toEqual([])
})

it('neither a market that answers now and then nor a game with nothing on sale needs a person', async () => {
  const { failures, pass, unreadSales, takeDown } = createBench()
  for (let times = 0; times < 3; times += 1) {
    failures.set(OTHER_APP, { kind: 'busy' })
    await pass(285)
    failures.clear()
    await pass(15)
    expect(unreadSales()).toEqual([])
  }
  failures.set(OTHER_APP, { kind: 'busy' })
  await pass(315)
  expect(unreadSales()).toMatchObject([need('Team Fortress 2', 'busy')])
  takeDown(OTHER_APP)
  await pass(15)
  expect(unreadSales()).toEqual([])
})

it('a failure needs a person while it lasts, even after a restart of the vault', async () => {
  const { failures, pass, unreadSales, restart } = createBench()
  failures.set(OTHER_APP, { kind: 'busy' })
  await pass(315)
  expect(unreadSales()).toHaveLength(1)
  restart()
  await pass(60)
  expect(unreadSales()).toHaveLength(1)
  failures.clear()
  await pass(15)
  expect(unreadSales()).toEqual([])
})

it('the report names each game whose sales were not read for five minutes, and the reason for one of them', async () => {
  const { failures, pass, unreadSales } = createBench()
  failures.set(APP, { kind: 'busy' })
  await pass(300)
  failures.set(OTHER_APP, { kind: 'unanswered', because: 'HTTP 502' })
  await pass(60)
  expect(unreadSales()).toMatchObject([need('Dota 2', 'busy')])
  await pass(300)
  expect(unreadSales()).toMatchObject([need('Dota 2, Team Fortress 2', 'HTTP 502')])
})
