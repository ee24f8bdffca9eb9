import { describe, expect, it } from 'vitest'
import { DEPOSIT_STATUSES, type FinalDepositStatus, isFinal } from '../../contract/statuses.ts'
import type { FlowEvent } from './events.ts'
import type { FlowState } from './state.ts'
import {
  awaitingLink,
  confirming,
  creating,
  LINK,
  loaded,
  modalKind,
  OTHER_LINK,
  openedOn,
  opening,
  payment,
  play,
  shownActivities,
  standOf,
  USER,
  USER_LINK,
} from './test-states.ts'

const kinds = (state: FlowState) => shownActivities(state).map((activity) => activity.kind)
const typed = (text: string): FlowEvent => ({ kind: 'linkTyped', text })
const failed = (detail: string | null = null): FlowEvent => ({
  kind: 'paymentFailed',
  refusal: { code: null, detail },
})
const linkOf = (state: FlowState) => ('link' in state.page ? state.page.link : undefined)

const FINAL = DEPOSIT_STATUSES.filter(isFinal)

describe('opening the page', () => {
  it('A-060 the page first asks only for the deposit', () => {
    expect(kinds(opening())).toEqual(['loadPayment'])
  })

  it('A-050 A-059 a created deposit without a user waits for a trade link, without a modal', () => {
    const state = openedOn('created', { user: null })
    expect(state.page).toEqual({ stage: 'wait-for-trade-url-input', link: { status: 'idle', text: '' } })
    expect(modalKind(state)).toBe('none')
    expect(kinds(state)).toEqual([])
  })

  it('A-050 A-059 A-069 a deposit that has a user shows the stand with the user’s link, and does not check it', () => {
    const state = openedOn('created')
    expect(state.page.stage).toBe('wait-for-select-items')
    expect(linkOf(state)).toEqual({ status: 'resolved', text: USER.tradeUrl })
    expect(kinds(state)).toEqual(['loadInventory'])
    expect(standOf(state)).toMatchObject({ game: 'cs', sort: 'priceDown', selection: [], search: '' })
  })

  it('D-26 a stored link fills the field, and is not sent before the shopper continues', () => {
    const { state } = play(opening({ link: LINK }), loaded({ user: null }))
    expect(linkOf(state)).toEqual({ status: 'stored', text: LINK })
    expect(kinds(state)).toEqual([])
    const otherEvents: FlowEvent[] = [
      { kind: 'returned' },
      { kind: 'retryPressed' },
      { kind: 'typingEnded' },
      { kind: 'connectionChanged', isOnline: false },
      { kind: 'connectionChanged', isOnline: true },
      loaded({ user: null }),
    ]
    expect(linkOf(play(state, ...otherEvents).state)).toEqual({ status: 'stored', text: LINK })
    const agreed = play(state, { kind: 'storedLinkConfirmed' }).state
    expect(shownActivities(agreed)).toMatchObject([{ kind: 'resolveUser', tradeUrl: LINK }])
    expect(linkOf(agreed)).toMatchObject({ status: 'checking', text: LINK })
  })

  it('D-26 a link typed over a stored one is sent without a press on Continue', () => {
    const stored = play(opening({ link: LINK }), loaded({ user: null })).state
    const { state } = play(stored, typed(OTHER_LINK), { kind: 'typingEnded' })
    expect(shownActivities(state)).toMatchObject([{ kind: 'resolveUser', tradeUrl: OTHER_LINK }])
  })

  it('D-26 Continue does nothing without a stored link to confirm', () => {
    for (const state of [opening(), awaitingLink(), play(awaitingLink(), typed(LINK)).state])
      expect(play(state, { kind: 'storedLinkConfirmed' }).state).toBe(state)
  })

  it.each([
    ['an empty field', undefined, USER_LINK],
    ["this user's stored link", LINK, LINK],
    ["another user's stored link", OTHER_LINK, USER_LINK],
  ])('D-26 with %s, the page shows the stand when an answer names the user', (_what, link, shown) => {
    const waiting = play(opening(link === undefined ? {} : { link }), loaded({ user: null })).state
    const { state } = play(waiting, loaded())
    expect(linkOf(state)).toEqual({ status: 'resolved', text: shown })
    expect(kinds(state)).toEqual(['loadInventory'])
  })

  it('A-070 D-26 a user whose link was cleared does not come back with the next answer', () => {
    const cleared = play(opening({ link: LINK }), loaded(), typed('')).state
    expect(linkOf(play(cleared, loaded()).state)).toEqual({ status: 'idle', text: '' })
  })

  it('D-26 the known user’s link without the token counts as valid, even when retyped', () => {
    const { state } = play(opening(), loaded(), typed(`${USER_LINK}&`), typed(USER_LINK))
    expect(linkOf(state)).toEqual({ status: 'resolved', text: USER_LINK })
    expect(kinds(state)).toEqual(['loadInventory'])
  })

  it('D-26 the page ignores a stored text that is not a link', () => {
    const { state } = play(opening({ link: 'https://steamcommunity.com/id/ada' }), loaded({ user: null }))
    expect(linkOf(state)).toEqual({ status: 'idle', text: '' })
  })

  it('D-26 an ended deposit does not offer a stored link', () => {
    const { state } = play(opening({ link: LINK }), loaded({ user: null, status: 'paymentTimeout' }))
    expect(linkOf(state)).toEqual({ status: 'idle', text: '' })
    expect(kinds(state)).toEqual([])
  })

  it.each([
    ['the stored link if it is theirs', LINK, LINK],
    ['no token if the stored link is not theirs', OTHER_LINK, USER_LINK],
    ['no token if the account id only begins like theirs', LINK.replace('123456', '1234567'), USER_LINK],
  ])("D-26 the deposit's own user wins over a stored link, and the field shows %s", (_what, link, shown) => {
    const { state } = play(opening({ link }), loaded())
    expect(linkOf(state)).toEqual({ status: 'resolved', text: shown })
    expect(kinds(state)).toEqual(['loadInventory'])
  })

  it.each([
    ['was refused', { code: 'deposit_not_found', detail: 'Failed to find your payment.' }],
    ['was unreachable', { code: null, detail: null }],
  ])('A-121 A-100 if a deposit %s, the page and a toast say so, and Try again loads it', (_what, refusal) => {
    const { state, effects } = play(opening(), { kind: 'paymentFailed', refusal })
    expect(state.page).toEqual({ stage: 'failed', refusal })
    expect(kinds(state)).toEqual([])
    expect(effects).toEqual([{ kind: 'toast', toast: { text: 'depositFailed', detail: refusal.detail } }])
    expect(kinds(play(state, { kind: 'retryPressed' }).state)).toEqual(['loadPayment'])
  })

  it('a press on Try again does nothing while the page waits for the link', () => {
    const state = awaitingLink()
    expect(play(state, { kind: 'retryPressed' }).state).toBe(state)
  })

  it('D-23 the time left is counted from the answer’s arrival, and is unknown if the answer has none', () => {
    const deadline = (timeLeft: number | null) => play(opening(), loaded({ timeLeft }, 5000)).state.deadlineMs
    expect(deadline(300)).toBe(305_000)
    expect(deadline(null)).toBeNull()
  })
})

