import { describe, expect, it } from 'vitest'
import { createLoginRetry } from './login-retry.ts'

const waits = (random: number, count: number): number[] => {
  const retry = createLoginRetry(() => random)
  return Array.from({ length: count }, () => retry.nextMs() / 1_000)
}

describe('a login that fails', () => {
  it('is repeated after a wait that doubles, up to five minutes', () => {
    expect(waits(0.5, 11)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  })

  it('is repeated up to a quarter earlier or later, at random', () => {
    expect(waits(0, 1)).toEqual([0.75])
    expect(waits(1, 1)).toEqual([1.25])
  })

  it('starts again with the shortest wait only after a session that lasted more than 15 seconds', () => {
    const retry = createLoginRetry(() => 0.5)
    retry.nextMs()
    retry.recordSessionEnd(15_000)
    expect(retry.nextMs()).toBe(2_000)
    retry.recordSessionEnd(15_001)
    expect(retry.nextMs()).toBe(1_000)
  })

  it('because of our own limits waits for its turn, and does not double its wait', () => {
    const retry = createLoginRetry(() => 0.5)
    expect([retry.nextTurnMs(), retry.nextTurnMs(), retry.nextMs()]).toEqual([3_000, 3_000, 1_000])
  })
})
