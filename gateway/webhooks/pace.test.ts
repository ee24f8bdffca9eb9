import { describe, expect, it } from 'vitest'
import { createPace, placesLeft } from './pace.ts'

const accepted = { kind: 'answered', status: 204, text: '' } as const

describe('the patience with a store', () => {
  it('is the minimum for an unknown or a quick store', () => {
    const pace = createPace(500)
    expect(pace.patienceMs()).toBe(500)
    for (let n = 0; n < 20; n += 1) pace.record(accepted, 40)
    expect(pace.patienceMs()).toBe(500)
  })

  it('grows if a store answers every call slowly, so its calls do not count as hanging', () => {
    const pace = createPace(500)
    for (let n = 0; n < 20; n += 1) pace.record(accepted, 8_000)
    expect(pace.patienceMs()).toBeGreaterThan(15_000)
    for (let n = 0; n < 20; n += 1) pace.record(accepted, 40)
    expect(pace.patienceMs()).toBe(500)
  })

  it('is set by the first answer', () => {
    const pace = createPace(500)
    pace.record(accepted, 8_000)
    expect(pace.patienceMs()).toBe(16_000)
  })

  it('uses earlier answers, oldest first, and each newer answer reduces the weight of an old one', () => {
    expect(createPace(500, [2_000, 2_000]).patienceMs()).toBe(4_000)
    expect(createPace(500, [8_000, 400]).patienceMs()).toBeGreaterThan(
      createPace(500, [400, 8_000]).patienceMs(),
    )
    expect(createPace(500, [8_000, ...Array(12).fill(40)]).patienceMs()).toBeLessThan(1_000)
  })

  it('ignores failed attempts', () => {
    const pace = createPace(500)
    pace.record({ kind: 'failed', reason: 'no answer in time' }, 15_000)
    pace.record({ kind: 'answered', status: 504, text: '' }, 10_000)
    expect(pace.patienceMs()).toBe(500)
  })
})

describe('the number of free places', () => {
  const load = { open: 0, hanging: 0, busyStores: 1, ownEndpoints: 1 }

  it.each([
    ['first', { open: 5 }, 3],
    ['first', { open: 8 }, 0],
    ['first', { open: 8, hanging: 3 }, 3],
    ['first', { open: 62, hanging: 62 }, 2],
    ['first', { open: 64, hanging: 64 }, 0],
    // A thousand calls hang, far more than the 64 calls that the lane may have open.
    ['first', { open: 1_000, hanging: 1_000 }, 0],
    ['again', { open: 2 }, 2],
    ['again', { open: 4 }, 0],
    ['again', { open: 15, hanging: 15 }, 1],
    ['again', { open: 16, hanging: 16 }, 0],
  ] as const)('in the lane "%s" with %j is %i', (lane, change, places) => {
    expect(placesLeft(lane, { ...load, ...change })).toBe(places)
  })

  it('shrinks while many stores are busy, but an empty lane always has its width', () => {
    // Each of the 40 stores may have 25 of the process's 1,000 attempts, four fifths of them first attempts.
    const many = { ...load, busyStores: 40 }
    expect(placesLeft('first', { ...many, open: 19, hanging: 19 })).toBe(1)
    expect(placesLeft('first', { ...many, open: 20, hanging: 20 })).toBe(0)
    expect(placesLeft('first', { ...load, busyStores: 100_000 })).toBe(8)
    expect(placesLeft('again', { ...load, busyStores: 100_000 })).toBe(4)
  })

  it.each(['first', 'again'] as const)(
    'in the lane "%s" is divided among the busy endpoints of a store',
    (lane) => {
      const undivided = placesLeft(lane, load)
      const most = lane === 'first' ? 64 : 16
      for (const ownEndpoints of [2, 4, 10]) {
        const divided = placesLeft(lane, { ...load, ownEndpoints })
        expect(divided).toBe(Math.max(2, Math.floor(undivided / ownEndpoints)))
        // Hanging attempts do not count towards the width. The limit on all open attempts is divided too.
        const open = Math.max(2, Math.floor(most / ownEndpoints))
        expect(placesLeft(lane, { ...load, ownEndpoints, open, hanging: open })).toBe(0)
      }
    },
  )
})