describe('the language', () => {
  it.each([
    ['is that of the deposit, even if one is stored', 'ru', 'en', 'en'],
    ['is the stored one if the deposit names none', 'ru', null, 'ru'],
    ['is English if none is named or stored', undefined, null, 'en'],
    ['is that of the deposit if none is stored', undefined, 'ru', 'ru'],
  ] as const)('A-065 %s', (_what, stored, deposit, expected) => {
    const start = opening(stored === undefined ? {} : { language: stored })
    expect(play(start, loaded({ language: deposit })).state.language).toBe(expected)
  })

  it('A-065 stays the stored one if the deposit’s is not supported', () => {
    // Parsed, so the type does not exclude it.
    const unsupported = JSON.parse('"xx"')
    expect(play(opening({ language: 'ru' }), loaded({ language: unsupported })).state.language).toBe('ru')
  })

  it('A-066 D-10 is stored when it is chosen, and later answers do not change it', () => {
    const { state, effects } = play(
      openedOn('created', { language: 'en', user: null }),
      { kind: 'languageChosen', language: 'ru' },
      loaded({ language: 'en', user: null }),
    )
    expect(state.language).toBe('ru')
    expect(effects).toEqual([{ kind: 'storeLanguage', language: 'ru' }])
  })

  it('D-10 stays as chosen if the choice was made before the deposit is loaded', () => {
    const { state } = play(opening(), { kind: 'languageChosen', language: 'ru' }, loaded({ language: 'en' }))
    expect(state.language).toBe('ru')
  })
})

