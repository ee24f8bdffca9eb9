import { describe, expect, it } from 'vitest'
import { DEPOSIT_STATUSES, type FinalDepositStatus, isFinal } from '../../contract/statuses.ts'
import type { Payment } from '../../contract/widget-api.ts'
import { confirming, loaded, payment, play } from '../flow/test-states.ts'
import { en } from '../i18n/en.ts'
import { formatDate, formatTime } from '../i18n/format.ts'
import type { ErrorText } from '../i18n/rest.ts'
import { STEAM_PAGES } from '../steam-pages.ts'
import { markup } from '../test-markup.tsx'
import { Completed } from './completed.tsx'

/** A status that only a newer server has. */
const UNKNOWN = 'tradeReversed' as FinalDepositStatus
/** A key that every object inherits. */
const INHERITED = 'toString' as FinalDepositStatus

const dialogFor = (outcome: FinalDepositStatus): string =>
  markup(<Completed outcome={outcome} hasAlarm={false} payment={payment({ status: outcome })} />)

it.each<FinalDepositStatus>(['paymentTimeout', UNKNOWN, INHERITED])(
  'A-058 D-1 %s has no icon, title or description, but a sentence and the way back',
  (status) => {
    const { modal } = play(confirming(), loaded({ status })).state
    expect(modal).toEqual({ kind: 'completed', outcome: status, hasAlarm: false })
    const fallback = dialogFor(status)
    expect(fallback).toContain(`aria-label="${en.depositTo('Demo')}"`)
    expect(fallback).toContain(`<p>${en.closedNote}</p>`)
    expect(fallback).toContain(`href="https://store.example/">${en.backToStore}<`)
    expect(fallback).not.toMatch(/outcome-icon|<h2|outcome-description/)
  },
)

it('the link back to the store has the page’s language, if the store’s address has a place for a language', () => {
  const backToStoreUrl = 'https://store.example/?order=7&lang={LANGUAGE}'
  const ended = payment({ status: 'succeeded', backToStoreUrl })
  const html = markup(<Completed outcome="succeeded" hasAlarm={false} payment={ended} />)
  expect(html).toContain('href="https://store.example/?order=7&amp;lang=en"')
})

it('a receipt for support is offered in the page’s language if the server names its address', () => {
  const receiptUrl = '/receipt/7-0123456789abcdef0123456789abcdef'
  const ended = payment({ status: 'succeeded', receiptUrl })
  const html = markup(<Completed outcome="succeeded" hasAlarm={false} payment={ended} />)
  expect(html).toContain(`href="${receiptUrl}?lang=en"`)
  expect(html).toContain(en.receipt)
  expect(dialogFor('succeeded')).not.toContain('/receipt/')
})

it('every outcome has the number of the payment, and that of the offer if there was one', () => {
  for (const outcome of DEPOSIT_STATUSES.filter(isFinal)) {
    const html = (change: Partial<Payment>) =>
      markup(
        <Completed outcome={outcome} hasAlarm={false} payment={payment({ status: outcome, ...change })} />,
      )
    expect(html({})).toContain(`>${en.paymentNumber('17')}<`)
    // The page's `steamTradeId` is the offer's number: the specification fixes that name.
    expect(html({ steamTradeId: '81' })).toContain(`>${en.paymentNumber('17')} · ${en.offerNumber('81')}<`)
  }
})

it('A-055 A-056 the first safety step says what ended the offer', () => {
  const [declined = ''] = en.scamSteps
  expect(dialogFor('tradeDeclined')).toContain(`<li>${declined}</li>`)
  expect(dialogFor('tradeCountered')).toContain(`<li>${en.counteredStep}</li>`)
  expect(dialogFor('tradeCountered')).not.toContain(declined)
})

it('A-023 tradeTimeout shows an icon, a title and a description', () => {
  expect(dialogFor('tradeTimeout')).toMatch(/outcome-icon.*<h2.*outcome-description/s)
})

it('a payment that the store cancelled says so, and does not say that time ran out', () => {
  const ended = payment({ status: 'tradeTimeout', cancelledByStore: true })
  const html = markup(<Completed outcome="tradeTimeout" hasAlarm={false} payment={ended} />)
  expect(html).toContain(en.cancelledByStore.title)
  expect(html).toContain(en.cancelledByStore.description)
  expect(html).not.toContain(en.outcomes.tradeTimeout.title)
})

