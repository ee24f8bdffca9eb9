import { counted } from './counted.ts'

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const
type Unit = keyof typeof SECONDS

const DURATION = /^(\d{1,9})([smhd])$/

/** Returns the seconds of `90s`, `15m`, `2h` or `8d`; undefined for zero and for any other text. */
export function readDuration(text: string): number | undefined {
  const [, count = '', unit = ''] = DURATION.exec(text) ?? []
  if (!isUnit(unit)) return undefined
  const seconds = Number(count) * SECONDS[unit]
  return seconds > 0 ? seconds : undefined
}

const isUnit = (text: string): text is Unit => Object.hasOwn(SECONDS, text)

const NAMES: [Unit, string][] = [
  ['d', 'day'],
  ['h', 'hour'],
  ['m', 'minute'],
  ['s', 'second'],
]

/** Returns a text such as `8 days 2 hours`. */
export function durationText(seconds: number): string {
  let rest = seconds
  const parts = NAMES.flatMap(([unit, name]) => {
    const count = Math.floor(rest / SECONDS[unit])
    rest -= count * SECONDS[unit]
    return count === 0 ? [] : [counted(count, name)]
  })
  return parts.join(' ') || '0 seconds'
}
