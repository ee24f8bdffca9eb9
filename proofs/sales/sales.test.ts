/** Some seeds of the sales. In full, and with each defect planted: `npm run prove -- sales`. */
import { expect, it } from 'vitest'
import { misplacedOf } from '../attacks/without.ts'
import { SALE_DEFECTS } from './planted-defects.ts'
import { runSales } from './run.ts'

it.each([1, 2, 3])('keep every promise, whatever is lost, killed or lied about: seed %i', async (seed) => {
  const { violation, offers } = await runSales({ seed })
  expect(violation).toBeUndefined()
  expect(offers).toBeGreaterThan(0)
})

it('do the same for the same seed', async () => {
  const [one, again, other] = [
    await runSales({ seed: 4 }),
    await runSales({ seed: 4 }),
    await runSales({ seed: 5 }),
  ]
  expect(again.hash).toBe(one.hash)
  expect(other.hash).not.toBe(one.hash)
})

it('have each planted defect at a place that is in the sources', () => {
  expect(misplacedOf(Object.values(SALE_DEFECTS).flat())).toEqual([])
})