it('a payment whose items all went back to the sender does not promise their worth', () => {
  const redirectUrl = 'https://store.example/thanks'
  const ended = payment({ status: 'succeeded', takenBack: 'all', amount: 0, storeTold: true, redirectUrl })
  const html = markup(<Completed outcome="succeeded" hasAlarm={false} payment={ended} />)
  expect(html).toContain(en.takenBack.title)
  expect(html).toContain(en.takenBack.description)
  expect(html).toContain('outcome-warn')
  expect(html).toContain(en.redirectSoon)
  expect(html).not.toContain(en.youReceive)
})

it('a payment of which some items went back says why it brings less', () => {
  const html = (change: Partial<Payment>) =>
    markup(
      <Completed
        outcome="succeeded"
        hasAlarm={false}
        payment={payment({ status: 'succeeded', amount: 2_000, ...change })}
      />,
    )
  expect(html({ takenBack: 'some' })).toContain(en.someTakenBack)
  expect(html({ takenBack: 'some' })).toContain(en.outcomes.succeeded.title)
  expect(html({})).not.toContain(en.someTakenBack)
  // The page of an old deposit has no amount.
  expect(html({ takenBack: 'some', amount: null })).toContain(en.someTakenBack)
})

it.each(['cancelledByStore', 'cancelledElsewhere'] as const)(
  'a payment whose offer was cancelled has no clock as its icon (%s)',
  (cancelled) => {
    const icon = (change: Partial<Payment>): string => {
      const ended = payment({ status: 'tradeTimeout', ...change })
      const html = markup(<Completed outcome="tradeTimeout" hasAlarm={false} payment={ended} />)
      return html.slice(html.indexOf('<svg class="outcome-icon'), html.indexOf('<h2'))
    }
    expect(icon({ [cancelled]: true })).toContain('outcome-warn')
    expect(icon({ [cancelled]: true })).not.toBe(icon({}))
  },
)

it('if Steam did not say what became of the offer, the page does not claim that the items are still there', () => {
  const ended = payment({ status: 'tradeTimeout', outcomeUnknown: true })
  const html = markup(<Completed outcome="tradeTimeout" hasAlarm={false} payment={ended} />)
  expect(html).toContain(`>${en.outcomeUnknown.title}</h2>`)
  expect(html).toContain(en.outcomeUnknown.description)
  expect(html).toContain(STEAM_PAGES.offers)
  expect(html).not.toContain('still yours')
})

it.each<[NonNullable<Payment['failedBy']>, ErrorText]>([
  ['phone', en.cancelledOnPhone],
  ['steam', en.failedOnSteam],
])(
  'a trade that failed for another reason than its items does not blame them (%s)',
  (failedBy, { title, description }) => {
    const html = (change: Partial<Payment>) =>
      markup(
        <Completed
          outcome="tradeHasInvalidItems"
          hasAlarm={false}
          payment={payment({ status: 'tradeHasInvalidItems', ...change })}
        />,
      )
    expect(html({ failedBy })).not.toContain('can no longer be traded')
    expect(html({ failedBy })).toContain(`>${title}</h2>`)
    expect(html({ failedBy })).toContain(description)
    expect(html({ failedBy }).includes(en.scamTitle)).toBe(failedBy === 'phone')
    expect(html({})).toContain('can no longer be traded')
  },
)

describe('the dialog after somebody other than the till cancelled the offer', () => {
  const html = (change: Partial<Payment> = {}): string => {
    const ended = payment({ status: 'tradeTimeout', cancelledElsewhere: true, ...change })
    return markup(<Completed outcome="tradeTimeout" hasAlarm={false} payment={ended} />)
  }

  it('says so, and does not say that time ran out', () => {
    expect(html()).toContain(`>${en.cancelledElsewhere.title}</h2>`)
    expect(html()).toContain(en.cancelledElsewhere.description)
    expect(html()).not.toContain(en.outcomes.tradeTimeout.title)
  })

  it('says how to secure the account if that took seconds, and does not suspect the shopper, who cannot cancel', () => {
    const nextOfferAt = new Date(2026, 10, 26, 12, 1, 30).toISOString()
    const atOnce = html({ endedAtOnce: true, nextOfferAt })
    for (const step of en.stolenKeySteps) expect(atOnce).toContain(step)
    expect(atOnce).toContain(`>${en.checkAccountTitle}</h3>`)
    for (const text of [en.declinedByYou, en.stolenKeyTitle]) expect(atOnce).not.toContain(text)
    expect(atOnce.split(en.nextOfferAt(formatTime(nextOfferAt, 'en')))).toHaveLength(2)
  })
})

