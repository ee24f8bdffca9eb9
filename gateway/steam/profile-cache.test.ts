import { beforeEach, describe, expect, it } from 'vitest'
import { cacheProfiles } from './profile-cache.ts'
import type { ProfileAnswer } from './steam.ts'

const MINUTE_MS = 60_000

let nowMs: number
let reads: string[]
let answer: (steamId: string) => Promise<ProfileAnswer>
let read: (steamId: string) => Promise<ProfileAnswer>

const profileOf = (steamId: string): ProfileAnswer => ({
  kind: 'profile',
  profile: { steamId, name: 'nova', avatarUrl: 'a', profileUrl: 'p', level: 1, memberSince: null },
})

beforeEach(() => {
  nowMs = 0
  reads = []
  answer = async (steamId) => profileOf(steamId)
  const readProfile = (steamId: string) => {
    reads.push(steamId)
    return answer(steamId)
  }
  read = cacheProfiles(readProfile, () => nowMs)
})

describe('a profile', () => {
  it('is read once in five minutes', async () => {
    for (let n = 0; n < 100; n += 1) expect(await read('1')).toEqual(profileOf('1'))
    nowMs = 5 * MINUTE_MS - 1
    await read('1')
    expect(reads).toEqual(['1'])
    nowMs += 1
    await read('1')
    expect(reads).toEqual(['1', '1'])
  })

  it('is read once for all callers at the same moment', async () => {
    const pendingAnswer = Promise.withResolvers<ProfileAnswer>()
    answer = () => pendingAnswer.promise
    const answers = Promise.all(Array.from({ length: 50 }, () => read('1')))
    pendingAnswer.resolve(profileOf('1'))
    expect(new Set(await answers).size).toBe(1)
    expect(reads).toHaveLength(1)
  })

  it.each<[string, ProfileAnswer, number]>([
    ['an unknown account', { kind: 'unknown_account' }, MINUTE_MS],
    ['no answer', { kind: 'unavailable', reason: 'timeout', detail: '' }, 1_000],
  ])('is read again sooner after %s', async (_what, failure, keptMs) => {
    answer = async () => failure
    expect(await read('1')).toEqual(failure)
    nowMs = keptMs - 1
    await read('1')
    expect(reads).toHaveLength(1)
    nowMs = keptMs
    answer = async (steamId) => profileOf(steamId)
    expect(await read('1')).toEqual(profileOf('1'))
  })

  it('is read again after a read that threw', async () => {
    answer = () => Promise.reject(new Error('no library'))
    await expect(read('1')).rejects.toThrow('no library')
    answer = async (steamId) => profileOf(steamId)
    expect(await read('1')).toEqual(profileOf('1'))
  })

  it('is dropped when 5,000 newer profiles are cached', async () => {
    for (let n = 0; n <= 5_000; n += 1) await read(String(n))
    reads.length = 0
    await read('5000')
    await read('1')
    expect(reads).toEqual([])
    await read('0')
    expect(reads).toEqual(['0'])
  })
})
