import { describe, expect, it } from 'vitest'
import type { TradeLane } from './bot.ts'
import { createLanes } from './lanes.ts'

/** Lanes whose work lasts until a test ends it. */
function stuckLanes() {
  const starts: bigint[] = []
  const ends = new Map<bigint, () => void>()
  const lanes = createLanes((tradeId) => {
    starts.push(tradeId)
    return new Promise((resolve) => ends.set(tradeId, resolve))
  })
  const end = async (tradeId: bigint) => {
    ends.get(tradeId)?.()
    await new Promise(setImmediate)
  }
  return { ...lanes, starts, end }
}

const ALL_LANES: TradeLane[] = ['sends', 'cancels', 'reads', 'settling', 'reviews']

describe('the lanes of a bot', () => {
  it.each(ALL_LANES)('are independent: %s run while every other lane is full', (lane) => {
    const { add, starts } = stuckLanes()
    for (const other of ALL_LANES.filter((each) => each !== lane)) {
      for (let n = 0; n < 50; n += 1) void add(BigInt(ALL_LANES.indexOf(other) * 100 + n), other)
    }
    void add(999n, lane)
    expect(starts).toContain(999n)
  })

  it('send one offer at a time, in order of arrival', async () => {
    const { add, starts, end } = stuckLanes()
    for (const id of [1n, 2n, 3n]) void add(id, 'sends')
    expect(starts).toEqual([1n])
    await end(1n)
    expect(starts).toEqual([1n, 2n])
  })

  it('hold each trade once, even if the trade moves to another lane', async () => {
    const { add, starts, end } = stuckLanes()
    for (const id of [1n, 2n, 2n]) void add(id, 'reviews')
    void add(2n, 'sends')
    expect(starts).toEqual([1n, 2n])
    await end(1n)
    await end(2n)
    expect(starts).toEqual([1n, 2n])
  })

  it('give a second turn to a trade that is added again during its first turn', async () => {
    const { add, starts, end } = stuckLanes()
    void add(1n, 'sends')
    void add(1n, 'sends')
    await end(1n)
    expect(starts).toEqual([1n, 1n])
  })

  it('drop waiting trades when they stop, and wait for running trades', async () => {
    const { add, starts, end, stop } = stuckLanes()
    const turns = Promise.all([add(1n, 'sends'), add(2n, 'sends')])
    const stopped = stop()
    await end(1n)
    await stopped
    expect(await turns).toEqual(['taken', 'dropped'])
    expect(starts).toEqual([1n])
  })
})
