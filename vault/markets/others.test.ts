import { beforeEach, expect, it } from 'vitest'
import { createOthers, type Others } from './others.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
let others: Others
let nowMs: number

beforeEach(() => {
  others = createOthers()
  nowMs = 1_800_000_000_000
})

const read = (listMinor: bigint | null | undefined, ownMinor: bigint | null) =>
  others.read('570/Cap', { listMinor, ownMinor, nowMs })
const lowest = (lowestMinor: bigint | null) => ({ lowestMinor, mostMinor: null })

it('the price in the list, if it is not ours, is the lowest price of others', () => {
  expect(read(900n, null)).toEqual(lowest(900n))
  expect(read(850n, 899n)).toEqual(lowest(850n))
  // A list without our own listings.
  expect(read(950n, 899n)).toEqual(lowest(950n))
  expect(read(null, 899n)).toEqual(lowest(null))
})

it('the last price of others counts for six hours while our own price is the lowest', () => {
  read(900n, null)
  nowMs += 5 * HOUR_MS
  expect(read(899n, 899n)).toEqual(lowest(900n))
  nowMs += HOUR_MS
  expect(read(899n, 899n)).toEqual(lowest(null))
})

it('after a start, our own price does not rise for six hours if it is the lowest', () => {
  expect(read(899n, 899n)).toEqual({ lowestMinor: null, mostMinor: 899n })
  nowMs += 5 * HOUR_MS
  expect(read(899n, 899n)).toEqual({ lowestMinor: null, mostMinor: 899n })
  nowMs += HOUR_MS
  expect(read(899n, 899n)).toEqual(lowest(null))
})

it('our price of a few minutes ago is not a price of others, because the list may be old', () => {
  read(900n, null)
  read(899n, 899n)
  nowMs += 2 * MINUTE_MS
  expect(read(899n, 850n)).toEqual(lowest(900n))
  nowMs += 29 * MINUTE_MS
  expect(read(899n, 850n)).toEqual(lowest(899n))
})

it('items are kept apart, and an item that was not asked about for a day is forgotten', () => {
  read(900n, null)
  expect(others.read('570/Hat', { listMinor: 899n, ownMinor: 899n, nowMs })).toEqual({
    lowestMinor: null,
    mostMinor: 899n,
  })
  nowMs += 25 * HOUR_MS
  others.read('570/Hat', { listMinor: 899n, ownMinor: 899n, nowMs })
  expect(read(899n, 899n)).toEqual({ lowestMinor: null, mostMinor: 899n })
})

it('without a list, the last price of others counts for six hours, and our price does not rise', () => {
  expect(read(undefined, null)).toEqual(lowest(null))
  read(900n, null)
  nowMs += 5 * HOUR_MS
  expect(read(undefined, null)).toEqual(lowest(900n))
  expect(read(undefined, 850n)).toEqual({ lowestMinor: 900n, mostMinor: 850n })
  nowMs += HOUR_MS
  expect(read(undefined, 850n)).toEqual({ lowestMinor: null, mostMinor: 850n })
})

it('a price at which we may have listed does not count as a price of others for half an hour', () => {
  read(900n, null)
  others.noteOwn('570/Cap', { minor: 899n, nowMs })
  expect(read(899n, null)).toEqual(lowest(900n))
  nowMs += 31 * MINUTE_MS
  expect(read(899n, null)).toEqual(lowest(899n))
})
