import { expect, it } from 'vitest'
import { answers, json, start } from './test-flow.ts'
import { inventory, item, standOf } from './test-states.ts'

it('items for an amount are searched for in slices, and an aborted search reports nothing', async () => {
  const items = Array.from({ length: 3_000 }, (_, index) => item(String(index), 1_000 + 2 * index))
  const page = start({ ...answers, '/api/inventory': () => json(inventory(items)) })
  await page.pass(0)
  // Even prices never add up to an odd amount, so the search cannot end early.
  page.flow.dispatch({ kind: 'amountAsked', amount: 30_001 })
  await page.pass(0)
  expect(standOf(page.flow.state()).aim?.search.status).toBe('searching')
  page.flow.dispatch({ kind: 'selectionCleared' })
  await page.pass(1_000)
  expect(standOf(page.flow.state())).toMatchObject({ aim: null, selection: [] })
  page.flow.dispatch({ kind: 'amountAsked', amount: 30_001 })
  await page.pass(5_000)
  const { aim } = standOf(page.flow.state())
  expect(aim?.search).toMatchObject({ status: 'done', proposal: { kind: 'found', total: 30_002 } })
})
