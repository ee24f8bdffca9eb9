/** Returns false for a day that its month does not have: JavaScript takes 2026-02-29 for the first of March. */
export function isRealDay(yearMonthDay: string): boolean {
  const midnight = new Date(`${yearMonthDay}T00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(yearMonthDay)
}
