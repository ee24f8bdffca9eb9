/** A shopper who comes back from Steam's privacy settings does not have to press a button. */
import { expect, it } from 'vitest'
import { answers, json, problem, start } from './test-flow.ts'
import { inventory, item, standOf } from './test-states.ts'

const HIDDEN = inventory([], { inventoryError: true, inventoryErrorType: 'hidden' })

/** A page whose inventory is hidden, and what it is answered when it looks again. */
async function hidden(again: () => Response) {
  const page = start({
    ...answers,
    '/api/inventory': (_call, times) => (times === 1 ? json(HIDDEN) : again()),
  })
  await page.pass(0)
  const back = async () => {
    page.flow.returned()
    await page.pass(0)
  }
  return {
    ...page,
    back,
    looks: () => page.to('/api/inventory').length,
    stand: () => standOf(page.flow.state()),
  }
}

it('looks again at Steam when the shopper comes back, and shows the items once they are public', async () => {
  const page = await hidden(() => json(inventory([item('1')])))
  await page.pass(60_000)
  expect(page.looks()).toBe(1)
  await page.back()
  expect(page.to('/api/inventory')[1]?.path).toContain('reload=true')
  expect(page.stand().inventory.status).toBe('ready')
  await page.back()
  expect(page.looks()).toBe(2)
})

it('leaves the failure on the page meanwhile', async () => {
  const page = await hidden(() => json(HIDDEN))
  page.flow.returned()
  expect(page.stand().inventory).toMatchObject({ status: 'loading', quietly: 'hidden' })
  await page.pass(0)
  expect(page.stand().inventory).toEqual({ status: 'error', type: 'hidden' })
})

it.each([
  ['was refused', () => problem(429, 'too_many_looks')],
  ['failed', () => problem(500, 'internal')],
])('shows no other failure if the look %s', async (_, answer) => {
  const page = await hidden(answer)
  await page.back()
  expect(page.stand().inventory).toEqual({ status: 'error', type: 'hidden' })
})

it('stops after five looks, until the shopper asks for it', async () => {
  const page = await hidden(() => json(HIDDEN))
  for (let returns = 0; returns < 8; returns += 1) await page.back()
  expect(page.looks()).toBe(1 + 5)
  page.flow.dispatch({ kind: 'reloadPressed' })
  await page.pass(0)
  expect(page.looks()).toBe(7)
  await page.back()
  expect(page.looks()).toBe(8)
})
