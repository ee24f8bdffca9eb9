import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createPart } from './on-demand.ts'

const Shown = () => null

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('a part is fetched when it is wanted, once, and its listeners hear of it', async () => {
  const load = vi.fn(async () => Shown)
  const part = createPart(load)
  const listener = vi.fn()
  part.subscribe(listener)
  expect(load).not.toHaveBeenCalled()
  expect(part.current()).toBeNull()
  part.prefetch()
  part.prefetch()
  await vi.advanceTimersByTimeAsync(0)
  part.prefetch()
  expect(load).toHaveBeenCalledTimes(1)
  expect(listener).toHaveBeenCalledTimes(1)
  expect(part.current()).toBe(Shown)
})

it('a failed load is tried again every 2 s until it succeeds', async () => {
  let online = false
  const load = vi.fn(async () => {
    if (!online) throw new TypeError('failed to fetch')
    return Shown
  })
  const part = createPart(load)
  part.prefetch()
  await vi.advanceTimersByTimeAsync(1999)
  expect(load).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(2001)
  expect(load).toHaveBeenCalledTimes(3)
  expect(part.current()).toBeNull()
  online = true
  await vi.advanceTimersByTimeAsync(2000)
  expect(part.current()).toBe(Shown)
})

it('who does not listen any more hears nothing', async () => {
  const part = createPart(async () => Shown)
  const listener = vi.fn()
  part.subscribe(listener)()
  part.prefetch()
  await vi.advanceTimersByTimeAsync(0)
  expect(listener).not.toHaveBeenCalled()
})
