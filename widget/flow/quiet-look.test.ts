/** A shopper who comes back from Steam's privacy settings does not have to press a button. */
import { expect, it } from 'vitest'
import { answers, json, problem, start } from './test-flow.ts'
import { inventory, item, standOf } from './test-states.ts'

const HIDDEN = inventory([], { inventoryError: true, inventoryErrorType: 'hidden' })

/** A page whose inventory is hidden. `again` answers its later reads of the inventory. */
async function openHidden(again: () => Response) {
  const page = start({
    ...answers,
    '/api/inventory': (_call, times) => (times === 1 ? json(HIDDEN) : again()),
  })
  await page.pass(0)
  const comeBack = async () => {
    page.flow.returned()
    await page.pass(0)
  }
  return {
    ...page,
    comeBack,
    countLooks: () => page.callsTo('/api/inventory').length,
    stand: () => standOf(page.flow.state()),
  }
}

it('the page looks again each time the shopper comes back, until the items are public', async () => {
  const page = await openHidden(() => json(inventory([item('1')])))
  await page.pass(60_000)
  expect(page.countLooks()).toBe(1)
  await page.comeBack()
  expect(page.callsTo('/api/inventory')[1]?.path).toContain('reload=true')
  expect(page.stand().inventory.status).toBe('ready')
  await page.comeBack()
  expect(page.countLooks()).toBe(2)
})

it('the failure stays on the page until the answer arrives', async () => {
  const page = await openHidden(() => json(HIDDEN))
  page.flow.returned()
  expect(page.stand().inventory).toMatchObject({ status: 'loading', keptFailure: 'hidden' })
  await page.pass(0)
  expect(page.stand().inventory).toEqual({ status: 'error', type: 'hidden' })
})

it.each([
  ['was refused', () => problem(429, 'too_many_looks')],
  ['failed', () => problem(500, 'internal')],
])('the page shows no other failure if the look %s', async (_, answer) => {
  const page = await openHidden(answer)
  await page.comeBack()
  expect(page.stand().inventory).toEqual({ status: 'error', type: 'hidden' })
})

it('the page looks again at most five times, and counts from zero after a press on Try again', async () => {
  const page = await openHidden(() => json(HIDDEN))
  for (let returns = 0; returns < 8; returns += 1) await page.comeBack()
  expect(page.countLooks()).toBe(1 + 5)
  page.flow.dispatch({ kind: 'reloadPressed' })
  await page.pass(0)
  expect(page.countLooks()).toBe(7)
  await page.comeBack()
  expect(page.countLooks()).toBe(8)
})
