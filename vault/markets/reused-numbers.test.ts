/** A market that reuses the number of a listing when the item is listed again: which listing an outcome belongs to. */
import { expect, it } from 'vitest'
import { APP, BUYER, createOutside, runVault } from '../testing/outside.ts'
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

/** A market on which the buyer of an item declined the offer, and the item was listed again a minute after the sale. */
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

it('the outcome of the only sale of a number is recorded if the vault’s clock was ahead when it listed the item', async () => {
  const out = createOutside()
  const sale: Outcome = { itemId: '1', soldAt: SOLD_AT, end: { kind: 'paid', receivedMinor: 95n } }
  out.market.outcomes = async () => ({ kind: 'answered', value: [sale] })
  const add = (entry: SaleEntry) => out.entries.push({ at: later(2 * 86_400), entry })
  add({ kind: 'listing_begun', ...MARKET, appId: APP, assetId: '1', priceMinor: 100n })
  add({ kind: 'listed', market: 'm', appId: APP, assetId: '1', itemId: '1' })
  expect(await out.seller().followMoney(APP, SOLD_AT)).toBe(false)
  add({ kind: 'deal_intended', ...MARKET, due: dueOf('only'), itemIds: ['1'] })
  expect(await out.seller().followMoney(APP, SOLD_AT)).toBe(true)
  expect(out.book().listings.at(-1)?.end).toEqual(sale.end)
})

/** A market whose answer gives the second item the number of the first, 101. */
function openRepeated() {
  const out = createOutside()
  const { list } = out.market
  out.market.list = async (...call) => {
    const answer = await list(...call)
    if (answer.kind !== 'answered') return answer
    const value = answer.value.map((line) =>
      line.kind === 'listed' && line.assetId === '2' ? { ...line, itemId: '101' } : line,
    )
    return { kind: 'answered', value }
  }
  return out
}

const numbers = ({ book }: ReturnType<typeof createOutside>) =>
  book().listings.map(({ assetId, itemId, state }) => [assetId, itemId, state])

it('a number that the market’s answer gives to two items is recorded for one; that of the other comes from the market’s list', async () => {
  const out = openRepeated()
  await out.seller().list(APP, [
    { assetId: '1', priceMinor: 100n },
    { assetId: '2', priceMinor: 100n },
  ])
  expect(numbers(out)).toEqual([
    ['1', '101', 'on_sale'],
    ['2', null, 'on_sale'],
  ])
  expect(out.alarms).toEqual([{ kind: 'repeated_number', itemId: '101' }])
  out.buy(1)
  await runVault(out)
  out.letOthersAct(true)
  await runVault(out)
  expect(numbers(out).slice(0, 2)).toEqual([
    ['1', '101', 'given'],
    ['2', '102', 'on_sale'],
  ])
})

it('a number that the market’s list shows for two items whose answer was lost is recorded for one, and the other counts as not listed', async () => {
  const out = createOutside()
  const seller = out.seller()
  out.plan(['lost_after'])
  await seller.list(APP, [
    { assetId: '1', priceMinor: 100n },
    { assetId: '2', priceMinor: 100n },
  ])
  for (const item of out.items) item.itemId = '101'
  for (let looks = 0; looks < 5; looks += 1) {
    await seller.round(APP)
    out.advanceS(20)
  }
  expect(numbers(out)).toEqual([['1', '101', 'on_sale']])
})
