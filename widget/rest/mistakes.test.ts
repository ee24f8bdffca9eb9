import { expect, it } from 'vitest'
import { mistakeIn } from './mistakes.ts'

const LINK = 'https://steamcommunity.com/tradeoffer/new/?partner=123456&token=aB3_-xyz'
const OTHER = LINK.replace('123456', '654321')

it.each([
  ['https://steamcommunity.com/id/ada/', 'profile'],
  ['https://steamcommunity.com/profiles/76561198000000123', 'profile'],
  ['76561198000000123', 'profile'],
  ['76561202000000123', 'profile'],
  ['https://steamcommunity.com/tradeoffer/6812345678/', 'offer'],
  [LINK.replace(/&.*/, ''), 'incomplete'],
  [LINK.replace('aB3_-xyz', 'ab'), 'incomplete'],
  [LINK.replace('aB3_', 'aB3.'), 'incomplete'],
  [LINK.replace('partner=123456', 'partner='), 'incomplete'],
  [`${LINK} ${OTHER}`, 'several'],
  [`my link: ${LINK}`, 'inexact'],
  [LINK.replace('https://', ''), 'inexact'],
  ['hello', 'other'],
  ['https://steamcommunity.ru/tradeoffer/new/?partner=1&token=abc', 'other'],
])('the mistake in %j is named: %s', (text, mistake) => {
  expect(mistakeIn(text)).toBe(mistake)
})
