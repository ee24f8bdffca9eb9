/** “Pick for me”, and the progress towards its amount, after a search. */
import { expect, it } from 'vitest'
import type { Flow } from '../flow/runner.ts'
import { item, loaded, payment, play, standOf, withItems } from '../flow/test-states.ts'
import { en } from '../i18n/en.ts'
import { markup } from '../test-markup.tsx'
import { PickForMe } from './pick-for-me.tsx'

/**
 * Returns the text after a search that found these of the items 1, 2 and 3, which cost 2, 20 and 25 dollars. The deposit
 * takes 3 to 45 dollars.
 */
function found(amount: number, ids: string[], total: number): string {
  const limits = { maxAmount: 4_500 }
  const items = [item('1', 200), item('2', 2_000), item('3', 2_500)]
  const asked = play(withItems(items), loaded(limits), { kind: 'amountAsked', amount }).state
  const { state } = play(asked, {
    kind: 'itemsProposed',
    request: asked.nextRequest - 1,
    proposal: { kind: 'found', ids, total },
  })
  const flow: Flow = { state: () => state, dispatch: () => {}, subscribe: () => () => {} }
  const html = markup(<PickForMe stand={standOf(state)} payment={payment(limits)} flow={flow} />)
  return html.replace(/<[^>]+>/g, ' ').replace(/[ \u00a0]+/g, ' ')
}

it('says how much more than the amount is picked', () => {
  expect(found(2_000, ['2'], 2_000)).toContain(en.pickExact)
  const text = found(1_900, ['2'], 2_000)
  expect(text).toContain(en.pickOver('$1.00'))
  expect(text).toContain(`${en.pickTarget} ${en.targetReached('$20.00', '$19.00')}`)
})

it('says that an amount below the minimum was raised, and does not call the minimum the shopper’s amount', () => {
  const text = found(1, ['2'], 2_000)
  expect(text).toContain(en.pickLeast('$3.00', '$20.00'))
  expect(text).toContain(`${en.pickLeastTarget} ${en.targetReached('$20.00', '$3.00')}`)
})

it('says that an amount above the maximum was lowered, and does not call the maximum the shopper’s amount', () => {
  const text = found(50_000, ['2', '3'], 4_500)
  expect(text).toContain(en.pickMost('$45.00', '$45.00'))
  expect(text).toContain(`${en.pickMostTarget} ${en.targetReached('$45.00', '$45.00')}`)
})
