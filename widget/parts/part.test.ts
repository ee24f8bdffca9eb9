import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { addressesOf } from './loaded-part.ts'
import { changesOfParts, createPart, subscribeToParts } from './part.ts'

const Shown = () => null

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('a part is fetched once, on demand, and listeners are called', async () => {
  const load = vi.fn(async () => Shown)
  const part = createPart(load)
  const listener = vi.fn()
  onTestFinished(subscribeToParts(listener))
  expect(load).not.toHaveBeenCalled()
  expect(part.current()).toEqual({ kind: 'loading' })
  void part.fetch()
  void part.fetch()
  await vi.advanceTimersByTimeAsync(0)
  void part.fetch()
  expect(load).toHaveBeenCalledTimes(1)
  expect(listener).toHaveBeenCalledTimes(1)
  expect(part.current()).toEqual({ kind: 'ready', code: Shown })
})

it('a failed load is repeated every 2 s until it succeeds', async () => {
  let isOnline = false
  const load = vi.fn(async () => {
    if (!isOnline) throw new TypeError('failed to fetch')
    return Shown
  })
  const part = createPart(load)
  void part.fetch()
  await vi.advanceTimersByTimeAsync(1999)
  expect(load).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(2001)
  expect(load).toHaveBeenCalledTimes(3)
  expect(part.current()).toEqual({ kind: 'failed' })
  isOnline = true
  await vi.advanceTimersByTimeAsync(2000)
  expect(part.current()).toEqual({ kind: 'ready', code: Shown })
})

it('a load gets the number of its attempt, because browsers remember failed addresses', async () => {
  const load = vi.fn(async (attempt: number) => {
    if (attempt < 3) throw new TypeError('failed to fetch')
    return Shown
  })
  void createPart(load).fetch()
  await vi.advanceTimersByTimeAsync(4000)
  expect(load.mock.calls).toEqual([[1], [2], [3]])
})

it('a hanging load counts as failed after 10 s, but succeeds when it ends', async () => {
  const { promise, resolve } = Promise.withResolvers<typeof Shown>()
  const part = createPart(() => promise)
  const listener = vi.fn()
  onTestFinished(subscribeToParts(listener))
  void part.fetch()
  await vi.advanceTimersByTimeAsync(9999)
  expect(part.current()).toEqual({ kind: 'loading' })
  await vi.advanceTimersByTimeAsync(1)
  expect(part.current()).toEqual({ kind: 'failed' })
  resolve(Shown)
  await vi.advanceTimersByTimeAsync(0)
  expect(part.current()).toEqual({ kind: 'ready', code: Shown })
  expect(listener).toHaveBeenCalledTimes(2)
})

it('a later attempt uses other addresses, except on a page that is served unbuilt', () => {
  expect(addressesOf('/assets/modals-a.js /assets/modals-b.css', 2)).toEqual({
    script: '/assets/modals-a.js?attempt=2',
    styles: ['/assets/modals-b.css?attempt=2'],
  })
  expect(addressesOf(undefined, 2)).toBeNull()
})

it('`after` returns a part’s state after a given number of changes of all parts, even if others followed', async () => {
  let isOnline = false
  const part = createPart(async () => {
    if (!isOnline) throw new TypeError('failed to fetch')
    return Shown
  })
  const other = createPart(async () => Shown)
  const changesBefore = changesOfParts()
  void part.fetch()
  await vi.advanceTimersByTimeAsync(0)
  void other.fetch()
  await vi.advanceTimersByTimeAsync(0)
  isOnline = true
  await vi.advanceTimersByTimeAsync(2000)
  expect([0, 1, 2, 3].map((changes) => part.after(changesBefore + changes).kind)).toEqual([
    'loading',
    'failed',
    'failed',
    'ready',
  ])
  expect(other.after(changesBefore + 1)).toEqual({ kind: 'loading' })
  expect(other.after(changesBefore + 2)).toEqual({ kind: 'ready', code: Shown })
})

it('a removed listener is not called', async () => {
  const part = createPart(async () => Shown)
  const listener = vi.fn()
  subscribeToParts(listener)()
  void part.fetch()
  await vi.advanceTimersByTimeAsync(0)
  expect(listener).not.toHaveBeenCalled()
})