it('an offer that Steam holds is not called cancelled, because its items may be taken later', () => {
  const ended = { status: 'tradeHasInvalidItems', steamHoldUntil: '2026-12-13T00:00:00.000Z' } as const
  const html = markup(<Completed outcome="tradeHasInvalidItems" hasAlarm={false} payment={payment(ended)} />)
  expect(html).toContain(`>${en.heldBySteamTitle}</h2>`)
  expect(html).not.toContain(en.outcomes.tradeHasInvalidItems.title)
  expect(dialogFor('tradeHasInvalidItems')).toContain(`>${en.outcomes.tradeHasInvalidItems.title}</h2>`)
})

it.each<[FinalDepositStatus, Partial<Payment>]>([
  ['tradeTimeout', {}],
  ['tradeTimeout', { cancelledByStore: true }],
  ['tradeTimeout', { outcomeUnknown: true }],
  ['tradeDeclined', { endedAtOnce: true }],
  ['tradeCountered', {}],
])(
  'if Steam holds the items of an offer that ended as %s (%o), the page does not say that they are still the shopper’s',
  (status, change) => {
    const nextOfferAt = new Date(2026, 10, 26, 12, 1, 30).toISOString()
    const ended = payment({ status, steamHoldUntil: '2026-12-13T00:00:00.000Z', nextOfferAt, ...change })
    const html = markup(<Completed outcome={status} hasAlarm={false} payment={ended} />)
    expect(html).toContain(`>${en.heldBySteamTitle}</h2>`)
    expect(html).toContain(en.heldBySteam(formatDate('2026-12-13T00:00:00.000Z', 'en')))
    expect(html).toContain(en.holdReason)
    for (const text of [en.declinedByYou, en.scamTitle, en.stolenKeyTitle, en.startAgain, NEXT_OFFER])
      expect(html).not.toContain(text)
  },
)

it('an offer whose hold by Steam ended without a delivery still says that Steam held it, and how to avoid that', () => {
  const ended = payment({ status: 'tradeHasInvalidItems', steamHoldOver: true })
  const html = markup(<Completed outcome="tradeHasInvalidItems" hasAlarm={false} payment={ended} />)
  expect(html).toContain(`>${en.heldBySteamTitle}</h2>`)
  expect(html).toContain(en.steamHoldOver)
  expect(html).toContain(en.holdReason)
  expect(html).not.toContain(en.outcomes.tradeHasInvalidItems.description)
})

const HELD_UNTIL = '2026-12-04T00:00:00.000Z'

const DATE = formatDate(HELD_UNTIL, 'en')

/** The words before the time in the sentence about the next offer. */
const [NEXT_OFFER = ''] = en.nextOfferAt('12:00').split('12:00')

it.each([
  ['nothing is held', 0, null, en.outcomes.succeeded.description],
  ['all of it is held', 2000, HELD_UNTIL, en.receivedForLater(DATE)],
  ['a part is held', 500, HELD_UNTIL, en.receivedInParts('$15.00', DATE)],
])('A-053 if %s, one sentence says what arrives when', (_, heldAmount, heldUntil, text) => {
  const ended = payment({ status: 'succeeded', amount: 2000, heldAmount, heldUntil })
  const html = markup(<Completed outcome="succeeded" hasAlarm={false} payment={ended} />)
  const sentences = [
    en.outcomes.succeeded.description,
    en.receivedForLater(DATE),
    en.receivedInParts('$15.00', DATE),
  ]
  expect(sentences.filter((sentence) => html.includes(sentence))).toEqual([text])
})

