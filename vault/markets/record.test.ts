/** The work that an entry costs must not grow with the book, which holds years of sales. */
import { expect, it, vi } from 'vitest'
import { createMemoryLog, PLAIN_KEY } from '../testing/memory-log.ts'
import type { SaleEntry } from './book.ts'
import { openRecord } from './record.ts'

const [market, account, appId] = ['market.test', '76561198000000001', 570]
const open = (log = createMemoryLog()) =>
  openRecord({ log, key: PLAIN_KEY, now: () => new Date(0), isBot: () => false })

/** The entries of an item that is listed, sold and given, and of a refused deal. */
function saleOf(n: number): SaleEntry[] {
  const [itemId, dealId, assetId] = [`${n}`, `d${n}`, `a${n}`]
  const due = { dealId, partnerSteamId: '76561198000000002', token: 'token', message: '', assets: [] }
  return [
    { kind: 'listing_begun', market, account, appId, assetId, priceMinor: 100n },
    { kind: 'listed', market, appId, assetId, itemId },
    { kind: 'due_refused', market, due: { ...due, dealId: `x${n}` }, problem: 'unknown item' },
    { kind: 'deal_intended', market, account, due, itemIds: [itemId] },
    { kind: 'send_begun', market, dealId },
    { kind: 'offer_known', market, dealId, offerId: '6' },
    { kind: 'told', market, dealId },
    { kind: 'delivered', market, dealId, steamTradeId: '7' },
  ]
}

it('a record adds each entry to its only book, and copies none of the book’s lists', async () => {
  const record = open()
  const { listings, deals, refused, listedTimes } = record.book()
  for (const entry of saleOf(1)) {
    record.add(entry)
    const book = record.book()
    expect(book.listings).toBe(listings)
    expect(book.deals).toBe(deals)
    expect(book.refused).toBe(refused)
    expect(book.listedTimes).toBe(listedTimes)
  }
  expect([listings.length, deals.size, refused.size, listedTimes.size]).toEqual([1, 1, 1, 1])
})

it('reading twice as many sales from a log calls Map.set about twice as often: no entry copies a map', async () => {
  const log = createMemoryLog()
  const addSales = async (from: number, to: number) => {
    const record = open(log)
    for (let n = from; n < to; n += 1) for (const entry of saleOf(n)) record.add(entry)
  }
  // A copied map is filled with `set` as well.
  const countMapChangesOfReading = () => {
    const set = vi.spyOn(Map.prototype, 'set')
    try {
      open(log)
      return set.mock.calls.length
    } finally {
      set.mockRestore()
    }
  }
  await addSales(0, 20)
  const changesBefore = countMapChangesOfReading()
  await addSales(20, 40)
  expect(changesBefore).toBeGreaterThan(0)
  expect(countMapChangesOfReading()).toBeLessThan(3 * changesBefore)
})
