import { describe, expect, it } from 'vitest'
import type { SaleReport } from '../../contract/sale-report.ts'
import { fc } from '../testing/property.ts'
import { judgeSale, movementsBetween, positionOf, SALE_EDGES, type Sale } from './sale.ts'

const at = (minutes: number) => new Date(Date.UTC(2026, 10, 1, 12, minutes))
const LISTED: Sale = {
  state: 'listed',
  price: 1_000n,
  received: null,
  refund: 0n,
  causer: null,
  steamTradeId: null,
  soldAt: null,
  settlesAt: null,
  endedAt: null,
}
const delivered: SaleReport = { kind: 'delivered', steamTradeId: 't1' }
const settling: SaleReport = { kind: 'settling', received: 950n, settlesAt: at(60) }
const paid: SaleReport = { kind: 'paid', received: 950n }
const cancelled: SaleReport = { kind: 'cancelled' }
const reversed: SaleReport = { kind: 'reversed', causer: 'buyer', refund: 200n }
const saleAfter = (...reports: SaleReport[]): Sale =>
  reports.reduce((sale, report, index) => judgeSale(sale, report, at(index)), LISTED)
const states = (...reports: SaleReport[]) =>
  reports.map((_, index) => saleAfter(...reports.slice(0, index + 1)).state)

describe('a sale', () => {
  it('passes through `sold`, `delivered` and `settling` to `paid`', () => {
    expect(states({ kind: 'sold' }, delivered, settling, paid)).toEqual([
      'sold',
      'delivered',
      'settling',
      'paid',
    ])
    expect(saleAfter({ kind: 'sold' }, delivered, settling, paid)).toMatchObject({
      received: 950n,
      steamTradeId: 't1',
      soldAt: at(0),
      settlesAt: at(60),
      endedAt: at(3),
    })
  })

  it('ends without money if nothing was given', () => {
    expect(states({ kind: 'unlisted' })).toEqual(['cancelled'])
    expect(saleAfter({ kind: 'unlisted' }).soldAt).toBeNull()
    expect(states({ kind: 'sold' }, cancelled)).toEqual(['sold', 'cancelled'])
    expect(states({ kind: 'sold' }, { kind: 'refused' })).toEqual(['sold', 'refused'])
  })

  it('is late if its item was given although the sale is reported as failed, until the market pays after all', () => {
    expect(states(cancelled, delivered, paid)).toEqual(['cancelled', 'late', 'paid'])
    expect(states(delivered, cancelled, settling)).toEqual(['delivered', 'late', 'settling'])
    expect(states({ kind: 'refused' }, delivered)).toEqual(['refused', 'late'])
    expect(states(settling, cancelled)).toEqual(['settling', 'late'])
  })

  it('can be reversed while it settles and after it was paid, and then stays reversed', () => {
    expect(states(settling, reversed, paid, delivered)).toEqual([
      'settling',
      'reversed',
      'reversed',
      'reversed',
    ])
    expect(states(paid, reversed)).toEqual(['paid', 'reversed'])
    expect(saleAfter(paid, reversed)).toMatchObject({ causer: 'buyer', refund: 200n })
  })

  it('changes its price only while it is listed', () => {
    expect(saleAfter({ kind: 'repriced', price: 900n }).price).toBe(900n)
    expect(saleAfter({ kind: 'sold' }, { kind: 'repriced', price: 900n }).price).toBe(1_000n)
  })

  it('stays the same object after a report without news', () => {
    for (const report of [delivered, settling, paid, cancelled, reversed]) {
      const once = saleAfter(report)
      expect(judgeSale(once, report, at(59))).toBe(once)
    }
  })

  it('keeps the amount that was paid first, because a payment changes only by a reversal', () => {
    const once = saleAfter(paid)
    expect(judgeSale(once, { kind: 'paid', received: 940n }, at(59))).toBe(once)
  })

  it('ignores a report of an amount that is negative or exceeds the price', () => {
    expect(saleAfter({ kind: 'paid', received: 1_001n }).state).toBe('listed')
    expect(saleAfter({ kind: 'settling', received: -1n, settlesAt: at(1) }).state).toBe('listed')
    expect(saleAfter(paid, { ...reversed, refund: 1_001n }).state).toBe('paid')
  })
})

const amount = fc.bigInt({ min: 0n, max: 1_100n })
const report = fc.oneof(
  fc.constantFrom<SaleReport>(
    { kind: 'sold' },
    { kind: 'unlisted' },
    { kind: 'refused' },
    delivered,
    cancelled,
  ),
  amount.map((received): SaleReport => ({ kind: 'paid', received })),
  amount.map((received): SaleReport => ({ kind: 'settling', received, settlesAt: at(60) })),
  amount.map((refund): SaleReport => ({ kind: 'reversed', causer: 'buyer', refund })),
  fc.bigInt({ min: 1n, max: 1_000n }).map((price): SaleReport => ({ kind: 'repriced', price })),
)

describe('the books', () => {
  it('show the money in the account where the market reports it', () => {
    expect(positionOf(saleAfter(settling))).toEqual({ settling: -950n, free: 0n, fees: -50n, sales: 1_000n })
    expect(positionOf(saleAfter(paid))).toEqual({ settling: 0n, free: -950n, fees: -50n, sales: 1_000n })
    expect(positionOf(saleAfter(settling, reversed))).toEqual({
      settling: 0n,
      free: -200n,
      fees: 0n,
      sales: 200n,
    })
    expect(positionOf(saleAfter(settling, cancelled))).toEqual({
      settling: 0n,
      free: 0n,
      fees: 0n,
      sales: 0n,
    })
  })

  it('post only the amounts that changed', () => {
    const moved = (before: Sale, now: Sale) => movementsBetween(positionOf(before), positionOf(now))
    expect(moved(LISTED, saleAfter(settling))).toEqual([
      { debit: 'settling', credit: 'sales', amount: 950n },
      { debit: 'fees', credit: 'sales', amount: 50n },
    ])
    expect(moved(saleAfter(settling), saleAfter(settling, paid))).toEqual([
      { debit: 'free', credit: 'settling', amount: 950n },
    ])
    expect(moved(saleAfter(paid), saleAfter(paid))).toEqual([])
  })

  it('equal the position of the sale after any reports in any order', () => {
    fc.assert(
      fc.property(fc.array(report, { maxLength: 10 }), (reports) => {
        const balance = { settling: 0n, free: 0n, fees: 0n, sales: 0n }
        let sale = LISTED
        for (const each of reports) {
          const changed = judgeSale(sale, each, at(1))
          if (changed.state !== sale.state) expect(SALE_EDGES[sale.state]).toContain(changed.state)
          for (const { debit, credit, amount: moved } of movementsBetween(
            positionOf(sale),
            positionOf(changed),
          )) {
            expect(moved > 0n).toBe(true)
            balance[debit] -= moved
            balance[credit] += moved
          }
          sale = changed
        }
        expect(balance).toEqual(positionOf(sale))
        expect(Object.values(balance).reduce((sum, each) => sum + each, 0n)).toBe(0n)
      }),
    )
  })
})
