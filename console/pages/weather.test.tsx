import { expect, it } from 'vitest'
import { noticeFrom } from './weather.tsx'

const TEXT = { en: 'Moving house', ru: 'Переезд' }
const OTHER_TEXT = { en: 'A new server', ru: 'Новый сервер' }
const UNTIL = '2026-01-01T12:00:00.000Z'
const LATER = '2026-01-01T14:00:00.000Z'

it.each([
  ['no notice was shown and nothing was typed', {}, null, { until: LATER, text: OTHER_TEXT }],
  ['only a duration was typed', { lasts: '2h', ...TEXT }, TEXT, { lasts: '2h', text: OTHER_TEXT }],
  [
    'a text was typed',
    { en: 'Soon', ru: TEXT.ru },
    TEXT,
    { until: LATER, text: { en: 'Soon', ru: TEXT.ru } },
  ],
  ['the text was removed', { en: '', ru: '' }, TEXT, { until: LATER, text: {} }],
])(
  'a notice that a second operator changed meanwhile keeps what this one did not type: %s',
  (_what, typed, shownText, notice) => {
    const shown = shownText === null ? null : { text: shownText, until: UNTIL }
    expect(noticeFrom(typed, shown, { text: OTHER_TEXT, until: LATER })).toEqual(notice)
  },
)

it('a notice whose maintenance a second operator ended meanwhile is set as the dialog showed it', () => {
  const shown = { text: TEXT, until: UNTIL }
  expect(noticeFrom({ ...TEXT }, shown, null)).toEqual({ until: UNTIL, text: TEXT })
  expect(noticeFrom({ lasts: '2h', ...TEXT }, shown, null)).toEqual({ lasts: '2h', text: TEXT })
})
