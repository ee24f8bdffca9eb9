import { expect, it } from 'vitest'
import type { Bot, Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { openedOn, payment } from '../flow/test-states.ts'
import { en } from '../i18n/en.ts'
import { formatDate } from '../i18n/format.ts'
import { modalTexts } from '../i18n/modals.ts'
import { markup } from '../test-markup.tsx'
import { BotCheck } from './bot-check.tsx'
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

it('D-9 an open offer that holds nothing says so, with the amount', () => {
  const shown = (change: Partial<Payment>): string =>
    markup(<PaymentMoney payment={payment({ amount: 1000, itemCount: 1, ...change })} />)
  const html = shown({ status: 'pending' })
  expect(html).toContain(`<dt>${en.now}</dt><dd>$10.00</dd>`)
  expect(html).toContain(en.nothingHeld)
  expect(shown({ status: 'pending', heldAmount: 400, heldUntil: UNTIL })).not.toContain(en.nothingHeld)
  expect(shown({ status: 'succeeded' })).toBe('')
})

const BOT: Bot = { name: 'Bot #1', profileUrl: 'https://p/', avatarUrl: '', level: 47 }

it.each([
  ['en', 'Member since March 9, 2011'],
  ['ru', 'В Steam с 9 марта 2011 г.'],
] as const)('the bot shows its level and the day on which it joined Steam, in %s', (language, day) => {
  const html = markup(<BotCheck bot={{ ...BOT, memberSince: '2011-03-09' }} />, language)
  const { scamWarning, botLevel } = modalTexts[language]
  for (const said of [day, botLevel(47), scamWarning]) expect(html).toContain(said)
})

it('a bot whose profile hides that day shows only its level, and the warning does not name the day', () => {
  const html = markup(<BotCheck bot={BOT} />)
  expect(html).toContain(en.botLevel(47))
  expect(html).toContain(en.scamWarningLevel)
  expect(html).not.toMatch(/member since/i)
})

it.each<[string, Partial<Payment>, string]>([
  [
    'a part by the limit, and more can come now',
    { status: 'pending', heldAmount: 1000, heldBy: 'limit' },
    `${en.heldByLimit('$10.00', HELD_UNTIL)} ${en.mayGrow}<`,
  ],
  [
    'all of it by the limit, and some can come now',
    { status: 'pending', heldAmount: 2000, heldBy: 'limit' },
    `${en.heldByLimit('$20.00', HELD_UNTIL)} ${en.mayGrow}<`,
  ],
  [
    'all of it by a store that waits',
    { status: 'pending', heldAmount: 2000, heldBy: 'release' },
    `${en.heldUntil('$20.00', HELD_UNTIL)}<`,
  ],
  [
    'a part by the limit, finally',
    { status: 'succeeded', heldAmount: 500, heldBy: 'limit' },
    `${en.heldByLimit('$5.00', HELD_UNTIL)}<`,
  ],
  [
    'all of it by the limit, finally',
    { status: 'succeeded', heldAmount: 2000, heldBy: 'limit' },
    `${en.heldByLimit('$20.00', HELD_UNTIL)}<`,
  ],
  [
    'all of it, by an older server',
    { status: 'pending', heldAmount: 2000 },
    `${en.heldUntil('$20.00', HELD_UNTIL)}<`,
  ],
])('D-9 the reason for held money names the rule and what is certain: %s', (_, change, why) => {
  const held = { amount: 2000, itemCount: 1, heldUntil: UNTIL, ...change }
  const html = markup(<PaymentMoney payment={payment(held)} />)
  expect(html).toContain(why)
  // The rule, never what remains of it.
  expect(html).not.toMatch(/limit of|remaining/)
})
