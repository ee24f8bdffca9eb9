import { describe, expect, it } from 'vitest'
import { createBudget } from './budget.ts'

function aBudget(burst: number, everyMs: number, random = 0) {
  const time = { ms: 0, now: () => time.ms }
  return { time, budget: createBudget({ burst, everyMs }, { time, random: () => random }) }
}

describe('a budget', () => {
  it('lets a burst through, then one at a time', () => {
    const { time, budget } = aBudget(3, 4_000)
    for (let taken = 0; taken < 3; taken += 1) {
      expect(budget.waitMs()).toBe(0)
      budget.take()
    }
    expect(budget.waitMs()).toBe(4_000)
    time.ms += 3_999
    expect(budget.waitMs()).toBe(1)
    time.ms += 1
    expect(budget.waitMs()).toBe(0)
  })

  it('never saves up more than a burst', () => {
    const { time, budget } = aBudget(2, 1_000)
    time.ms += 3_600_000
    budget.take()
    budget.take()
    expect(budget.waitMs()).toBe(1_000)
  })

  it('gives waiting requests their turns one after the other', () => {
    const { budget } = aBudget(1, 1_000)
    const waits = [1, 2, 3].map(() => {
      const waitMs = budget.waitMs()
      budget.take()
      return waitMs
    })
    expect(waits).toEqual([0, 1_000, 2_000])
  })
})

describe('a refusal for too many requests', () => {
  /** Milliseconds until the next turn. */
  const pauseOf = ({ time, budget }: ReturnType<typeof aBudget>): number => {
    const startMs = time.ms
    while (budget.waitMs() === Number.POSITIVE_INFINITY) time.ms += 500
    return time.ms - startMs
  }

  it('doubles the pause each time in a row, up to ten minutes', () => {
    const budget = aBudget(99, 1)
    const pauses: number[] = []
    for (let refusals = 0; refusals < 7; refusals += 1) {
      budget.budget.take().limited()
      pauses.push(pauseOf(budget) / 1_000)
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600])
    budget.budget.take().answered()
    budget.budget.take().limited()
    expect(pauseOf(budget)).toBe(30_000)
  })

  it('lengthens the pause by a random part, up to a quarter', () => {
    const budget = aBudget(99, 1, 1)
    budget.budget.take().limited()
    expect(pauseOf(budget)).toBe(37_500)
  })

  it('counts once for all requests under way, however late their answers come', () => {
    const budget = aBudget(99, 1)
    const [first, second, third, fourth] = [1, 2, 3, 4].map(() => budget.budget.take())
    first?.limited()
    second?.limited()
    third?.answered()
    expect(pauseOf(budget)).toBe(30_000)
    fourth?.limited()
    expect(budget.budget.waitMs()).toBe(0)
    budget.budget.take().limited()
    expect(pauseOf(budget)).toBe(60_000)
  })

  it('makes the requests that are waiting for a turn give up', () => {
    const { budget } = aBudget(1, 1_000)
    const asking = budget.take()
    const waiting = budget.take()
    expect(waiting.isGood()).toBe(true)
    asking.limited()
    expect(waiting.isGood()).toBe(false)
  })

  it('lets a single request through after the pause, until that is answered', () => {
    const budget = aBudget(99, 1)
    budget.budget.take().limited()
    pauseOf(budget)
    const probe = budget.budget.take()
    expect(budget.budget.waitMs()).toBe(Number.POSITIVE_INFINITY)
    probe.unanswered()
    expect(budget.budget.waitMs()).toBe(0)
    budget.budget.take().answered()
    budget.budget.take()
    expect(budget.budget.waitMs()).toBe(0)
  })
})
