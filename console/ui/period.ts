import { tillNow } from './format.ts'

const DAY_MS = 86_400_000

/**
 * The period of a report, from its filters, whose days are in UTC; by default from the first of this month through
 * today, by the till's clock. Includes `from`, not `to`.
 */
export function periodOf(query: URLSearchParams): { from: string; to: string } {
  const now = tillNow()
  const tomorrow = new Date(now.getTime() + DAY_MS).toISOString().slice(0, 10)
  const from = query.get('from') ?? `${now.toISOString().slice(0, 7)}-01`
  return { from: `${from}T00:00:00Z`, to: `${query.get('to') ?? tomorrow}T00:00:00Z` }
}

/**
 * Returns the moment when a day begins in the browser's time zone, in which the pages show all times. A text that is
 * not a day is returned unchanged, and the server refuses it.
 */
export function startOfDay(day: string): string {
  const start = new Date(`${day}T00:00:00`)
  return Number.isNaN(start.getTime()) ? day : start.toISOString()
}
