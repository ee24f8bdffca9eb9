/** Some seeds of the sales. In full, and with each defect planted: `npm run prove -- sales`. */
import { expect, it } from 'vitest'
import { misplacedOf } from '../attacks/without.ts'
import { SALE_DEFECTS } from './planted-defects.ts'
import { runSales } from './run.ts'

it('keeps every promise of sales, whatever is lost, killed or lied about', async () => {
  for (const seed of [1, 2, 3]) {
    const { violation, offers } = await runSales({ seed })
    expect(violation, `seed ${seed}`).toBeUndefined()
    expect(offers).toBeGreaterThan(0)
  }
})

it('does the same for the same seed', async () => {
  const [one, again, other] = [
    await runSales({ seed: 4 }),
    await runSales({ seed: 4 }),
    await runSales({ seed: 5 }),
  ]
  expect(again.hash).toBe(one.hash)
  expect(other.hash).not.toBe(one.hash)
})

it('has each planted defect at a place that is in the sources', () => {
  expect(misplacedOf(Object.values(SALE_DEFECTS).flat())).toEqual([])
})
