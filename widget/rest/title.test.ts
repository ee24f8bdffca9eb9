import { expect, it } from 'vitest'
import { creating, loaded, openedOn, opening, play } from '../flow/test-states.ts'
import { formatMoney } from '../i18n/format.ts'
import { restTexts } from '../i18n/rest.ts'
import { iconOf, titleOf } from './title.ts'

const english = { texts: restTexts.en, money: (minor: number) => formatMoney(minor, 'USD', 'en') }

it.each([
  ['before the deposit is known', opening(), null, 'Tradetill'],
  ['while items are picked', openedOn('created'), 3600, 'Add funds – Demo #17'],
  ['while the offer is being made', creating(), 3600, 'Sending the offer – Demo #17'],
  [
    'after the offer was refused',
    play(creating(), { kind: 'tradeRefused', attempt: 1, refusal: { code: 'trade_refused', detail: null } })
      .state,
    3600,
    'Add funds – Demo #17',
  ],
  ['while the offer is open', openedOn('pending'), 252, '04:12 · Accept on Steam – Demo #17'],
  ['while the time is unknown', openedOn('pending', { timeLeft: null }), null, 'Accept on Steam – Demo #17'],
  [
    'once it succeeded',
    openedOn('succeeded', { amount: 4120, timeLeft: null }),
    null,
    '✓ Received $41.20 – Demo #17',
  ],
  [
    'once all its items were taken back',
    openedOn('succeeded', { amount: 0, takenBack: 'all', timeLeft: null }),
    null,
    'Not completed – Demo #17',
  ],
  [
    'once it ended without success',
    openedOn('tradeTimeout', { timeLeft: null }),
    null,
    'Not completed – Demo #17',
  ],
] as const)('the tab shows the state of the deposit: %s', (_what, state, seconds, title) => {
  expect(titleOf(state, seconds, english)).toBe(title)
})

it('the tabs of two deposits have different titles', () => {
  const titles = ['17', '18'].map((id) => titleOf(play(opening(), loaded({ id })).state, 60, english))
  expect(new Set(titles).size).toBe(2)
})

it('the tab’s icon shows an open offer or a success, and is otherwise the till’s own', () => {
  const statuses = ['created', 'pending', 'succeeded', 'tradeTimeout'] as const
  const icons = [null, ...statuses.map((status) => ({ status }))].map(iconOf)
  const tillIcon = '/icon.svg'
  expect(icons).toEqual([tillIcon, tillIcon, '/icon-waiting.svg', '/icon-done.svg', tillIcon])
  expect(iconOf({ status: 'succeeded', takenBack: 'some' })).toBe('/icon-done.svg')
  expect(iconOf({ status: 'succeeded', takenBack: 'all' })).toBe(tillIcon)
})
