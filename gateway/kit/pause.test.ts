import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { pause, within } from './pause.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a pause', () => {
  it('resolves to true once its time has passed', async () => {
    vi.useRealTimers()
    expect(await pause(1, new AbortController().signal)).toBe(true)
  })

  it('resolves to false as soon as its signal aborts, and at once if it has aborted before', async () => {
    const stopping = new AbortController()
    const paused = pause(3_600_000, stopping.signal)
    stopping.abort()
    expect(await paused).toBe(false)
    expect(await pause(3_600_000, stopping.signal)).toBe(false)
  })
})

describe('a wait for work', () => {
  it('gives the result of work that ends in time, and leaves no timer', async () => {
    expect(await within(Promise.resolve('done'), 1_000)).toBe('done')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('gives undefined once the time has passed', async () => {
    const waiting = within(new Promise(() => {}), 1_000)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await waiting).toBeUndefined()
  })

  it('rejects if the work fails in time, and leaves no timer', async () => {
    await expect(within(Promise.reject(new Error('no')), 1_000)).rejects.toThrow('no')
    expect(vi.getTimerCount()).toBe(0)
  })
})
