import { describe, expect, it } from 'vitest'
import { botsWithoutRoom, shareOf } from './spread.ts'

/** Returns the share of each process. `rooms`: how many bots each may hold. */
const shares = (rooms: number[], bots: number) => {
  const processes = rooms.map((maxBots, index) => ({ owner: String(index), maxBots }))
  return processes.map(({ owner }) => shareOf(owner, processes, bots))
}

describe('the share of a process', () => {
  it.each([
    ['one process', [50], 20, [20]],
    ['two processes', [50, 50], 20, [10, 10]],
    ['an odd number of bots', [50, 50], 21, [11, 11]],
    ['a small process', [50, 5], 20, [15, 5]],
    ['two small processes', [3, 50, 5], 20, [3, 12, 5]],
    ['a process with room for exactly its even share', [10, 50], 20, [10, 10]],
    ['more bots than places', [5, 8], 20, [5, 8]],
    ['no bots', [50, 50], 0, [0, 0]],
  ])('is even, as far as each process has room for it: %s', (_, rooms, bots, expected) => {
    expect(shares(rooms, bots)).toEqual(expected)
  })

  it('covers every bot while a process has room, and never exceeds what a process may hold', () => {
    for (let bots = 0; bots <= 30; bots += 1) {
      for (const rooms of [[1, 2, 3], [7], [4, 4, 4], [1, 30], [2, 9, 9]]) {
        const perProcess = shares(rooms, bots)
        const places = rooms.reduce((sum, room) => sum + room, 0)
        const total = perProcess.reduce((sum, share) => sum + share, 0)
        expect(total).toBeGreaterThanOrEqual(Math.min(bots, places))
        expect(perProcess.every((share, index) => share <= (rooms[index] ?? 0))).toBe(true)
      }
    }
  })

  it('is zero while no process is known', () => {
    expect(shareOf('gone', [], 20)).toBe(0)
  })
})

it('bots for which no process has room are counted, unless no process runs', () => {
  const processes = [
    { owner: 'a', maxBots: 2 },
    { owner: 'b', maxBots: 1 },
  ]
  expect([2, 3, 4, 6].map((bots) => botsWithoutRoom(processes, bots))).toEqual([0, 0, 1, 3])
  expect(botsWithoutRoom([], 3)).toBe(0)
})
