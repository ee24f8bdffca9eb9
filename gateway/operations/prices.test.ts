import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Verdict } from '../pricing/coverage.ts'
import { savePrices, saveRate } from '../pricing/store.ts'
import { type StockedTill, setPrices, startStockedTill } from '../testing/inventory.ts'
import { operatorOf } from '../testing/operator.ts'
import { blockPrice, freezePrice, overridePrice, priceCoverage, showPrice } from './prices.ts'

let till: StockedTill
beforeEach(async () => {
  till = await startStockedTill()
})
afterEach(() => till.close())

it.each([
  ['an item', 'Knife'],
  ['a whole game', null],
])('a second freeze of %s keeps the moment of the first, so its prices still count', async (_, item) => {
  const operator = operatorOf(till)
  const saveFreshRate = () =>
    saveRate(till.db, 'fixed', { currency: 'USD', perUsd: '1', asOf: till.clock.now() })
  const readVerdict = async () => {
    const answer = await showPrice(operator, { game: 'cs', item: 'Knife' })
    return answer.kind === 'done' ? answer.data.verdict : answer
  }
  await saveFreshRate()
  const first = await freezePrice(operator, { game: 'cs', item })
  till.clock.advance(7 * 3_600_000)
  await saveFreshRate()
  expect(await readVerdict()).toBe('accepted')
  const second = await freezePrice(operator, { game: 'cs', item })
  expect(second).toMatchObject({ kind: 'unchanged', data: first.kind === 'done' ? first.data : {} })
  expect(await readVerdict()).toBe('accepted')
})

describe('the price of a phase', () => {
  const DOPPLER = '★ Karambit | Doppler (Factory New)'
  const RUBY = `${DOPPLER} [Ruby]`
  /** A dollar in millionths. */
  const USD = 1_000_000n

  beforeEach(async () => {
    await setPrices(till, { [DOPPLER]: 100n * USD, [RUBY]: 400n * USD })
    await saveRate(till.db, 'fixed', { currency: 'USD', perUsd: '1', asOf: till.clock.now() })
  })
  const show = async (item: string) => {
    const answer = await showPrice(operatorOf(till), { game: 'cs', item })
    return answer.kind === 'done' ? answer.data : answer
  }
  const countOf = async (verdict: Verdict) => {
    const answer = await priceCoverage(operatorOf(till), 'cs')
    return answer.kind === 'done' ? answer.data.bands.reduce((sum, band) => sum + band[verdict], 0) : answer
  }

  it('is its own, or else that of the market name', async () => {
    expect(await show(RUBY)).toMatchObject({
      verdict: 'accepted',
      worthUsdMicros: 400n * USD,
      pricedAs: RUBY,
    })
    expect(await show(`${DOPPLER} [Phase 3]`)).toMatchObject({
      verdict: 'accepted',
      worthUsdMicros: 100n * USD,
      pricedAs: DOPPLER,
    })
    expect(await show('Knife [Ruby]')).toMatchObject({ verdict: 'no_price', pricedAs: 'Knife [Ruby]' })
  })

  it('is blocked with the market name', async () => {
    const acceptedBefore = Number(await countOf('accepted'))
    await blockPrice(operatorOf(till), { game: 'cs', item: DOPPLER })
    expect(await show(RUBY)).toMatchObject({
      verdict: 'blocked',
      unavailable: 'noPrice',
      holds: [{ item: DOPPLER, hold: 'blocked' }],
    })
    expect(await countOf('blocked')).toBe(2)
    expect(await countOf('accepted')).toBe(acceptedBefore - 2)
  })

  it('follows a price for the market name, unless the phase has a hold of its own', async () => {
    await overridePrice(
      { ...operatorOf(till), reason: 'pumped' },
      { game: 'cs', item: DOPPLER, usdMicros: 50n * USD },
    )
    expect(await show(RUBY)).toMatchObject({
      verdict: 'accepted',
      worthUsdMicros: 50n * USD,
      pricedAs: DOPPLER,
      holds: [{ item: DOPPLER, hold: 'override' }],
    })
    await blockPrice(operatorOf(till), { game: 'cs', item: RUBY })
    expect(await show(RUBY)).toMatchObject({ verdict: 'blocked', holds: [{ item: RUBY, hold: 'blocked' }] })
  })

  it('is blocked by a pattern that covers only phases, whatever the price for the market name', async () => {
    const operator = { ...operatorOf(till), reason: 'pumped' }
    await blockPrice(operator, { game: 'cs', item: '* [Ruby]' })
    const blocked = { verdict: 'blocked', unavailable: 'noPrice', holds: [{ item: '* [Ruby]' }] }
    expect(await show(RUBY)).toMatchObject(blocked)
    await overridePrice(operator, { game: 'cs', item: DOPPLER, usdMicros: 50n * USD })
    expect(await show(RUBY)).toMatchObject(blocked)
    expect(await countOf('blocked')).toBe(1)
  })

  it('is that of the market name if its own does not count, also in the coverage', async () => {
    const acceptedBefore = Number(await countOf('accepted'))
    const neverSold = { popularity: 0, popularityKind: 'sales30d', asOf: till.clock.now() } as const
    const ofRuby = { marketHashName: RUBY, usdMicros: 400n * USD, levelUsdMicros: 400n * USD }
    await savePrices(till.db, { source: 'test', game: 'cs' }, [{ ...ofRuby, ...neverSold }])
    expect(await show(RUBY)).toMatchObject({ verdict: 'accepted', pricedAs: DOPPLER })
    expect(await countOf('accepted')).toBe(acceptedBefore)
    // The item Rare, which every stocked till has.
    expect(await countOf('not_popular')).toBe(1)
  })
})
