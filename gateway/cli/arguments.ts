/** Parses arguments. The errors say what was expected, and never repeat what was typed. */
import { CURRENCIES, type Currency } from '../../contract/money.ts'
import { isSteamId } from '../../contract/steam-id.ts'
import { parseTradeLink, type TradeLink } from '../../contract/trade-link.ts'
import { isRealDay } from '../kit/real-day.ts'
import { parseAmount, parsePercent } from '../operations/amount.ts'
import { Refusal } from './terminal.ts'

/** At most 18 digits, because every such number fits into a `bigint` of PostgreSQL. */
const ID = /^[1-9]\d{0,17}$/

export function id(text: string): bigint {
  if (!ID.test(text)) throw new Error('must be a number')
  return BigInt(text)
}

/** At most 16 digits, because every such number up to `most` is exact. */
export function wholeUpTo(most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (!(number <= most)) throw new Error(`must be a whole number up to ${most}`)
    return number
  }
}

export function wholeDollars(text: string): bigint {
  if (!/^\d{1,9}$/.test(text)) throw new Error('must be whole dollars, such as 1000')
  return BigInt(text)
}

/** A time of day needs its zone. Otherwise the zone of the machine would decide. */
const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/

export function moment(text: string): Date {
  const date = new Date(text)
  if (!MOMENT.test(text) || !isRealDay(text.slice(0, 10)) || Number.isNaN(date.getTime())) {
    throw new Error('must be a date, such as 2026-11-22 or 2026-11-22T08:00Z')
  }
  return date
}

export function steamId(text: string): string {
  if (!isSteamId(text)) throw new Error('must be a 64-bit Steam id: 17 digits')
  return text
}

export const text = (value: string): string => value

export function webAddress(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) throw new Error('must be an http(s) URL')
  return url
}

export function tradeLink(text: string): TradeLink {
  const link = parseTradeLink(text)
  if (link === undefined) throw new Error('must be a trade link, with partner and token')
  return link
}

/** Requires the decimals of an amount, so 1250 is not taken for 12.50. `option`: where the amount was typed. */
export function amountIn(currency: Currency, typed: string, option = '--amount'): bigint {
  const amountMinor = parseAmount(typed, currency)
  if (amountMinor === undefined) {
    throw new Refusal('usage', `${option} must have its decimals, such as 1250.00`)
  }
  return amountMinor
}

/** Parses a percentage below 100 with two decimals into hundredths of a percent; `none` gives null. */
export function percentIn(typed: string): number | null {
  if (typed === 'none') return null
  const bps = parsePercent(typed)
  if (bps === undefined) {
    throw new Refusal('usage', '--commission must be below 100 with two decimals, such as 24.50, or be none')
  }
  return bps
}

export const CURRENCY = { kind: 'enum', values: CURRENCIES, brief: 'the currency' } as const

export const STORE = { parse: id, brief: 'the number of the store', placeholder: 'STORE' } as const

/** Flag for the number of rows on a page of a list. Refuses 0: an empty page would look like an empty list. */
export const limitUpTo = (most: number) =>
  ({
    kind: 'parsed',
    parse: (text: string) => {
      const limit = wholeUpTo(most)(text)
      if (limit === 0) throw new Error(`must be a whole number from 1 to ${most}`)
      return limit
    },
    brief: `how many, ${most} at most`,
    placeholder: 'NUMBER',
    default: '50',
  }) as const

export const pageBefore = (placeholder: string) =>
  ({
    kind: 'parsed',
    parse: id,
    brief: 'the next page: the number at the end of the previous one',
    placeholder,
    optional: true,
  }) as const