describe('the trade link', () => {
  it('A-081 shows an error and is not sent if it is invalid', () => {
    const { state } = play(awaitingLink(), typed('https://steamcommunity.com/id/ada'))
    expect(linkOf(state)).toMatchObject({ status: 'invalid' })
    expect(kinds(state)).toEqual([])
  })

  it.each(['', '   '])('A-082 shows no error if it is empty, and is not checked (%j)', (text) => {
    const { state } = play(awaitingLink(), typed('nonsense'), typed(text))
    expect(linkOf(state)).toEqual({ status: 'idle', text: '' })
    expect(kinds(state)).toEqual([])
  })

  it('A-083 waits for the end of typing, waits again after each letter, and is then sent trimmed', () => {
    const first = play(awaitingLink(), typed(` ${LINK}`)).state
    const second = play(first, typed(` ${LINK}z`)).state
    expect(kinds(first)).toEqual(['debounce'])
    expect(kinds(second)).toEqual(['debounce'])
    expect(shownActivities(second)[0]?.key).not.toBe(shownActivities(first)[0]?.key)
    const sent = play(second, { kind: 'typingEnded' }).state
    expect(shownActivities(sent)).toMatchObject([{ kind: 'resolveUser', tradeUrl: `${LINK}z` }])
  })

  it('A-084 cannot be changed during the server’s check', () => {
    const checking = play(awaitingLink(), typed(LINK), { kind: 'typingEnded' }).state
    expect(play(checking, typed(OTHER_LINK)).state).toBe(checking)
    expect(play(checking, typed('')).state).toBe(checking)
  })

  it('the end of typing changes nothing if the text is gone', () => {
    const cleared = play(awaitingLink(), typed(LINK), typed('')).state
    expect(play(cleared, { kind: 'typingEnded' }).state).toBe(cleared)
  })

  it('A-068 A-009 is stored when the server finds the user, and the page then shows the stand', () => {
    const request = 1
    const { state, effects } = play(
      awaitingLink(),
      typed(LINK),
      { kind: 'typingEnded' },
      { kind: 'userResolved', request, user: USER },
    )
    expect(standOf(state).user).toEqual(USER)
    expect(effects).toEqual([{ kind: 'storeLink', link: LINK }])
    expect(kinds(state)).toEqual(['loadInventory'])
  })

  it('A-089 A-101 shows an error if its user is unknown, and is checked again once it is corrected', () => {
    const refusal = { code: 'user_not_found', detail: 'no' }
    const { state } = play(
      awaitingLink(),
      typed(LINK),
      { kind: 'typingEnded' },
      { kind: 'userFailed', request: 1, refusal },
    )
    expect(linkOf(state)).toEqual({ status: 'failed', text: LINK, refusal })
    expect(kinds(state)).toEqual([])
    expect(kinds(play(state, typed(OTHER_LINK)).state)).toEqual(['debounce'])
    expect(kinds(play(state, { kind: 'returned' }).state)).not.toContain('resolveUser')
    expect(kinds(play(state, { kind: 'retryPressed' }).state)).toEqual(['resolveUser'])
  })

  it.each([
    { kind: 'returned' },
    { kind: 'connectionChanged', isOnline: true },
    { kind: 'retryPressed' },
  ] satisfies FlowEvent[])('is sent again after $kind if it could not be checked', (event) => {
    const { state } = play(
      awaitingLink(),
      typed(LINK),
      { kind: 'typingEnded' },
      { kind: 'connectionChanged', isOnline: false },
      { kind: 'userFailed', request: 1, refusal: { code: null, detail: null } },
    )
    expect(linkOf(state)?.status).toBe('failed')
    expect(linkOf(play(state, event).state)).toMatchObject({ status: 'checking', text: LINK })
  })

  it.each([
    { kind: 'userResolved', request: 1, user: USER },
    { kind: 'userFailed', request: 1, refusal: { code: null, detail: null } },
  ] satisfies FlowEvent[])('an answer to an earlier request changes nothing: $kind', (late) => {
    const { state: first } = play(awaitingLink(), typed(LINK), { kind: 'typingEnded' })
    const { state: second } = play(
      first,
      { kind: 'userFailed', request: 1, refusal: { code: null, detail: null } },
      typed(OTHER_LINK),
      { kind: 'typingEnded' },
    )
    const { state, effects } = play(second, late)
    expect(state).toBe(second)
    expect(effects).toEqual([])
  })

  it.each(['', OTHER_LINK, 'nonsense'])('A-070 A-059 typing %j over a valid link hides the stand', (text) => {
    const { state } = play(openedOn('created'), typed(text))
    expect(state.page.stage).toBe('wait-for-trade-url-input')
    expect(kinds(state)).not.toContain('loadInventory')
  })
})

