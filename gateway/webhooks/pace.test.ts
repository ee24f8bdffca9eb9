import { describe, expect, it } from 'vitest'
import { createPace, placesLeft } from './pace.ts'

const taken = { kind: 'answered', status: 204, text: '' } as const

describe('the patience with a store', () => {
  it('is the least one as long as nothing is known, and with one that answers quickly', () => {
    const pace = createPace(500)
    expect(pace.patienceMs()).toBe(500)
    for (let n = 0; n < 20; n += 1) pace.ended(taken, 40)
    expect(pace.patienceMs()).toBe(500)
  })

  it('grows with one that is slow with everything: an overloaded store gets no more calls at a time', () => {
    const pace = createPace(500)
    for (let n = 0; n < 20; n += 1) pace.ended(taken, 8_000)
    expect(pace.patienceMs()).toBeGreaterThan(15_000)
    for (let n = 0; n < 20; n += 1) pace.ended(taken, 40)
    expect(pace.patienceMs()).toBe(500)
  })

  it('knows from the first answer how long an event takes', () => {
    const pace = createPace(500)
    pace.ended(taken, 8_000)
    expect(pace.patienceMs()).toBe(16_000)
  })

  it('knows what was before, and what is newer counts for more', () => {
    expect(createPace(500, [2_000, 2_000]).patienceMs()).toBe(4_000)
    expect(createPace(500, [8_000, 400]).patienceMs()).toBeGreaterThan(
      createPace(500, [400, 8_000]).patienceMs(),
    )
    expect(createPace(500, [8_000, ...Array(12).fill(40)]).patienceMs()).toBeLessThan(1_000)
  })

  it('learns nothing from what was not taken', () => {
    const pace = createPace(500)
    pace.ended({ kind: 'failed', reason: 'no answer in time' }, 15_000)
    pace.ended({ kind: 'answered', status: 504, text: '' }, 10_000)
    expect(pace.patienceMs()).toBe(500)
  })
})

describe('places', () => {
  const load = { open: 0, hanging: 0, busyEndpoints: 1 }

  it.each([
    ['first', { open: 5 }, 3],
    ['first', { open: 8 }, 0],
    ['first', { open: 8, hanging: 3 }, 3],
    ['first', { open: 62, hanging: 62 }, 2],
    ['first', { open: 64, hanging: 64 }, 0],
    ['again', { open: 2 }, 2],
    ['again', { open: 4 }, 0],
    ['again', { open: 15, hanging: 15 }, 1],
    ['again', { open: 16, hanging: 16 }, 0],
  ] as const)('of the lane %s with %j: %i', (lane, some, places) => {
    expect(placesLeft(lane, { ...load, ...some })).toBe(places)
  })

  it('beyond the width are fewer where many endpoints are busy; the width is never less', () => {
    const many = { busyEndpoints: 40 }
    expect(placesLeft('first', { open: 19, hanging: 19, ...many })).toBe(1)
    expect(placesLeft('first', { open: 20, hanging: 20, ...many })).toBe(0)
    expect(placesLeft('first', { open: 0, hanging: 0, busyEndpoints: 100_000 })).toBe(8)
    expect(placesLeft('again', { open: 0, hanging: 0, busyEndpoints: 100_000 })).toBe(4)
  })
})
