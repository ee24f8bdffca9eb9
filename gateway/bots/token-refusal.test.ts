import { describe, expect, it } from 'vitest'
import { judgeTokenRefusal } from './token-refusal.ts'

const FIRST = new Date('2026-11-22T12:00:00Z')
const atMinute = (minutes: number) => new Date(FIRST.getTime() + minutes * 60_000)

describe('a refused token', () => {
  it('D-18 is tried again for an hour, and is dead if it is then refused', () => {
    const retries: number[] = []
    let now = FIRST
    let since: Date | null = null
    for (;;) {
      const verdict = judgeTokenRefusal(since, now)
      if (verdict.kind === 'dead') break
      since ??= now
      retries.push((verdict.at.getTime() - FIRST.getTime()) / 60_000)
      now = verdict.at
    }
    expect(retries).toEqual([5, 10, 20, 40, 60])
  })

  it('is not dead before an hour has passed since the first refusal', () => {
    expect(judgeTokenRefusal(FIRST, atMinute(59))).toEqual({ kind: 'again', at: atMinute(60) })
    expect(judgeTokenRefusal(FIRST, FIRST)).toEqual({ kind: 'again', at: atMinute(5) })
  })
})
