/** Money, time and dates as the shopper reads them. */
import type { Language } from '../../contract/languages.ts'
import { type Currency, decimalOf } from '../../contract/money.ts'

const LOCALES: Record<Language, string> = { en: 'en-US', ru: 'ru-RU' }

const SYMBOLS: Record<Currency, string> = { USD: '$', EUR: '€', BRL: 'R$' }

function groupDigits(digits: string, separator: string): string {
  const groups: string[] = []
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end))
  return groups.join(separator)
}

/**
 * Minor units → text with its decimals, grouping and the currency's symbol (en $1,234.50; ru 1 234,50 $), as Intl
 * writes it. Intl itself loads its data at the first amount, which would delay the items.
 */
export function formatMoney(minor: number, currency: Currency, language: Language): string {
  const [whole = '', rest] = decimalOf(Math.abs(minor), currency).split('.')
  const decimalsAfter = (point: string): string => (rest === undefined ? '' : point + rest)
  const minus = minor < 0 ? '-' : ''
  if (language === 'ru')
    return `${minus}${groupDigits(whole, '\u00a0')}${decimalsAfter(',')}\u00a0${SYMBOLS[currency]}`
  return `${minus}${SYMBOLS[currency]}${groupDigits(whole, ',')}${decimalsAfter('.')}`
}

/** Whole seconds → mm:ss, or '-' when unknown. */
export function formatTimer(seconds: number | null): string {
  if (seconds === null) return '-'
  const twoDigits = (n: number): string => String(n).padStart(2, '0')
  return `${twoDigits(Math.floor(seconds / 60))}:${twoDigits(seconds % 60)}`
}

/** Keeps the day and its month on one line. */
const dateIn = (language: Language, options: Intl.DateTimeFormatOptions, day: Date): string =>
  new Intl.DateTimeFormat(LOCALES[language], options)
    .format(day)
    .replace(/^(\p{L}+|\d+) (?=[\p{L}\d])/u, '$1\u00a0')

/** ISO 8601 → date and time in the shopper's zone, with its short name. */
export function formatDate(iso: string, language: Language): string {
  const date = { day: 'numeric', month: 'long', year: 'numeric' } as const
  const time = { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' } as const
  return dateIn(language, { ...date, ...time }, new Date(iso))
}

/** ISO 8601 → day and month in the shopper's zone. `short`: with a short name of the month, where room is scarce. */
export function formatDay(iso: string, language: Language, month: 'long' | 'short' = 'long'): string {
  return dateIn(language, { day: 'numeric', month }, new Date(iso))
}

/** YYYY-MM-DD → date, the same in every zone. */
export function formatDateOnly(day: string, language: Language): string {
  return dateIn(language, { dateStyle: 'long', timeZone: 'UTC' }, new Date(day))
}

/** ISO 8601 → time of day in the shopper's zone, rounded up to a second, so the time shown is never too early. */
export function formatTime(iso: string, language: Language): string {
  const shownMs = Math.ceil(Date.parse(iso) / 1000) * 1000
  return new Intl.DateTimeFormat(LOCALES[language], { timeStyle: 'medium' }).format(shownMs)
}

/**
 * Returns the class of a Steam level badge: the level rounded down to tens below 100, to hundreds from 100. Our style
 * sheets do not use it, but other people's tools find a badge by this name.
 */
export function levelClass(level: number): string {
  const step = level < 100 ? 10 : 100
  return `level-${Math.floor(level / step) * step}`
}
