import { describe, expect, it } from 'vitest'
import { createBudget } from './budget.ts'

/** Time that passes only where somebody waits or a test says so. */
function aTime() {
  const time = {
    ms: 0,
    now: () => time.ms,
    async pause(ms: number) {
      time.ms += ms
    },
  }
  return time
}

describe('a budget', () => {
  it('lets a burst through, then one at a time', async () => {
    const time = aTime()
    const budget = createBudget({ burst: 3, everyMs: 4_000 }, time)
    for (let taken = 0; taken < 3; taken += 1) expect(await budget.take(0)).toBe(true)
    expect(await budget.take(3_999)).toBe(false)
    expect(await budget.take(4_000)).toBe(true)
    expect(time.ms).toBe(4_000)
    time.ms += 3_999
    expect(await budget.take(0)).toBe(false)
    time.ms += 1
    expect(await budget.take(0)).toBe(true)
  })

  it('never saves up more than a burst', async () => {
    const time = aTime()
    const budget = createBudget({ burst: 2, everyMs: 1_000 }, time)
    time.ms += 3_600_000
    expect(await budget.take(0)).toBe(true)
    expect(await budget.take(0)).toBe(true)
    expect(await budget.take(0)).toBe(false)
  })

  it('gives those that wait their turns one after the other', async () => {
    const waited: number[] = []
    const time = { now: () => 0, pause: async (ms: number) => void waited.push(ms) }
    const budget = createBudget({ burst: 1, everyMs: 1_000 }, time)
    await Promise.all([budget.take(9_000), budget.take(9_000), budget.take(9_000)])
    expect(waited).toEqual([1_000, 2_000])
    expect(await budget.take(2_999)).toBe(false)
  })

  it('pauses after a refusal, twice as long each time in a row, ten minutes at most', async () => {
    const time = aTime()
    const budget = createBudget({ burst: 99, everyMs: 1 }, time)
    const pauses: number[] = []
    for (let refusals = 0; refusals < 7; refusals += 1) {
      budget.limited()
      budget.limited()
      const start = time.ms
      while (!(await budget.take(0))) time.ms += 1_000
      pauses.push((time.ms - start) / 1_000)
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600])
    budget.answered()
    budget.limited()
    time.ms += 30_000
    expect(await budget.take(0)).toBe(true)
  })
})