it.each([
  ['all of it', { heldAmount: 0, heldUntil: null }, en.knownToStore],
  ['a part', { heldAmount: 500, heldUntil: HELD_UNTIL }, en.knownToStoreInParts('$15.00', DATE)],
  ['nothing', { heldAmount: 2000, heldUntil: HELD_UNTIL }, en.receivedForLater(DATE)],
])(
  'with %s credited now, the page does not say “have told the store” before the store has accepted the webhook',
  (_, held, shownText) => {
    const html = (storeTold: boolean): string => {
      const ended = payment({ status: 'succeeded', amount: 2000, ...held, storeTold })
      return markup(<Completed outcome="succeeded" hasAlarm={false} payment={ended} />)
    }
    expect(html(true)).toContain(shownText)
    expect(html(false)).not.toContain('have told the store')
  },
)

describe('the dialog after an offer was declined, within seconds or later', () => {
  const atOnce = { status: 'tradeDeclined', endedAtOnce: true } as const

  it('says how to pay after all, then warns, and has one button, if the decline came within seconds', () => {
    const html = markup(<Completed outcome="tradeDeclined" hasAlarm={false} payment={payment(atOnce)} />)
    const order = [en.declinedByYou, en.stolenKeyTitle, ...en.stolenKeySteps, en.startAgain]
    expect(html).toContain(en.declinedByYou)
    expect(order.map((text) => html.indexOf(text))).toEqual(
      order.map((text) => html.indexOf(text)).toSorted((a, b) => a - b),
    )
    const buttons = [...html.matchAll(/<a class="button[^>]*href="([^"]*)"[^>]*>([^<]*)/g)]
    expect(buttons.map(([, href, face]) => [href, face])).toEqual([['https://store.example/', en.startAgain]])
    expect(html).not.toContain(NEXT_OFFER)
  })

  it.each([
    ['declined within seconds', atOnce],
    ['declined later', { status: 'tradeDeclined' }],
  ] as const)('says when the next offer can be sent, after an offer that was %s', (_, change) => {
    const nextOfferAt = new Date(2026, 10, 26, 12, 1, 30).toISOString()
    const ended = payment({ ...change, nextOfferAt })
    const html = markup(<Completed outcome="tradeDeclined" hasAlarm={false} payment={ended} />)
    expect(html).toContain(en.nextOfferAt(formatTime(nextOfferAt, 'en')))
    expect(html).toMatch(/12:01:30/)
  })

  it('says what an API key is, right above the link to the page that shows it', () => {
    for (const ended of [payment(atOnce), payment({ status: 'tradeDeclined' })]) {
      const html = markup(<Completed outcome="tradeDeclined" hasAlarm={false} payment={ended} />)
      expect(html).toContain(
        `<p>${en.apiKeyIs}</p><a class="link" href="https://steamcommunity.com/dev/apikey"`,
      )
    }
  })
})

it('if the offer was not accepted in time, the dialog says when the next offer can be sent, next to “try again”', () => {
  const nextOfferAt = new Date(2026, 10, 26, 12, 1, 30).toISOString()
  const ended = (change: Partial<Payment>): string =>
    markup(
      <Completed
        outcome="tradeTimeout"
        hasAlarm={false}
        payment={payment({ status: 'tradeTimeout', ...change })}
      />,
    )
  const { description } = en.outcomes.tradeTimeout
  expect(ended({ nextOfferAt })).toContain(
    `${description} ${en.nextOfferAt(formatTime(nextOfferAt, 'en'))}</p>`,
  )
  expect(ended({})).not.toContain(NEXT_OFFER)
})

it.each([
  ['declined later', 'tradeDeclined', false, true],
  ['countered', 'tradeCountered', false, true],
  ['declined within seconds', 'tradeDeclined', true, true],
  ['ended within seconds by a change of its items', 'tradeHasInvalidItems', true, true],
  ['not accepted in time', 'tradeTimeout', false, false],
] as const)(
  'only a shopper who may have ended the offer reads how to pay after all: %s',
  (_, status, endedAtOnce, isShown) => {
    const ended = payment({ status, endedAtOnce })
    const html = markup(<Completed outcome={status} hasAlarm={false} payment={ended} />)
    expect(html.includes(en.declinedByYou)).toBe(isShown)
  },
)
