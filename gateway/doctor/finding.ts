import { counted } from '../kit/counted.ts'
import { SECOND_MS } from '../kit/duration.ts'

export type Finding = {
  /** Name of the check. It stays the same in later versions. */
  check: string
  /** `mend`: something needs fixing. */
  state: 'good' | 'mend' | 'not_checked'
  says: string
  /** How to fix the problem; null unless the state is `mend`. */
  advice: string | null
}

export const good = (check: string, says: string): Finding => ({ check, state: 'good', says, advice: null })

export const mend = (check: string, says: string, advice: string): Finding => ({
  check,
  state: 'mend',
  says,
  advice,
})

/** `why`: what prevented the check. */
export const notChecked = (check: string, why: string): Finding => ({
  check,
  state: 'not_checked',
  says: why,
  advice: null,
})

export const timeServerAdvice = (whose: 'this machine' | 'both machines'): string =>
  `let ${whose} use a time server (timedatectl set-ntp true)`

const UNITS: readonly [name: string, ms: number][] = [
  ['day', 86_400 * SECOND_MS],
  ['hour', 3_600 * SECOND_MS],
  ['minute', 60 * SECOND_MS],
]

/** Formats a duration in the largest unit that it contains at least twice, or else in seconds. */
export function ageText(ms: number): string {
  const unit = UNITS.find(([, unitMs]) => ms >= 2 * unitMs)
  if (unit === undefined) return counted(Math.round(ms / SECOND_MS), 'second')
  const [name, unitMs] = unit
  return counted(Math.floor(ms / unitMs), name)
}
