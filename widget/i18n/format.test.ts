import { describe, expect, it } from 'vitest'
import { LANGUAGES } from '../../contract/languages.ts'
import { CURRENCIES } from '../../contract/money.ts'
import {
  formatDate,
  formatDateOnly,
  formatDay,
  formatMoney,
  formatTime,
  formatTimer,
  levelClass,
} from './format.ts'

/** Replaces Intl's no-break spaces, which have several widths, with plain ones. */
const spaced = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ')

describe('A-091 prices', () => {
  it.each([
    [0, '$0.00', '0,00 $'],
    [5, '$0.05', '0,05 $'],
    [10, '$0.10', '0,10 $'],
    [99_999, '$999.99', '999,99 $'],
    [123_450, '$1,234.50', '1 234,50 $'],
    [1_234_567, '$12,345.67', '12 345,67 $'],
    [123_456_789_00, '$123,456,789.00', '123 456 789,00 $'],
  ])('of %j cents are %j in English and %j in Russian', (minor, english, russian) => {
    expect(spaced(formatMoney(minor, 'USD', 'en'))).toBe(english)
    expect(spaced(formatMoney(minor, 'USD', 'ru'))).toBe(russian)
  })

  it('are written as Intl writes them, in every currency and language', () => {
    const amounts = [0, 1, 99, 100, 99_999, 100_000, 12_345_678, 999_999_999_999, -1, -100_000]
    for (const language of LANGUAGES)
      for (const currency of CURRENCIES) {
        const intl = new Intl.NumberFormat(language, {
          style: 'currency',
          currency,
          currencyDisplay: 'narrowSymbol',
        })
        for (const minor of amounts)
          expect(formatMoney(minor, currency, language)).toBe(intl.format(minor / 100))
      }
  })

  it('A-046 A-048 have the symbol of their currency', () => {
    const symbols = { USD: '$', EUR: '€', BRL: 'R$' }
    for (const currency of CURRENCIES) {
      expect(spaced(formatMoney(123_450, currency, 'en'))).toBe(`${symbols[currency]}1,234.50`)
      expect(spaced(formatMoney(123_450, currency, 'ru'))).toBe(`1 234,50 ${symbols[currency]}`)
    }
  })
})

describe('A-092 the timer', () => {
  it.each([
    [null, '-'],
    [0, '00:00'],
    [9, '00:09'],
    [59, '00:59'],
    [60, '01:00'],
    [300, '05:00'],
    [3599, '59:59'],
    [3600, '60:00'],
    [6000, '100:00'],
  ])('at %j seconds is %j', (seconds, text) => {
    expect(formatTimer(seconds)).toBe(text)
  })
})

describe('A-119 the level badge', () => {
  it.each([
    [0, 'level-0'],
    [9, 'level-0'],
    [10, 'level-10'],
    [19, 'level-10'],
    [99, 'level-90'],
    [100, 'level-100'],
    [199, 'level-100'],
    [200, 'level-200'],
    [1234, 'level-1200'],
  ])('of level %j has the class %j', (level, name) => {
    expect(levelClass(level)).toBe(name)
  })
})

it('a date is written with its day, time and zone, in the language of the page', () => {
  const noon = new Date(2026, 10, 29, 12, 30).toISOString()
  expect(formatDate(noon, 'en')).toMatch(/November\s29, 2026.*12:30\sPM (?:GMT|UTC|[A-Z]+T)/)
  expect(formatDate(noon, 'ru')).toMatch(/29\sноября 2026.*12:30 \S/)
})

it('no line ends between a day and its month', () => {
  const noon = new Date(2026, 10, 9, 12, 30).toISOString()
  for (const date of [formatDate(noon, 'en'), formatDateOnly('2026-11-09', 'en'), formatDay(noon, 'en')])
    expect(date).toContain('November\u00a09')
  for (const date of [formatDate(noon, 'ru'), formatDateOnly('2026-11-09', 'ru'), formatDay(noon, 'ru')])
    expect(date).toContain('9\u00a0ноября')
  expect(formatDay(noon, 'ru', 'short')).toBe('9\u00a0нояб.')
})

it('a time of day is written in the language of the page, rounded up to a second', () => {
  const moment = new Date(2026, 10, 29, 14, 30, 4, 1).toISOString()
  expect(formatTime(moment, 'en')).toMatch(/^2:30:05\sPM$/)
  expect(formatTime(moment, 'ru')).toBe('14:30:05')
})
