import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { judgeSale, newSale, type Sale } from '../../gateway/departures/sale.ts'
import { bookOf, createFold, type DatedEntry, type Listing, latestListing, type SaleEntry } from './book.ts'
import type { Outcome } from './market.ts'
import { reportsOf } from './reports.ts'

const at = new Date(0)
const [market, account, appId] = ['market.test', '76561198000000001', 730]
const itemId = '17'
const due = { dealId: '5', partnerSteamId: '76561198000000002', token: 'token', message: '', assets: [] }
const ENTRIES: readonly SaleEntry[] = [
  { kind: 'listing_begun', market, account, appId, assetId: '1', priceMinor: 100n },
  { kind: 'listed', market, appId, assetId: '1', itemId },
  { kind: 'repriced', market, itemId, priceMinor: 90n },
  { kind: 'listing_begun', market, account, appId, assetId: '2', priceMinor: 100n },
  { kind: 'not_listed', market, appId, assetId: '2', code: 'no_price' },
  { kind: 'due_refused', market, due: { ...due, dealId: '4' }, problem: 'unknown item' },
  { kind: 'deal_intended', market, account, due, itemIds: [itemId] },
  { kind: 'send_begun', market, dealId: '5' },
  { kind: 'offer_known', market, dealId: '5', offerId: '6' },
  { kind: 'delivered', market, dealId: '5', steamTradeId: '7' },
  { kind: 'outcome', market, itemId, end: { kind: 'paid', receivedMinor: 80n } },
  { kind: 'listing_begun', market, account, appId, assetId: '3', priceMinor: 70n },
  { kind: 'listed', market, appId, assetId: '3', itemId },
]
const dated: readonly DatedEntry[] = ENTRIES.map((entry) => ({ at, entry }))

it('later entries replace a book’s listings and deals, and change none that a caller already has', () => {
  const { book, add } = createFold()
  const held = dated.map((each) => {
    add(each)
    const parts = [...book.listings, ...book.deals.values()]
    return { parts, asTheyWere: structuredClone(parts) }
  })
  for (const { parts, asTheyWere } of held) expect(parts).toEqual(asTheyWere)
})

it('an item number that a market reuses belongs to the newest listing', () => {
  const book = bookOf([...dated, { at, entry: { kind: 'repriced', market, itemId, priceMinor: 60n } }])
  expect(book.listings.map(({ state, priceMinor }) => [state, priceMinor])).toEqual([
    ['given', 90n],
    ['on_sale', 60n],
  ])
  expect(latestListing(book, { market, itemId })?.assetId).toBe('3')
})

const amount = fc.bigInt({ min: 0n, max: 90n })
const end = fc.oneof(
  fc.constant<Outcome['end']>({ kind: 'cancelled' }),
  amount.map((receivedMinor): Outcome['end'] => ({ kind: 'settling', receivedMinor, settlesAt: at })),
  amount.map((receivedMinor): Outcome['end'] => ({ kind: 'paid', receivedMinor })),
  amount.map((refundMinor): Outcome['end'] => ({ kind: 'reversed', causer: 'buyer', refundMinor })),
)
/** A given item whose sale is cancelled is late in the till's books. */
const moneyOfListing = (last: Listing['end']) =>
  last === null
    ? ['delivered']
    : last.kind === 'cancelled'
      ? ['late']
      : [last.kind, 'refundMinor' in last ? last.refundMinor : 'receivedMinor' in last && last.receivedMinor]
const moneyOfSale = ({ state, received, refund }: Sale) =>
  state === 'reversed'
    ? [state, refund]
    : state === 'settling' || state === 'paid'
      ? [state, received]
      : [state]

it('the till’s books show the same money of a given item as the record, whatever a market says in turn', () => {
  fc.assert(
    fc.property(fc.array(end, { maxLength: 6 }), (ends) => {
      const { book, add } = createFold()
      let sale = newSale(100n)
      const outcomes = ends.map((each): SaleEntry => ({ kind: 'outcome', market, itemId, end: each }))
      for (const entry of [...ENTRIES.slice(0, 10), ...outcomes]) {
        add({ at, entry })
        for (const told of reportsOf(book, entry, () => false))
          if (told.kind === 'report') sale = judgeSale(sale, told.report, at)
      }
      const listing = latestListing(book, { market, itemId })
      expect(moneyOfSale(sale)).toEqual(moneyOfListing(listing?.end ?? null))
    }),
  )
})
