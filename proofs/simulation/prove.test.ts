import { describe, expect, it } from 'vitest'
import { simulateProof } from './prove.ts'

const problemsOf = (given: Record<string, unknown>) =>
  simulateProof.options.safeParse(given).error?.issues.map(({ path }) => path.join()) ?? []

describe('npm run prove -- simulate', () => {
  it('runs 50 seeds of the pure level by default, or the seed that is named', () => {
    expect(simulateProof.options.parse({})).toMatchObject({ level: 'pure', seeds: 50, from: 1 })
    expect(simulateProof.options.parse({})).not.toHaveProperty('seed')
    expect(simulateProof.options.parse({ seed: '7' })).toMatchObject({ seed: 7 })
  })

  it('keeps the result of 1,000 pure or 100 real seeds, but not of fewer, nor with `seed` or `choose`', () => {
    expect(problemsOf({ keep: true, seeds: '1000' })).toEqual([])
    expect(problemsOf({ keep: true, seeds: '100', level: 'real' })).toEqual([])
    expect(problemsOf({ keep: true, seeds: '999' })).toEqual(['keep'])
    expect(problemsOf({ keep: true, seeds: '1000', seed: '7' })).toEqual(['keep'])
    expect(problemsOf({ keep: true, seeds: '1000', level: 'real', choose: true })).toEqual(['keep'])
  })

  it('accepts `choose` only on the real level', () => {
    expect(problemsOf({ choose: true, level: 'real' })).toEqual([])
    expect(problemsOf({ choose: true })).toEqual(['choose'])
  })
})
