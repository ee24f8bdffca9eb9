import { expect, it } from 'vitest'
import { ERRORS } from '../../contract/errors.ts'
import { pageEn } from '../i18n/page.en.ts'
import { hintOf } from './link-field.tsx'

const said = (code: string | null, detail: string | null = null) => hintOf({ code, detail }, pageEn)

it.each([
  ['steam_unavailable', pageEn.userUnavailableHint],
  ['too_many_looks', pageEn.userTooManyHint],
  ['too_many_requests', pageEn.userUncheckedHint],
  ['internal', pageEn.userUncheckedHint],
  ['user_not_found', pageEn.userFailedHint],
  ['invalid_trade_link', pageEn.userFailedHint],
  [null, pageEn.userUncheckedHint],
])('D-17 %s has a text of the page, whatever the server says', (code, text) => {
  expect(said(code, 'words of the server')).toBe(text)
})

it('D-17 a code that the page does not know is told in the words of the server, if it sent any', () => {
  const { detail } = ERRORS.deposit_closed
  expect(said('deposit_closed', detail.en)).toBe(detail.en)
  expect(said('moon_phase', 'The moon is not full.')).toBe('The moon is not full.')
  expect(said('moon_phase')).toBe(pageEn.userFailedHint)
})
