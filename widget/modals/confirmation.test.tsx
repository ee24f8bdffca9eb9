import { expect, it } from 'vitest'
import type { Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { having, item, openedOn, payment, toggle, withItems } from '../flow/test-states.ts'
import { en } from '../i18n/en.ts'
import { formatDate } from '../i18n/format.ts'
import { markup } from '../test-markup.tsx'
import { Confirmation } from './confirmation.tsx'
import { PaymentMoney } from './money.tsx'

const FLOW: Flow = {
  state: () => openedOn('created'),
  dispatch: () => {},
  subscribe: () => () => {},
}

const UNTIL = '2026-12-04T12:00:00.000Z'
const HELD_UNTIL = formatDate(UNTIL, 'en')

const REQUEST = { game: 'cs', items: ['1'], quoteId: null } as const

/** Returns the dialog while the offer is being created. */
function creating({ online, slow }: { online: boolean; slow: boolean }): string {
  const state = {
    ...openedOn('created'),
    online,
    modal: { kind: 'creating', request: REQUEST, attempt: 0, slow } as const,
  }
  return markup(<Confirmation state={state} payment={payment()} flow={FLOW} />)
}

it.each([
  ['online', { online: true, slow: false }, en.creatingText, en.offline],
  ['online and waits for Steam', { online: true, slow: false }, en.timeUnknownText, en.offline],
  ['offline', { online: false, slow: false }, en.offline, en.creatingText],
  ['offline, which is not Steam’s fault,', { online: false, slow: false }, en.itemsSafe, en.timeUnknownText],
  ['offline for long', { online: false, slow: true }, en.creatingSlow, en.creatingText],
])('while an offer is requested, a shopper who is %s reads what is known', (_, given, said, unsaid) => {
  const html = creating(given)
  expect(html).toContain(said)
  expect(html).not.toContain(unsaid)
})

it('the offer says that the amount is credited at once, if the page only called it expected', () => {
  const hold = { atOnce: 5000, days: 8, until: '2026-12-04T00:00:00.000Z' }
  const { state } = having(withItems([item('1')], { hold }), toggle('1'), { kind: 'payPressed' })
  const shown = (change: Partial<Payment>): string =>
    markup(
      <Confirmation state={state} payment={payment({ amount: 200, itemCount: 1, ...change })} flow={FLOW} />,
    )
  expect(shown({ status: 'pending' })).toContain(`${en.confirmSummaryNow(1, '$2.00')}</p>`)
  expect(shown({})).toContain(`${en.confirmSummary(1, '$2.00')}</p>`)
})

it.each<[string, Partial<Payment>, string]>([
  ['more can come now', { status: 'pending', heldAmount: 1000 }, en.heldInPart(HELD_UNTIL)],
  ['all of it comes later', { status: 'pending', heldAmount: 2000 }, en.heldUntil('$20.00', HELD_UNTIL)],
  ['the amounts are final', { status: 'succeeded', heldAmount: 500 }, en.heldUntil('$5.00', HELD_UNTIL)],
])('D-9 the reason for a split promises only what is certain: %s', (_, change, why) => {
  const held = { amount: 2000, itemCount: 1, heldUntil: UNTIL, ...change }
  expect(markup(<PaymentMoney payment={payment(held)} />)).toContain(why)
})
