import { type Currency, majorOf } from '../../contract/money.ts'

const moneyFormats = new Map<string, Intl.NumberFormat>()

export function formatMinor(minor: number | null, currency: Currency): string {
  if (minor === null) return '—'
  const format = moneyFormats.get(currency) ?? new Intl.NumberFormat('en-US', { style: 'currency', currency })
  moneyFormats.set(currency, format)
  return format.format(majorOf(minor, currency))
}

const MICROS_PER_DOLLAR = 1_000_000

export const formatMicros = (micros: number | null): string =>
  micros === null
    ? '—'
    : new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 4 }).format(
        micros / MICROS_PER_DOLLAR,
      )

const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

export const formatTime = (iso: string): string => TIME.format(new Date(iso))

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
/** Each unit with its length in seconds. */
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** How far the till's clock is ahead of the browser's. A sandbox's clock can be advanced. */
let aheadMs = 0

export function followClock(now: string): void {
  aheadMs = new Date(now).getTime() - Date.now()
}

/** The current time, by the till's clock. */
export const tillNow = (): Date => new Date(Date.now() + aheadMs)

/** Milliseconds since a time, by the till's clock; negative for a future time. */
export const ageMs = (iso: string): number => tillNow().getTime() - new Date(iso).getTime()

/** Relative to now: 5 min. ago. */
export function formatAgo(iso: string): string {
  const seconds = Math.round(-ageMs(iso) / 1_000)
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1]
  return RELATIVE.format(Math.trunc(seconds / size), unit)
}

/** Converts a name such as `tradeTimeout` or `under_way` to words. */
export const toWords = (name: string): string =>
  name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
