import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { wait } from './wait.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Starts a wait, and returns a function that says whether it has ended. */
function startWait(ms: number, signal: AbortSignal): () => boolean {
  let hasEnded = false
  void wait(ms, signal).then(() => {
    hasEnded = true
  })
  return () => hasEnded
}

it('a wait ends on time, and not a millisecond before', async () => {
  const ended = startWait(700, new AbortController().signal)
  await vi.advanceTimersByTimeAsync(699)
  expect(ended()).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(ended()).toBe(true)
})

it('a wait ends when it is aborted, and leaves no timer', async () => {
  const controller = new AbortController()
  const ended = startWait(700, controller.signal)
  controller.abort()
  await vi.advanceTimersByTimeAsync(0)
  expect(ended()).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})

it('a wait that is aborted before it begins ends immediately', async () => {
  const ended = startWait(700, AbortSignal.abort())
  await vi.advanceTimersByTimeAsync(0)
  expect(ended()).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})
