/** A line of the doctor: one thing that was looked at, and how it is. */

export type Finding = {
  /** Names what was looked at. It stays the same in later versions. */
  check: string
  state: 'good' | 'mend' | 'not_checked'
  says: string
  /** The setting or the command that mends it. */
  advice: string | null
}

export const good = (check: string, says: string): Finding => ({ check, state: 'good', says, advice: null })

export const mend = (check: string, says: string, advice: string): Finding => ({
  check,
  state: 'mend',
  says,
  advice,
})

/** `why` says what kept it from being looked at. */
export const notChecked = (check: string, why: string): Finding => ({
  check,
  state: 'not_checked',
  says: why,
  advice: null,
})

const SECOND_MS = 1_000
const STEPS: readonly [name: string, ms: number][] = [
  ['days', 86_400 * SECOND_MS],
  ['hours', 3_600 * SECOND_MS],
  ['minutes', 60 * SECOND_MS],
]

/** In the largest unit of which there are two or more. */
export function ageText(ms: number): string {
  const step = STEPS.find(([, size]) => ms >= 2 * size)
  return step === undefined
    ? `${Math.round(ms / SECOND_MS)} seconds`
    : `${Math.floor(ms / step[1])} ${step[0]}`
}
