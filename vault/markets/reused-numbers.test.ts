/** A market that reuses the number of a listing when the item is listed again: which listing an outcome belongs to. */
import { expect, it } from 'vitest'
import { APP, BUYER, createOutside } from '../testing/outside.ts'
import type { SaleEntry } from './book.ts'
import type { Outcome } from './market.ts'

const SECOND_MS = 1_000
const SOLD_AT = new Date(1_800_000_000_000)
const MARKET = { market: 'm', account: null }
const EARLIER_SALE: Outcome = { itemId: '1', soldAt: SOLD_AT, end: { kind: 'cancelled' } }

const later = (seconds: number) => new Date(SOLD_AT.getTime() + seconds * SECOND_MS)
const dueOf = (dealId: string) => {
  return { dealId, partnerSteamId: BUYER, token: 'AbC12-_x', message: dealId, assets: [] }
}

/** A market on which an item was sold, declined by the buyer, and listed again a minute after that sale. */
function openRelisted(outcomes: readonly Outcome[]) {
  const out = createOutside()
  out.market.outcomes = async () => ({ kind: 'answered', value: outcomes })
  const add = (at: Date, entry: SaleEntry) => out.entries.push({ at, entry })
  const list = (at: Date) => {
    add(at, { kind: 'listing_begun', ...MARKET, appId: APP, assetId: '1', priceMinor: 100n })
    add(at, { kind: 'listed', market: 'm', appId: APP, assetId: '1', itemId: '1' })
  }
  const sell = (at: Date, dealId: string) =>
    add(at, { kind: 'deal_intended', ...MARKET, due: dueOf(dealId), itemIds: ['1'] })
  list(later(-600))
  sell(later(5), 'first')
  add(later(25), { kind: 'offer_ended', market: 'm', dealId: 'first', how: 'declined' })
  list(later(60))
  return { out, sellAgain: () => sell(later(90), 'second') }
}

it('the outcome of an earlier sale is not recorded for a listing that is on sale', async () => {
  const { out } = openRelisted([EARLIER_SALE])
  expect(await out.seller().followMoney(APP, SOLD_AT)).toBe(false)
  expect(out.book().listings.at(-1)).toMatchObject({ state: 'on_sale', end: null })
})

it('the outcome of an earlier sale is not recorded for a later sale', async () => {
  const laterSale: Outcome = { itemId: '1', soldAt: later(85), end: { kind: 'pending' } }
  const { out, sellAgain } = openRelisted([laterSale, EARLIER_SALE])
  sellAgain()
  expect(await out.seller().followMoney(APP, SOLD_AT)).toBe(false)
  expect(out.book().listings.at(-1)).toMatchObject({ state: 'in_deal', end: null })
})

it('the outcome of the later sale is recorded once', async () => {
  const laterSale: Outcome = { itemId: '1', soldAt: later(85), end: { kind: 'paid', receivedMinor: 95n } }
  const { out, sellAgain } = openRelisted([laterSale, EARLIER_SALE])
  sellAgain()
  const seller = out.seller()
  expect(await seller.followMoney(APP, SOLD_AT)).toBe(true)
  expect(out.book().listings.at(-1)?.end).toEqual(laterSale.end)
  expect(await seller.followMoney(APP, SOLD_AT)).toBe(false)
})

it('the outcome of a sale that the vault missed is recorded if the item was listed long before the sale', async () => {
  const unseen: Outcome = { itemId: '1', soldAt: later(3_660), end: { kind: 'cancelled' } }
  const { out } = openRelisted([unseen, EARLIER_SALE])
  expect(await out.seller().followMoney(APP, SOLD_AT)).toBe(true)
  expect(out.book().listings.at(-1)?.end).toEqual({ kind: 'cancelled' })
})
