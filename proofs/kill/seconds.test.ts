import { describe, expect, it } from 'vitest'
import { secondsInWords, secondsOf } from './seconds.ts'

describe('measured seconds', () => {
  it('are compared with a limit that is stretched if the machine was slow during their series', () => {
    const slow = { ms: [3_900, 1_000], speed: 0.5 }
    const quick = { ms: [1_900], speed: 1 }
    expect(secondsOf([slow, quick], { mostMs: 2_000 })).toEqual({
      kind: 'measured',
      count: 3,
      medianMs: 1_900,
      mostMs: 3_900,
      limitMs: 2_000,
      limitHereMs: 4_000,
      isWithin: true,
    })
    expect(secondsOf([slow, { ...quick, ms: [2_100] }], { mostMs: 2_000 })).toMatchObject({
      mostMs: 3_900,
      limitHereMs: 2_000,
      isWithin: false,
    })
  })

  it('have a limit whose fixed part does not grow on a slower machine', () => {
    const seconds = secondsOf([{ ms: [34_000], speed: 0.5 }], { mostMs: 30_000, waitMs: 25_000 })
    expect(seconds).toMatchObject({ limitHereMs: 35_000, isWithin: true })
  })

  it('have no shorter limit on a faster machine', () => {
    expect(secondsOf([{ ms: [1_900], speed: 2 }], { mostMs: 2_000 })).toMatchObject({ limitHereMs: 2_000 })
  })

  it('are reported as not measured if nothing was measured', () => {
    const seconds = secondsOf([{ ms: [], speed: 1 }], { mostMs: 2_000 })
    expect(secondsInWords('bots', seconds)).toBe('bots: not measured in so few rounds')
  })
})
