import { describe, expect, test } from 'vitest'
import type { Time } from '../steam/budget.ts'
import { METHODS } from '../steam/methods.ts'
import { createFairQueue, type ReadOwner } from './fair-queue.ts'

/** How long Steam takes for an inventory. */
const READ_MS = 600
/** How often a deposit may ask in a minute (inventory/allowance.ts). */
const ALLOWED_PER_MINUTE = 12

/** A clock that advances only when everything waits. */
function simulate() {
  let nowMs = 0
  const sleepers: { atMs: number; wake: () => void }[] = []
  const time: Time = {
    now: () => nowMs,
    pause: (ms) => new Promise((wake) => sleepers.push({ atMs: nowMs + ms, wake })),
  }
  const settle = async () => {
    // Twenty microtasks in a row are more than the longest chain of promises in the queue.
    for (let n = 0; n < 20; n += 1) await Promise.resolve()
  }
  const advanceTo = async (ms: number) => {
    await settle()
    for (;;) {
      const [next] = sleepers.sort((a, b) => a.atMs - b.atMs)
      if (next === undefined || next.atMs > ms) break
      sleepers.shift()
      nowMs = next.atMs
      next.wake()
      await settle()
    }
    nowMs = ms
  }
  return { time, advanceTo }
}

type Read = ReadOwner & { atMs: number; doneMs: number }

function start(budget = METHODS.partnerinventory.account) {
  const { time, advanceTo } = simulate()
  const queue = createFairQueue({ budget, time })
  const reads: Read[] = []
  const ask = (storeId: string, depositId: string, spends = true) => {
    void queue.add({ storeId, depositId }, async (spend) => {
      const atMs = time.now()
      if (spends) spend()
      await time.pause(READ_MS)
      reads.push({ storeId, depositId, atMs, doneMs: time.now() })
    })
  }
  const doneMs = (depositId: string) => reads.find((read) => read.depositId === depositId)?.doneMs
  return { queue, reads, ask, advanceTo, doneMs, time }
}

describe('an honest shopper', () => {
  /**
   * Milliseconds until the shopper's first inventory arrives, after another deposit has asked `perMinute` times in each
   * of two minutes.
   */
  async function firstInventory(perMinute: number, storeOfOther: string): Promise<number> {
    const { ask, advanceTo, doneMs } = start()
    for (let n = 0; n < perMinute * 2; n += 1) {
      // The worst case: that deposit asks in one burst per minute, and its second burst comes just before the shopper.
      if (n === perMinute) await advanceTo(59_990)
      ask(storeOfOther, 'greedy')
    }
    await advanceTo(60_000)
    ask('store', 'honest')
    await advanceTo(90_000)
    return (doneMs('honest') ?? Number.POSITIVE_INFINITY) - 60_000
  }

  test.each([
    ['the same store', 'store'],
    ['another store', 'another store'],
  ])(
    'waits at most one second longer while another deposit of %s asks as often as allowed',
    async (_, store) => {
      const alone = await firstInventory(0, store)
      expect(alone).toBe(READ_MS)
      expect((await firstInventory(ALLOWED_PER_MINUTE, store)) - alone).toBeLessThanOrEqual(1_000)
    },
  )

  test('is served before all waiting pages that have already had a read', async () => {
    const { ask, advanceTo, reads } = start({ burst: 20, everyMs: 4_000 })
    for (let n = 0; n < 20; n += 1) ask('store', `page ${n}`)
    await advanceTo(10_000)
    for (let n = 0; n < 20; n += 1) ask('store', `page ${n}`)
    ask('store', 'honest')
    reads.length = 0
    await advanceTo(25_000)
    // The budget had saved up two turns when the pages asked again.
    expect(reads.findIndex(({ depositId }) => depositId === 'honest')).toBe(2)
  })
})

describe('a store', () => {
  test('with many shoppers leaves every second turn to another store once the budget is spent', async () => {
    const { ask, advanceTo, reads } = start({ burst: 1, everyMs: 1_000 })
    for (let n = 0; n < 40; n += 1) ask('big', `big ${n}`)
    await advanceTo(1_500)
    for (let n = 0; n < 5; n += 1) ask('small', `small ${n}`)
    reads.length = 0
    await advanceTo(12_000)
    // The first of these reads began before the small store came.
    expect(reads.slice(1, 9).map(({ storeId }) => storeId)).toEqual([
      'small',
      'big',
      'small',
      'big',
      'small',
      'big',
      'small',
      'big',
    ])
  })

  test('never takes all simultaneous reads, so another store is served immediately', async () => {
    const { ask, advanceTo, reads } = start()
    for (let n = 0; n < 10; n += 1) ask('big', `big ${n}`)
    await advanceTo(100)
    ask('small', 'small')
    await advanceTo(100 + READ_MS)
    expect(reads.filter(({ storeId }) => storeId === 'big')).toHaveLength(3)
    expect(reads.filter(({ storeId }) => storeId === 'small')).toHaveLength(1)
  })
})

describe('the budget', () => {
  test('allows a burst, and then one read every four seconds', async () => {
    const { ask, advanceTo, reads } = start({ burst: 3, everyMs: 4_000 })
    for (let n = 0; n < 6; n += 1) ask(`store ${n}`, `page ${n}`)
    await advanceTo(15_000)
    expect(reads.map(({ atMs }) => atMs)).toEqual([0, 0, 0, 4_000, 8_000, 12_000])
  })

  test('is not spent by a turn that does not ask Steam', async () => {
    const { ask, advanceTo, reads } = start({ burst: 1, everyMs: 60_000 })
    for (let n = 0; n < 5; n += 1) ask('store', `page ${n}`, false)
    await advanceTo(5 * READ_MS)
    expect(reads).toHaveLength(5)
  })

  test('is not spent on calls whose callers have given up', async () => {
    const { queue, ask, advanceTo, reads } = start({ burst: 1, everyMs: 15_000 })
    for (let n = 0; n < 5; n += 1) ask('store', `page ${n}`)
    await advanceTo(29_000)
    ask('store', 'late')
    await advanceTo(31_000)
    expect(reads.map(({ depositId }) => depositId)).toEqual(['page 0', 'page 1', 'late'])
    expect(queue.waiting()).toBe(0)
  })
})

test('turns that wait when the queue stops are dropped, and their promises resolve', async () => {
  const { queue, ask, advanceTo, reads } = start()
  ask('store', 'page')
  const dropped = queue.add({ storeId: 'store', depositId: 'page' }, () => Promise.reject(new Error('no')))
  queue.stop()
  await dropped
  await advanceTo(READ_MS)
  expect(reads).toHaveLength(1)
})

test('a turn that expires while the queue drops expired turns resolves too', async () => {
  let nowMs = 0
  let stepMs = 0
  // With a step, each reading of the clock advances it.
  const now = () => {
    nowMs += stepMs
    return nowMs
  }
  const time: Time = { now, pause: () => new Promise(() => {}) }
  const queue = createFairQueue({ budget: METHODS.partnerinventory.account, time })
  const endless = () => new Promise<void>(() => {})
  const ask = (depositId: string) => queue.add({ storeId: 'store', depositId }, endless)
  void ask('page')
  let isResolved = false
  void ask('page').then(() => {
    isResolved = true
  })
  nowMs = 19_997
  stepMs = 1
  void ask('page')
  nowMs = 30_000
  void ask('page')
  await Promise.resolve()
  expect(isResolved).toBe(true)
})
