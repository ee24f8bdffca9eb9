import { describe, expect, it } from 'vitest'
import { createBudget } from './budget.ts'

function aBudget(burst: number, everyMs: number, random = 0) {
  const time = { ms: 0, now: () => time.ms }
  return { time, budget: createBudget({ burst, everyMs }, { time, random: () => random }) }
}

describe('a budget of requests', () => {
  it('lets a burst of requests through, then one in each interval', () => {
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

  it('gives waiting requests their turns in order', () => {
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
  /** Advances the clock to the end of the pause. Returns its length in milliseconds. */
  const waitOutPause = ({ time, budget }: ReturnType<typeof aBudget>): number => {
    const startMs = time.ms
    while (budget.waitMs() === Number.POSITIVE_INFINITY) time.ms += 500
    return time.ms - startMs
  }

  it('causes a pause, which doubles with each refusal in a row, up to ten minutes, until Steam answers', () => {
    const setup = aBudget(99, 1)
    const pauses: number[] = []
    for (let refusals = 0; refusals < 7; refusals += 1) {
      setup.budget.take().limited()
      pauses.push(waitOutPause(setup) / 1_000)
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600])
    setup.budget.take().answered()
    setup.budget.take().limited()
    expect(waitOutPause(setup)).toBe(30_000)
  })

  it('lengthens the pause by a random part, up to a quarter', () => {
    const setup = aBudget(99, 1, 1)
    setup.budget.take().limited()
    expect(waitOutPause(setup)).toBe(37_500)
  })

  it('counts once for all requests that were under way, however late they are answered', () => {
    const setup = aBudget(99, 1)
    const [first, second, third, fourth] = [1, 2, 3, 4].map(() => setup.budget.take())
    first?.limited()
    second?.limited()
    third?.answered()
    expect(waitOutPause(setup)).toBe(30_000)
    fourth?.limited()
    expect(setup.budget.waitMs()).toBe(0)
    setup.budget.take().limited()
    expect(waitOutPause(setup)).toBe(60_000)
  })

  it('makes the requests that are waiting for a turn give up', () => {
    const { budget } = aBudget(1, 1_000)
    const running = budget.take()
    const waiting = budget.take()
    expect(waiting.isValid()).toBe(true)
    running.limited()
    expect(waiting.isValid()).toBe(false)
  })

  it('lets one request through after the pause, and others after that request has ended', () => {
    const setup = aBudget(99, 1)
    setup.budget.take().limited()
    waitOutPause(setup)
    const probe = setup.budget.take()
    expect(setup.budget.waitMs()).toBe(Number.POSITIVE_INFINITY)
    probe.unanswered()
    expect(setup.budget.waitMs()).toBe(0)
    setup.budget.take().answered()
    setup.budget.take()
    expect(setup.budget.waitMs()).toBe(0)
  })
})
