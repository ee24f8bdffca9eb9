import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_RULES, type ItemToPrice, listingPrice, netOf } from './price-policy.ts'

const DAY_MS = 86_400_000
const item = (change: Partial<ItemToPrice> = {}): ItemToPrice => ({
  costMinor: 1_000n,
  mayLose: false,
  lowestMinor: 1_500n,
  mostMinor: null,
  knownMinor: 1_500n,
  onSaleMs: 0,
  feeBp: 0n,
  ...change,
})
const price = (change: Partial<ItemToPrice> = {}, rules = {}) =>
  listingPrice(item(change), { ...DEFAULT_RULES, ...rules })
const priceOf = (minor: bigint) => ({ kind: 'price', minor })

describe('a listing', () => {
  it('undercuts the lowest price of others by a step', () => {
    expect(price()).toEqual(priceOf(1_499n))
    expect(price({}, { stepMinor: 10n })).toEqual(priceOf(1_490n))
  })

  it('becomes cheaper each day, down to a limit', () => {
    expect(price({ onSaleMs: 3 * DAY_MS })).toEqual(priceOf(1_454n))
    expect(price({ onSaleMs: 60 * DAY_MS })).toEqual(priceOf(1_349n))
  })

  it('does not exceed its upper limit, unless a floor is higher', () => {
    expect(price({ lowestMinor: null, mostMinor: 1_300n })).toEqual(priceOf(1_300n))
    expect(price({ lowestMinor: null, mostMinor: 1_600n })).toEqual(priceOf(1_499n))
    expect(price({ lowestMinor: null, mostMinor: 900n })).toEqual(priceOf(1_200n))
  })

  it('is never below the item’s cost plus the margin, unless the operator allows a loss', () => {
    expect(price({ costMinor: 1_800n })).toEqual(priceOf(1_800n))
    expect(price({ costMinor: 1_800n }, { marginBp: 555n })).toEqual(priceOf(1_900n))
    expect(price({ costMinor: 1_800n, mayLose: true })).toEqual(priceOf(1_499n))
  })

  it('covers the item’s cost after the fee of the market', () => {
    expect(price({ costMinor: 1_800n, feeBp: 500n })).toEqual(priceOf(1_895n))
    expect([netOf(1_895n, 500n), netOf(1_894n, 500n)]).toEqual([1_800n, 1_799n])
    expect(price({ costMinor: 1_800n, feeBp: 500n, mayLose: true })).toEqual(priceOf(1_499n))
  })

  it('is never below the vault’s floor, whatever the market and the operator say', () => {
    expect(price({ lowestMinor: 100n, mayLose: true })).toEqual(priceOf(1_200n))
  })

  it('needs a price from the vault’s own source, and also a cost unless the operator allows a loss', () => {
    expect(price({ knownMinor: null })).toEqual({ kind: 'none', because: 'no_price' })
    expect(price({ costMinor: null })).toEqual({ kind: 'none', because: 'no_cost' })
    expect(price({ costMinor: null, mayLose: true })).toEqual(priceOf(1_499n))
  })

  it('is never below the vault’s floor or, unless a loss is allowed, the item’s cost, whatever the numbers', () => {
    const amount = fc.bigInt({ min: 1n, max: 100_000_000n })
    const priced = fc.record({
      costMinor: amount,
      mayLose: fc.boolean(),
      lowestMinor: fc.option(amount),
      mostMinor: fc.option(amount),
      knownMinor: amount,
      onSaleMs: fc.integer({ min: 0, max: 400 * DAY_MS }),
      feeBp: fc.bigInt({ min: 0n, max: 3_000n }),
    })
    fc.assert(
      fc.property(priced, (each) => {
        const verdict = listingPrice(each, DEFAULT_RULES)
        if (verdict.kind !== 'price') throw new Error('the item got no price')
        expect(verdict.minor * 10_000n >= each.knownMinor * DEFAULT_RULES.floorBp).toBe(true)
        expect(each.mayLose || netOf(verdict.minor, each.feeBp) >= each.costMinor).toBe(true)
      }),
    )
  })
})
