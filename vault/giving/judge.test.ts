/** The rules by which the vault refuses a wish, or makes it wait. */
import { describe, expect, it } from 'vitest'
import type { Rules } from '../files/rules.ts'
import { type Book, bookOf } from './book.ts'
import { type Context, judgeItems, judgeLimits, judgeWish, MOST_ASSETS, type Wish } from './judge.ts'

const BOT = '76561198000000011'
const STORAGE = { steamId: '76561198000000021', token: 'AbC12-_x' }
const PAYER = { steamId: '76561198000000031', token: 'AbC12-_y' }
const NOW = new Date(1_800_000_000_000)

const rules: Rules = {
  destinations: { storage: STORAGE, itself: { steamId: BOT, token: 'AbC12-_z' } },
  limits: { centsAnHour: 100_00n, centsADay: 150_00n, itemsAnHour: 10 },
  centsWithoutPrice: 100_00n,
}
const asset = (assetId: string, contextId = '2') => ({ appId: 570, contextId, assetId })
const wish = (change: Partial<Wish> = {}): Wish => ({
  id: '1',
  fromSteamId: BOT,
  assets: [asset('1')],
  ask: { kind: 'send', to: 'storage' },
  ...change,
})
const judge = (change: Partial<Wish>, context: Partial<Context> = {}) =>
  judgeWish(wish(change), {
    rules,
    book: new Map(),
    account: { sells: false },
    approved: undefined,
    isListed: false,
    ...context,
  })

/** A book in which another wish already gives asset 1. */
const takenUp: Book = bookOf([
  {
    at: NOW,
    entry: {
      kind: 'intended',
      wish: '9',
      cause: { kind: 'send', to: 'storage' },
      from: BOT,
      partnerSteamId: STORAGE.steamId,
      sealedToken: 's',
      message: 'm',
      assets: [asset('1')],
      worthCents: '1',
    },
  },
])

describe('a wish', () => {
  it('may be fulfilled if its destination is on the list', () => {
    expect(judge({})).toEqual({ kind: 'give', partner: STORAGE })
  })

  it.each<[string, Partial<Wish>, Partial<Context>]>([
    ['no such destination', { ask: { kind: 'send', to: 'constructor' } }, {}],
    ['the destination is the bot itself', { ask: { kind: 'send', to: 'itself' } }, {}],
    ['items under protection', { assets: [asset('1', '16')] }, {}],
    ['an item twice', { assets: [asset('1'), asset('1')] }, {}],
    [`not 1 to ${MOST_ASSETS} items`, { assets: [] }, {}],
    ['an item is already on its way', {}, { book: takenUp }],
    ['asked before', { id: '9', assets: [asset('2')] }, { book: takenUp }],
    ['wishes may not take items from a selling account', {}, { account: { sells: true } }],
    [
      'other items than were approved',
      { ask: { kind: 'return', steamTradeId: '5' } },
      { approved: { partner: PAYER, assets: [asset('2')] } },
    ],
  ])('is refused for good: %s', (because, change, context) => {
    expect(judge(change, context)).toEqual({ kind: 'refuse', because })
  })

  it.each<[string, Partial<Wish>, Partial<Context>]>([
    ['an item is on sale', {}, { isListed: true }],
    ['the bot is not enrolled', {}, { account: undefined }],
    ['not approved', { ask: { kind: 'return', steamTradeId: '5' } }, {}],
  ])('waits: %s', (because, change, context) => {
    expect(judge(change, context)).toEqual({ kind: 'wait', because })
  })
})

it('items that Steam does not show as free and tradable are refused', () => {
  const seen = new Map([
    ['570/1', { isTradable: true }],
    ['570/2', { isTradable: false }],
  ])
  expect(judgeItems([asset('1')], seen)).toBeUndefined()
  expect(judgeItems([asset('1'), asset('2')], seen)).toMatchObject({ because: 'an item cannot be traded' })
  expect(judgeItems([asset('3')], seen)).toMatchObject({ kind: 'refuse' })
})

describe('the limits', () => {
  /** Judges a wish worth `cents`, made one minute or 61 minutes after an earlier one. */
  const judgeAfterEarlier = (cents: bigint, minutesAgo: 1 | 61) => {
    const earlier = { cents: 90_00n, items: 2 }
    const at = new Date(NOW.getTime() - minutesAgo * 60_000)
    const spent = (since: Date) => (at < since ? { cents: 0n, items: 0 } : earlier)
    return judgeLimits(rules, spent, { cents, items: 1, now: NOW })
  }

  it('of an hour and of a day both make a wish wait', () => {
    expect(judgeAfterEarlier(10_00n, 1)).toBeUndefined()
    expect(judgeAfterEarlier(10_01n, 1)).toMatchObject({ kind: 'wait' })
    expect(judgeAfterEarlier(60_00n, 61)).toBeUndefined()
    expect(judgeAfterEarlier(60_01n, 61)).toMatchObject({ kind: 'wait' })
  })

  it('refuse a wish that exceeds them on its own', () => {
    expect(judgeAfterEarlier(100_01n, 61)).toMatchObject({ kind: 'refuse' })
  })
})
