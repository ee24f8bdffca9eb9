import { afterEach, expect, it, vi } from 'vitest'
import { payment } from '../flow/test-states.ts'
import { includedPayment } from './included-payment.ts'

const SERVER_NOW = Date.parse('2026-11-26T12:00:00Z')
const nextOfferAt = '2026-11-26T12:01:30.000Z'
const HOUR_MS = 3_600_000
/** From the start of the navigation to the page's first bytes. Long: a slow answer must not count as a wrong clock. */
const ARRIVED_MS = 20_000
const ended = payment({ status: 'tradeDeclined', nextOfferAt })

/** A page that the server sent at `SERVER_NOW`, on a device whose clock is ahead by `aheadMs`. */
function openPage(aheadMs: number, dataset: { sentAt?: string } = { sentAt: String(SERVER_NOW) }): void {
  class Navigation {
    responseStart = ARRIVED_MS
  }
  // Fakes only those parts of the document and its times that are used, so these tests need no browser.
  const element = { dataset, textContent: JSON.stringify(ended) }
  vi.stubGlobal('document', { getElementById: (id: string) => (id === 'payment' ? element : null) })
  vi.stubGlobal('PerformanceNavigationTiming', Navigation)
  vi.stubGlobal('performance', {
    timeOrigin: SERVER_NOW + aheadMs - ARRIVED_MS,
    getEntriesByType: () => [new Navigation()],
  })
}

afterEach(() => void vi.unstubAllGlobals())

it.each([
  ['an hour ahead', HOUR_MS, '2026-11-26T13:01:30.000Z'],
  ['an hour behind', -HOUR_MS, '2026-11-26T11:01:30.000Z'],
  ['right, after an answer that took two seconds', 2_000, nextOfferAt],
])(
  'D-31 the payment in the page gives the time of the next offer by the device’s clock, which is %s',
  (_, aheadMs, shown) => {
    openPage(aheadMs)
    expect(includedPayment(ended.hash)?.payment).toEqual({ ...ended, nextOfferAt: shown })
  },
)

it('D-31 a payment in a page without the server’s time is not changed', () => {
  openPage(HOUR_MS, {})
  expect(includedPayment(ended.hash)?.payment).toEqual(ended)
})

it('the payment of another deposit is not used', () => {
  openPage(0)
  expect(includedPayment('f'.repeat(32))).toBeNull()
})
