import { expect, it } from 'vitest'
import { ERRORS } from '../../contract/errors.ts'
import { restTexts } from '../i18n/rest.ts'
import { hintOf } from './link-trouble.tsx'

const { en } = restTexts

const hint = (code: string | null, detail: string | null = null) => hintOf({ code, detail }, en)

it.each([
  ['steam_unavailable', en.userUnavailableHint],
  ['too_many_looks', en.userTooManyHint],
  ['too_many_requests', en.userUncheckedHint],
  ['internal', en.userUncheckedHint],
  ['user_not_found', en.userFailedHint],
  ['invalid_trade_link', en.userFailedHint],
  [null, en.userUncheckedHint],
])('D-17 the code %s has the page’s own text, whatever the server says', (code, text) => {
  expect(hint(code, 'words of the server')).toBe(text)
})

it('D-17 for a code without a text on the page, the server’s words are shown, or else a general hint', () => {
  const { detail } = ERRORS.deposit_closed
  expect(hint('deposit_closed', detail.en)).toBe(detail.en)
  expect(hint('moon_phase', 'The moon is not full.')).toBe('The moon is not full.')
  expect(hint('moon_phase')).toBe(en.userFailedHint)
})
