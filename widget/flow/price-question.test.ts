/** The question why an item has its price. */
import { expect, it } from 'vitest'
import type { PriceReason } from '../../contract/widget-api.ts'
import type { FlowState } from './state.ts'
import { answers, hangs, json, problem, start } from './test-flow.ts'
import { item, play, standOf, withItems } from './test-states.ts'

const REASON: PriceReason = {
  price: 200,
  currency: 'USD',
  rate: null,
  said: [{ source: 'Skinport', ageSeconds: 60 }],
}

const question = (state: FlowState) => standOf(state).question

it('the page asks once, with the quote, for the reason behind a price, and keeps the answer', async () => {
  const page = start({ ...answers, '/api/price': () => json(REASON) })
  await page.pass(0)
  page.flow.dispatch({ kind: 'priceQuestioned', id: '2' })
  expect(question(page.flow.state())).toMatchObject({ id: '2', reason: null })
  await page.pass(60_000)
  expect(question(page.flow.state())).toMatchObject({ id: '2', reason: REASON })
  const queries = page
    .callsTo('/api/price')
    .map(({ path }) => new URL(path, 'https://till.example').searchParams)
  expect(queries.map((query) => [query.get('quoteId'), query.get('item')])).toEqual([['quote-1', '2']])
  page.flow.dispatch({ kind: 'priceExplanationClosed' })
  expect(question(page.flow.state())).toBeNull()
})

it('the reason is unknown after a refusal, and another question aborts the earlier one', async () => {
  const page = start({
    ...answers,
    '/api/price': (call, times) => (times === 1 ? hangs(call) : problem(409, 'items_unavailable')),
  })
  await page.pass(0)
  page.flow.dispatch({ kind: 'priceQuestioned', id: '1' })
  await page.pass(0)
  page.flow.dispatch({ kind: 'priceQuestioned', id: '2' })
  await page.pass(0)
  expect(page.callsTo('/api/price')[0]?.signal.aborted).toBe(true)
  expect(question(page.flow.state())).toMatchObject({ id: '2', reason: 'unknown' })
})

it('a question ends at a reload or a change of game, and ignores the answer to another question', () => {
  const { state } = play(withItems(), { kind: 'priceQuestioned', id: '1' })
  expect(question(state)).not.toBeNull()
  expect(question(play(state, { kind: 'reloadPressed' }).state)).toBeNull()
  expect(question(play(state, { kind: 'gameChosen', game: 'rust' }).state)).toBeNull()
  const late = { kind: 'priceExplained', request: 0, reason: REASON } as const
  expect(question(play(state, late).state)).toMatchObject({ reason: null })
})

it('a question about a missing item is ignored, and a price without a quote has an unknown reason', () => {
  expect(question(play(withItems(), { kind: 'priceQuestioned', id: 'gone' }).state)).toBeNull()
  const unquoted = withItems([item('1')], { quoteId: null })
  expect(question(play(unquoted, { kind: 'priceQuestioned', id: '1' }).state)).toMatchObject({
    reason: 'unknown',
  })
})
