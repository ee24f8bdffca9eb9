/** Runs the simulation of sales with a few seeds. `npm run prove -- sales` runs many, and plants each defect. */
import { expect, it } from 'vitest'
import { misplacedOf } from '../attacks/without.ts'
import QUICKER_CHANGES from './kill/quicker-changes.json' with { type: 'json' }
import { SALE_DEFECTS } from './planted-defects.ts'
import { TILL_DEFECTS } from './planted-till-defects.ts'
import { runSales } from './run.ts'

it.each([1, 2, 3])('sales keep every promise under losses, kills and lies: seed %i', async (seed) => {
  const { violation, offers } = await runSales({ seed })
  expect(violation).toBeUndefined()
  expect(offers).toBeGreaterThan(0)
})

it('the same seed gives the same trace of sales', async () => {
  const [first, repeated, other] = [
    await runSales({ seed: 4 }),
    await runSales({ seed: 4 }),
    await runSales({ seed: 5 }),
  ]
  expect(repeated.hash).toBe(first.hash)
  expect(other.hash).not.toBe(first.hash)
})

it('the sources contain the place of each planted defect', () => {
  const defects = { ...SALE_DEFECTS, ...TILL_DEFECTS }
  expect(misplacedOf(Object.values(defects).flat())).toEqual([])
})

it('the vault contains the place of each change that shortens its waits', () => {
  expect(misplacedOf(QUICKER_CHANGES)).toEqual([])
})