describe('the outcome', () => {
  it.each(FINAL)(
    'A-052 A-023 %s opens the completed modal, whether the page was open or is opened later',
    (status) => {
      const outcome = (state: FlowState) => (state.modal.kind === 'completed' ? state.modal.outcome : null)
      expect(outcome(openedOn(status))).toBe(status)
      expect(outcome(play(confirming(), loaded({ status })).state)).toBe(status)
      expect(outcome(play(creating(), loaded({ status })).state)).toBe(status)
    },
  )

  it('A-058 D-1 an expired deposit has the completed modal', () => {
    expect(openedOn('paymentTimeout', { timeLeft: null }).modal).toEqual({
      kind: 'completed',
      outcome: 'paymentTimeout',
      hasAlarm: false,
    })
  })

  it.each(FINAL)('A-061 polling ends with %s', (status) => {
    expect(kinds(play(confirming(), loaded({ status })).state)).not.toContain('poll')
    expect(kinds(openedOn(status))).not.toContain('poll')
  })

  const SUSPICIOUS: readonly FinalDepositStatus[] = ['tradeDeclined', 'tradeCountered']

  it.each(FINAL)(
    'A-067 the alarm sounds only for tradeDeclined and tradeCountered, and only over the modal of an offer: %s',
    (status) => {
      const alarm = (state: FlowState) => state.modal.kind === 'completed' && state.modal.hasAlarm
      expect(alarm(openedOn(status))).toBe(false)
      const joined = openedOn('created', { creating: true })
      for (const before of [creating(), joined, confirming()]) {
        expect(alarm(play(before, loaded({ status })).state)).toBe(SUSPICIOUS.includes(status))
      }
      const left = play(confirming(), { kind: 'confirmationLeft' }).state
      expect(alarm(play(left, loaded({ status })).state)).toBe(false)
    },
  )

  it('the same answer does not restart the alarm of an open modal', () => {
    const { state } = play(confirming(), loaded({ status: 'tradeDeclined' }))
    expect(play(state, loaded({ status: 'tradeDeclined' })).state.modal).toBe(state.modal)
  })

  it('D-6 a late delivery turns a bad end into the status succeeded', () => {
    const { state } = play(confirming(), loaded({ status: 'tradeTimeout' }), loaded({ status: 'succeeded' }))
    expect(state.modal).toMatchObject({ kind: 'completed', outcome: 'succeeded' })
  })

  it.each(['created', 'pending'] as const)('D-6 a late %s does not reopen an ended deposit', (status) => {
    const { state } = play(confirming(), loaded({ status: 'succeeded' }))
    expect(play(state, loaded({ status })).state).toBe(state)
  })

  it.each([
    ['pending', 'created'],
    ['tradeTimeout', 'pending'],
    ['succeeded', 'tradeTimeout'],
  ] as const)('D-6 after %s, an answer with %s is outdated', (known, older) => {
    const { state } = play(confirming(), loaded({ status: known }))
    expect(play(state, loaded({ status: older })).state).toBe(state)
  })

  it('A-064 the first answer with a redirect leads to the store, immediately or after 8 s if money is held or gone', () => {
    const redirectUrl = 'https://store.example/thanks'
    const first = play(opening(), loaded({ status: 'succeeded', redirectUrl }))
    const forgetOffer = { kind: 'forgetOffer', hash: opening().hash }
    expect(first.effects).toEqual([
      forgetOffer,
      { kind: 'forgetPicks' },
      { kind: 'redirect', url: redirectUrl, afterMs: 0 },
    ])
    expect(play(first.state, loaded({ status: 'succeeded', redirectUrl })).effects).toEqual([])
    const held = { heldAmount: 100, heldUntil: '2026-11-30T00:00:00.000Z' }
    for (const change of [held, { takenBack: 'all' } as const]) {
      const { effects } = play(opening(), loaded({ status: 'succeeded', redirectUrl, ...change }))
      const redirect = { kind: 'redirect', url: redirectUrl, afterMs: 8000 }
      expect(effects).toEqual([forgetOffer, { kind: 'forgetPicks' }, redirect])
    }
    const polled = play(confirming(), loaded({ status: 'pending', redirectUrl }))
    expect(polled.effects).toEqual([{ kind: 'redirect', url: redirectUrl, afterMs: 0 }])
  })
})

