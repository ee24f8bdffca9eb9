import { describe, expect, it } from 'vitest'
import { type Context, earliestEndMs, judgeDue } from './judge-due.ts'
import type { DueGift, Row } from './market.ts'
import { scaleOf } from './scale.ts'

const BUYER = '76561198000000001'
const OWN_ACCOUNT = '76561198000000009'
const scale = scaleOf('USD')
if (scale === undefined) throw new Error('dollars have no scale')

const due = (change: Partial<DueGift> = {}): DueGift => ({
  dealId: 'h1',
  partnerSteamId: BUYER,
  token: 'AbC12-_x',
  message: 'ABCD https://x/trade/1/',
  assets: [{ appId: 730, contextId: '2', assetId: '10' }],
  ...change,
})
const row = (change: Partial<Row> = {}): Row => ({
  itemId: '1',
  assetId: '10',
  stage: 'sold',
  leftS: 290,
  price: 12.34,
  ...change,
})
const context = (change: Partial<Context> = {}): Context => ({
  appId: 730,
  listings: [
    { itemId: '1', appId: 730, assetId: '10', priceMinor: 1_234n },
    { itemId: '2', appId: 730, assetId: '11', priceMinor: 500n },
  ],
  rows: [row(), row({ itemId: '2', assetId: '11', price: 5 })],
  scale,
  ownAccounts: new Set([OWN_ACCOUNT]),
  known: undefined,
  promised: new Set(),
  ...change,
})
const asset = (assetId: string, change = {}) => ({ appId: 730, contextId: '2', assetId, ...change })
const verdictOn = (change: Partial<DueGift>, contextChange: Partial<Context> = {}) => {
  const verdict = judgeDue(due(change), context(contextChange))
  return verdict.kind === 'refused' ? verdict.problem : verdict.kind
}

describe('a deal that a market asks for', () => {
  it('is carried out if all its items, one or several, are listed', () => {
    expect(judgeDue(due(), context())).toMatchObject({ kind: 'give', listings: [{ itemId: '1' }] })
    const dueOfTwo = due({ assets: [asset('11'), asset('10')] })
    expect(judgeDue(dueOfTwo, context())).toMatchObject({
      kind: 'give',
      listings: [{ itemId: '2' }, { itemId: '1' }],
    })
  })

  it('is carried out once: a repeated request changes nothing, and a changed request is refused', () => {
    const known = due()
    expect(judgeDue(due(), context({ known }))).toEqual({ kind: 'again' })
    for (const change of [
      { partnerSteamId: '76561198000000002' },
      { token: 'other' },
      { message: 'EFGH' },
      { assets: [asset('11')] },
    ]) {
      expect(verdictOn(change, { known })).toBe('changed')
    }
    expect(verdictOn({ dealId: 'h2' }, { promised: new Set(['10']) })).toBe('given_already')
  })

  it.each([
    ['an asset that was not listed', { assets: [asset('12')] }, 'asset_not_listed'],
    ['one more asset than was sold', { assets: [asset('10'), asset('12')] }, 'asset_not_listed'],
    ['an asset twice', { assets: [asset('10'), asset('10')] }, 'asset_not_listed'],
    ['the asset of another game', { assets: [asset('10', { appId: 570 })] }, 'asset_not_listed'],
    ['a protected asset', { assets: [asset('10', { contextId: '16' })] }, 'asset_not_listed'],
    ['one of our own accounts as the buyer', { partnerSteamId: OWN_ACCOUNT }, 'own_account'],
    ['the message of a deposit', { message: 'K7MXPQ' }, 'deposit_message'],
    ["a message that contains a deposit's code", { message: 'code: K7MXPQ' }, 'deposit_message'],
  ])('is refused with %s', (_, change, expected) => {
    expect(verdictOn(change)).toBe(expected)
  })

  it('is refused if the market’s own list does not show its items as sold, at the recorded price', () => {
    expect(verdictOn({}, { rows: [row({ stage: 'on_sale' })] })).toBe('not_sold')
    expect(verdictOn({}, { rows: [row({ stage: 'given' })] })).toBe('not_sold')
    expect(verdictOn({}, { rows: [] })).toBe('not_sold')
    expect(verdictOn({}, { rows: [row({ price: 6.17 })] })).toBe('price_differs')
  })

  it('is carried out if the market shows the price in its own units, or not at all', () => {
    expect(verdictOn({}, { rows: [row({ price: 12_340 })] })).toBe('give')
    expect(verdictOn({}, { rows: [row({ price: null })] })).toBe('give')
  })

  it('is refused if too little time is left', () => {
    expect(verdictOn({}, { rows: [row({ leftS: 44 })] })).toBe('too_late')
    expect(verdictOn({}, { rows: [row({ leftS: 45 })] })).toBe('give')
  })
})

it.each<[string, Partial<Row>[], number]>([
  ['is counted from when the market was asked', [{ leftS: 60 }], 60_000],
  [
    'is the moment that the market states, however long it took to answer',
    [{ leftS: 40, dueAt: new Date(60_000) }],
    60_000,
  ],
  ['is the earliest of several', [{ leftS: 60 }, { leftS: 30 }], 30_000],
  ['is never if the market states none', [{ leftS: null }], Infinity],
  ['ignores other items', [{ itemId: '2', leftS: 1 }], Infinity],
])('the end of the time for a sale %s', (_, changes, endMs) => {
  expect(earliestEndMs(['1'], changes.map(row), new Date(0))).toBe(endMs)
})
