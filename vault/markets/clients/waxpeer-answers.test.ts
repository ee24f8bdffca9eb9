/** How a sale on Waxpeer is read, in every form in which its numbers may come. */
import { describe, expect, it } from 'vitest'
import { scaleOf } from '../scale.ts'
import { parseLossless } from './lossless-json.ts'
import {
  dueDealsOf,
  historySchema,
  onSaleOf,
  onSaleSchema,
  outcomeOf,
  pushedDealOf,
  readyTradesSchema,
  walletSchema,
} from './waxpeer-answers.ts'

const NOW = new Date(1_800_000_000_000)
const DUE_AT = new Date(NOW.getTime() + 300_000)
const LINK = 'https://steamcommunity.com/tradeoffer/new/?partner=39735297&token=abcd1234'
const RUST_ID = '1234567890123456789'

/** Messages as text, with each number in the form in which it comes over the network. */
const polled = (number: string, price: string, until: string): string =>
  `{"trades":[{"costum_id":${number},"tradelink":"${LINK}","trade_message":"hi","send_until":${until},
    "items":[{"item_id":${RUST_ID},"game":"rust","price":${price}}]}]}`
const pushed = (number: string, appId: string, until: string): string =>
  `{"waxid":${number},"tradelink":"${LINK}","tradeoffermessage":"hi","send_until":${until},
    "json_tradeoffer":{"me":{"assets":[{"appid":${appId},"contextid":2,"assetid":${RUST_ID}}]}}}`

describe('a sale is read with its numbers bare or in quotes:', () => {
  it.each([
    ['"7"', '12340', '"2027-01-15T08:05:00.000Z"'],
    ['7', '"12340"', '1800000300'],
    ['7', '12.34', '"1800000300"'],
    ['"7"', '"12.34"', '1800000300000'],
  ])('polled with the number %s, the price %s and the deadline %s', (number, price, until) => {
    const answer = readyTradesSchema.parse(parseLossless(polled(number, price, until)))
    const { deals, unread } = dueDealsOf(answer, NOW)
    expect(unread).toEqual([])
    expect(deals).toMatchObject([
      {
        due: { dealId: '7', assets: [{ appId: 252490, assetId: RUST_ID }] },
        rows: [{ leftS: 300, dueAt: DUE_AT, price: 12.34 }],
      },
    ])
  })

  it.each([
    ['"7"', '252490', '"2027-01-15T08:05:00.000Z"'],
    ['7', '"252490"', '"1800000300"'],
  ])('pushed with the number %s, the app %s and the deadline %s', (number, appId, until) => {
    const deal = pushedDealOf(parseLossless(pushed(number, appId, until)), NOW)
    expect(deal).toMatchObject({
      due: { dealId: '7', assets: [{ appId: 252490, assetId: RUST_ID }] },
      rows: [{ leftS: 300, dueAt: DUE_AT }],
    })
  })
})

it.each([
  ['"30.00"', 30],
  ['"30"', 0.03],
  ['"30.5"', 30.5],
  ['30', 0.03],
  ['30.00', 30],
])('the price %s of a listing is %d dollars', (price, dollars) => {
  const answer = onSaleSchema.parse(parseLossless(`{"items":[{"item_id":1,"price":${price}}]}`))
  expect(onSaleOf(answer)[0]?.price).toBe(dollars)
})

it('a price a thousand times too low does not count as the listing’s price', () => {
  const shown = (price: number) =>
    onSaleOf(onSaleSchema.parse({ items: [{ item_id: '1', price }] }))[0]?.price ?? 0
  const scale = scaleOf('USD')
  expect(scale?.isPrice(shown(30_000), 3_000n)).toBe(true)
  expect(scale?.isPrice(shown(30), 3_000n)).toBe(false)
  expect(scale?.isPrice(shown(29.99), 2_999n)).toBe(true)
})

it.each([
  ['28500', 'a payment of $28.50', { kind: 'paid', receivedMinor: 2_850n }],
  // With a decimal point, it may be dollars. The unit must not be guessed.
  ['28.00', 'pending', { kind: 'pending' }],
  ['"28.00"', 'pending', { kind: 'pending' }],
  ['28.50', 'pending', { kind: 'pending' }],
])('the proceeds of %s are read as %s', (amount, _meaning, end) => {
  const row = `{"id":1,"item_id":2,"price":30000,"give_amount":${amount},"game":"rust","status":5,"action":"sell",
    "created":"2027-01-01T00:00:00.000Z"}`
  const { trades } = historySchema.parse(parseLossless(`{"data":{"trades":[${row}]}}`)).data
  const [sale] = trades.rows
  const scale = scaleOf('USD')
  if (sale === undefined || scale === undefined) throw new Error('no sale was read')
  expect(outcomeOf(sale, scale, NOW).end).toEqual(end)
})

it('a sale of Counter-Strike is pending if it would settle after the last time that can be recorded', () => {
  const row = `{"id":1,"item_id":2,"price":30000,"give_amount":28500,"game":"csgo","status":5,"action":"sell",
    "created":"9999-12-31T00:00:00.000Z"}`
  const { trades } = historySchema.parse(parseLossless(`{"data":{"trades":[${row}]}}`)).data
  const [sale] = trades.rows
  const scale = scaleOf('USD')
  if (sale === undefined || scale === undefined) throw new Error('no sale was read')
  expect(outcomeOf(sale, scale, NOW).end).toEqual({ kind: 'pending' })
})

it.each(['28.00', '"28.00"', '28.50'])(
  'a balance of %s is not read, because its unit is not certain',
  (wallet) => {
    const text = `{"user":{"id64":"7","wallet":${wallet},"can_p2p":true,"sell_fees":1.0}}`
    expect(walletSchema.safeParse(parseLossless(text)).error?.issues.map(({ path }) => path)).toEqual([
      ['user', 'wallet'],
    ])
  },
)