describe('an outage while polling', () => {
  it('D-17 is shown once, in the server’s words, and polling continues', () => {
    const { state, effects } = play(confirming(), failed('busy'), failed(), failed('busy'))
    expect(effects).toEqual([{ kind: 'toast', toast: { text: 'depositFailed', detail: 'busy' } }])
    expect(kinds(state)).toContain('poll')
    expect(modalKind(state)).toBe('confirming')
  })

  it.each([
    ['a full answer', loaded({ status: 'pending' })],
    ['an unchanged answer', { kind: 'paymentUnchanged' }],
  ] satisfies [string, FlowEvent][])('D-17 ends with %s: the next outage is shown', (_what, answer) => {
    expect(play(confirming(), failed(), answer, failed()).effects).toHaveLength(2)
  })
})

it('an unchanged answer keeps the same state', () => {
  const polling = confirming()
  expect(play(polling, { kind: 'paymentUnchanged' }).state).toBe(polling)
})

it('the return of the connection is announced once', () => {
  const connection = (isOnline: boolean): FlowEvent => ({ kind: 'connectionChanged', isOnline })
  expect(play(confirming(), connection(true)).effects).toEqual([])
  const back = play(confirming(), ...[false, false, true, true].map(connection))
  expect(back.state.isOnline).toBe(true)
  expect(back.effects.map(({ kind }) => kind)).toEqual(['removeToast', 'toast'])
  expect(play(confirming(), connection(false)).state.isOnline).toBe(false)
})

it('the payment in the state is the server’s answer', () => {
  expect(openedOn('created', { storeName: 'Other' }).payment).toEqual(payment({ storeName: 'Other' }))
})
