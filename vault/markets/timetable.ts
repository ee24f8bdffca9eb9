/** When each step of a desk is due. */

export type Timetable = {
  /** True if the step never ran, or last ran at least `everyMs` ago. If so, also records that it runs now. */
  isDue(step: string, everyMs: number): boolean
  /** Records that a step has run. */
  note(step: string): void
  /** Makes a step due at once. */
  hurry(step: string): void
}

/** A clock that was set back delays nothing. */
export function createTimetable(now: () => Date): Timetable {
  const lastRunMs = new Map<string, number>()
  return {
    isDue(step, everyMs) {
      const nowMs = now().getTime()
      const last = lastRunMs.get(step) ?? Number.NEGATIVE_INFINITY
      if (nowMs >= last && nowMs - last < everyMs) return false
      lastRunMs.set(step, nowMs)
      return true
    },
    note: (step) => void lastRunMs.set(step, now().getTime()),
    hurry: (step) => void lastRunMs.delete(step),
  }
}
