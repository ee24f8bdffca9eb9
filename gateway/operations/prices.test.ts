import { afterEach, beforeEach, expect, it } from 'vitest'
import { saveRate } from '../pricing/store.ts'
import { type StockedTill, startStockedTill } from '../testing/inventory.ts'
import { operatorOf } from '../testing/operator.ts'
import { freezePrice, showPrice } from './prices.ts'

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
