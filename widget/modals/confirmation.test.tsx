import { expect, it } from 'vitest'
import type { Bot, Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { item, openedOn, payment, play, toggle, USER_LINK, withItems } from '../flow/test-states.ts'
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
/** The hold of an open offer ends earlier if the shopper accepts before the last second. */
const LATEST = en.atTheLatest(HELD_UNTIL)

const REQUEST = { game: 'cs', items: ['1'], quoteId: null } as const

/** Returns the dialog while the offer is being created. */
function creating({
  isOnline,
  isSlow,
  attempt = 1,
}: {
  isOnline: boolean
  isSlow: boolean
  attempt?: number
}): string {
  const state = {
    ...openedOn('created'),
    isOnline,
    modal: { kind: 'creating', request: REQUEST, attempt, isSlow } as const,
  }
  return markup(<Confirmation state={state} payment={payment()} flow={FLOW} />)
}

it.each([
  ['online', { isOnline: true, isSlow: false }, en.creatingText, en.offline],
  [
    'online, after a call without an answer',
    { isOnline: true, isSlow: false, attempt: 2 },
    en.creatingAgain,
    en.creatingText,
  ],
  ['online, that it waits for Steam', { isOnline: true, isSlow: false }, en.timeUnknownText, en.offline],
  ['offline', { isOnline: false, isSlow: false }, en.offline, en.creatingText],
  [
    'offline, only that the items are safe',
    { isOnline: false, isSlow: false },
    en.itemsSafe,
    en.timeUnknownText,
  ],
  ['offline for long', { isOnline: false, isSlow: true }, en.creatingSlow, en.creatingText],
])('while an offer is requested, the dialog says what is known: %s', (_, given, shownText, absentText) => {
  const html = creating(given)
  expect(html).toContain(shownText)
  expect(html).not.toContain(absentText)
})

it('D-9 if nothing will be held, the dialog says so with the amount while the offer is open', () => {
  const markupWith = (change: Partial<Payment>): string =>
    markup(<PaymentMoney payment={payment({ amount: 1000, itemCount: 1, ...change })} />)
  const html = markupWith({ status: 'pending' })
  expect(html).toContain(`<dt>${en.now}</dt><dd>$10.00</dd>`)
  expect(html).toContain(en.nothingHeld)
  expect(markupWith({ status: 'pending', heldAmount: 400, heldUntil: UNTIL })).not.toContain(en.nothingHeld)
  expect(markupWith({ status: 'succeeded' })).toBe('')
})

it.each([
  ['en', { status: 'pending' }, ['Now, at least', '$15.00', 'On Dec 4, up to', '$5.00']],
  ['en', { status: 'pending', heldAmount: 2000 }, ['On Dec 4 or earlier', '$20.00']],
  // Credit on release depends on no limit, so its amount cannot change.
  ['en', { status: 'pending', heldAmount: 2000, heldBy: 'release' }, ['On December 4', '$20.00']],
  ['en', { status: 'succeeded' }, ['Now', '$15.00', 'On December 4', '$5.00']],
  ['ru', { status: 'pending' }, ['Сейчас, не менее', '15,00 $', '4 дек., не более', '5,00 $']],
  ['ru', { status: 'pending', heldAmount: 2000 }, ['4 дек. или раньше', '20,00 $']],
  ['ru', { status: 'succeeded' }, ['Сейчас', '15,00 $', '4 декабря', '5,00 $']],
] as const)('D-9 the rows of the money say what can still change: %s %j', (language, change, rows) => {
  const held = { amount: 2000, itemCount: 1, heldAmount: 500, heldUntil: UNTIL, heldBy: 'limit' } as const
  const html = markup(<PaymentMoney payment={payment({ ...held, ...change })} />, language)
  const shownText = [...html.matchAll(/<d[td]>([^<]*)/g)].map(([, text = '']) =>
    text.replaceAll('\u00a0', ' '),
  )
  expect(shownText).toEqual(rows)
})

it.each([
  ['more now than expected', { heldAmount: 300 }, en.moreNow('$2.00')],
  ['all of it now, which is more than expected', { heldAmount: 0 }, en.moreNow('$5.00')],
  ['less now than expected', { heldAmount: 800, heldBy: 'limit' }, en.lessNow('$3.00')],
  ['as much as expected', { heldAmount: 500 }, null],
  ['less, but credited on release', { heldAmount: 1000, heldBy: 'release' }, null],
] as const)(
  'D-9 the open offer says whether it brings more or less now than expected: %s',
  (_, change, shownText) => {
    const hold = { atOnce: 500, days: 8, until: UNTIL }
    const { state } = play(withItems([{ ...item('1', 1000), iconUrl: PICTURE }], { hold }), toggle('1'))
    const open = { status: 'pending', itemCount: 1, amount: 1000, heldUntil: UNTIL, ...change } as const
    const dialogWith = (items: Payment['items']): string =>
      markup(
        <Confirmation
          state={{ ...state, modal: { kind: 'confirming' } }}
          payment={payment({ ...open, ...(change.heldAmount === 0 && { heldUntil: null }), items })}
          flow={FLOW}
        />,
      )
    const html = dialogWith([{ name: 'Item 1', price: 1000, count: 1 }])
    const changes = [...html.matchAll(/That’s \$[\d.]+ (?:more|less) now/g)]
    expect(changes).toHaveLength(shownText === null ? 0 : 1)
    expect(html).toContain(shownText ?? '')
    // A forecast for other picks says nothing about this offer.
    expect(dialogWith([{ name: 'Item 2', price: 1000, count: 1 }])).not.toContain('than expected')
  },
)

it.each(['en', 'ru'] as const)('an open offer says that its total is fixed, in %s', (language) => {
  const money = (status: Payment['status'], held: Partial<Payment>): string =>
    markup(<PaymentMoney payment={payment({ status, amount: 2000, itemCount: 1, ...held })} />, language)
  const held = { heldAmount: 500, heldUntil: UNTIL }
  for (const each of [{}, held]) expect(money('pending', each)).toContain(modalTexts[language].amountFixed)
  // Once the offer is accepted, nothing can change.
  expect(money('succeeded', held)).not.toContain(modalTexts[language].amountFixed)
})

it.each(['en', 'ru'] as const)(
  'the last step asks to compare the items before confirming, in %s',
  (language) => {
    const { phoneHint } = modalTexts[language]
    const state = { ...openedOn('pending'), modal: { kind: 'confirming' } as const }
    const html = markup(
      <Confirmation state={state} payment={payment({ status: 'pending' })} flow={FLOW} />,
      language,
    )
    expect(html).toContain(phoneHint)
    expect(phoneHint).toMatch(/Compare its items with the ones you picked, then confirm|Сверьте предметы/)
  },
)

const PICTURE = 'https://img.test/1.png'

/** Returns the rows of the open offer's list, and whether they have pictures. One item of 10 dollars is picked. */
function offerList(change: Partial<Payment>): { rows: (string | undefined)[]; hasPictures: boolean } {
  const picked = { ...item('1', 1000, 'AK-47 | Redline (Field-Tested)'), iconUrl: PICTURE }
  const { state } = play(withItems([{ ...picked, wearCategory: 'WearCategory2' }]), toggle('1'))
  const shownState = { ...state, modal: { kind: 'confirming' } as const }
  const given = payment({ status: 'pending', itemCount: 1, amount: 1000, ...change })
  const html = markup(<Confirmation state={shownState} payment={given} flow={FLOW} />)
  const [, list = ''] = new RegExp(`${en.itemsToGive}</p><ul(.*?)</ul>`).exec(html) ?? []
  const rows = [...list.matchAll(/<li.*?<\/li>/g)].map(([row]) =>
    row
      .replace(/<[^>]+>/g, ' ')
      .replace(/ +/g, ' ')
      .trim(),
  )
  return { rows, hasPictures: list.includes(PICTURE) }
}

const OFFERED = { name: 'M4A4 | Howl (Factory New)', price: 500 }

it.each<[string, Partial<Payment>, string[], boolean]>([
  [
    'the picks, with their pictures, if the server lists no items',
    {},
    ['AK-47 | Redline Field-Tested $10.00'],
    true,
  ],
  [
    'the picks if the server lists the same items',
    { items: [{ name: 'AK-47 | Redline (Field-Tested)', price: 1000, count: 1 }] },
    ['AK-47 | Redline Field-Tested $10.00'],
    true,
  ],
  [
    'what the server lists if the picks differ, such as after a reload',
    { itemCount: 2, items: [{ ...OFFERED, count: 2 }] },
    ['M4A4 | Howl Factory New 2 × $5.00'],
    false,
  ],
])('the open offer lists %s', (_, change, rows, hasPictures) => {
  expect(offerList(change)).toEqual({ rows, hasPictures })
})

it('after a reload the list has the pictures that the tab kept', () => {
  const storedItem = {
    ...item('1', 500, OFFERED.name),
    iconUrl: PICTURE,
    wearCategory: 'WearCategory0',
  } as const
  const picks = { storeName: 'Demo', tradeUrl: USER_LINK, game: 'cs', items: [storedItem] } as const
  const list = (count: number): string => {
    const open = payment({ status: 'pending', itemCount: count, amount: 500, items: [{ ...OFFERED, count }] })
    const state = { ...openedOn('pending'), offeredPicks: picks, modal: { kind: 'confirming' } as const }
    return markup(<Confirmation state={state} payment={open} flow={FLOW} />)
  }
  expect(list(1)).toContain(PICTURE)
  expect(list(1)).toContain('M4A4 | Howl<')
  // The offer takes two of the items, and the tab kept one.
  expect(list(2)).not.toContain(PICTURE)
})

const BOT: Bot = { name: 'Bot #1', profileUrl: 'https://p/', avatarUrl: 'https://a/', level: 47 }

it.each([
  ['en', 'Member since March\u00a09, 2011'],
  ['ru', 'В Steam с 9\u00a0марта 2011 г.'],
] as const)(
  'the dialog shows the bot’s level and the day on which it joined Steam, in %s',
  (language, day) => {
    const html = markup(<BotCheck bot={{ ...BOT, memberSince: '2011-03-09' }} />, language)
    const { scamWarning, botLevel } = modalTexts[language]
    for (const shownText of [day, botLevel(47), scamWarning]) expect(html).toContain(shownText)
  },
)

it('if the bot’s profile hides the joining day, the dialog and its warning show only the bot’s level', () => {
  const html = markup(<BotCheck bot={BOT} />)
  expect(html).toContain(en.botLevel(47))
  expect(html).toContain(en.scamWarningLevel)
  expect(html).not.toMatch(/member since/i)
})

it.each<[string, Partial<Payment>, string]>([
  [
    'a part by the limit, while the offer is open',
    { status: 'pending', heldAmount: 1000, heldBy: 'limit' },
    `${en.heldByLimitAtMost('$10.00', LATEST)}<`,
  ],
  [
    'all of it by the limit, while the offer is open',
    { status: 'pending', heldAmount: 2000, heldBy: 'limit' },
    `${en.heldByLimitAtMost('$20.00', LATEST)}<`,
  ],
  [
    'all of it on release, while the offer is open',
    { status: 'pending', heldAmount: 2000, heldBy: 'release' },
    `${en.heldUntil('$20.00', LATEST)}<`,
  ],
  [
    'a part by the limit, after the items arrived',
    { status: 'succeeded', heldAmount: 500, heldBy: 'limit' },
    `${en.heldByLimit('$5.00', HELD_UNTIL)}<`,
  ],
  [
    'all of it by the limit, after the items arrived',
    { status: 'succeeded', heldAmount: 2000, heldBy: 'limit' },
    `${en.heldByLimit('$20.00', HELD_UNTIL)}<`,
  ],
  [
    'all of it, from an older server that names no rule',
    { status: 'pending', heldAmount: 2000 },
    `${en.heldUntil('$20.00', LATEST)}<`,
  ],
])('D-9 the reason for held money names the rule and what is certain: %s', (_, change, why) => {
  const held = { amount: 2000, itemCount: 1, heldUntil: UNTIL, ...change }
  const html = markup(<PaymentMoney payment={payment(held)} />)
  expect(html).toContain(why)
})
