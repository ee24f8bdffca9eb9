import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { aPayment } from '../../contract/testing/payment.ts'
import { captureLog } from '../testing/log.ts'
import type { View } from './shopper-view.ts'
import { createViewCache, type ViewCache } from './view-cache.ts'

const viewOf = (etag: string): View => ({
  depositId: 1n,
  etag,
  body: '{}',
  openTrade: null,
  payment: aPayment(),
})

/** Reads like a database: each answer shows the state at the start of its read. */
function fakeReader() {
  const state = { truth: new Map([['a', '1']]), reads: [] as string[][], unfinished: [] as (() => void)[] }
  const options = { slow: false, broken: false }
  const read = async (hashes: readonly string[]): Promise<Map<string, View>> => {
    state.reads.push([...hashes])
    const truthAtStart = new Map(state.truth)
    if (options.broken) throw new Error('the database is away')
    if (options.slow) await new Promise<void>((resolve) => state.unfinished.push(resolve))
    return new Map(
      hashes.flatMap((hash) => {
        const etag = truthAtStart.get(hash)
        return etag === undefined ? [] : [[hash, viewOf(etag)] as const]
      }),
    )
  }
  return { ...state, options, read }
}

let reader: ReturnType<typeof fakeReader>
let cache: ViewCache
const captured = captureLog()

beforeEach(() => {
  // Fake nothing else: a timer left by an earlier file of this worker must not count as the cache's.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  reader = fakeReader()
  cache = createViewCache({ read: reader.read, log: captured.log, nowMs: () => performance.now() })
})
afterEach(() => {
  cache.stop()
  vi.useRealTimers()
})

const etag = async (hash = 'a') => (await cache.get(hash))?.etag

describe('polled views', () => {
  it('are read once, then all together every half second', async () => {
    reader.truth.set('b', '1')
    for (let poll = 0; poll < 100; poll += 1) await Promise.all([etag('a'), etag('b')])
    expect(reader.reads).toEqual([['a'], ['b']])
    reader.truth.set('b', '2')
    await vi.advanceTimersByTimeAsync(500)
    expect(reader.reads.slice(2)).toEqual([['a', 'b']])
    expect(await etag('b')).toBe('2')
  })

  it('are forgotten ten seconds after the last poll, and are then no longer read', async () => {
    await etag()
    await vi.advanceTimersByTimeAsync(11_000)
    const readsBefore = reader.reads.length
    await vi.advanceTimersByTimeAsync(60_000)
    expect(reader.reads).toHaveLength(readsBefore)
    expect(vi.getTimerCount()).toBe(0)
    expect(await etag()).toBe('1')
  })

  it('are known while they are cached', async () => {
    await cache.readNow('a')
    await cache.readNow('none')
    expect(['a', 'none', 'b'].map(cache.has)).toEqual([true, false, false])
    await vi.advanceTimersByTimeAsync(11_000)
    expect(cache.has('a')).toBe(false)
  })

  it('are cached for at most 20,000 deposits; others are read for each call', async () => {
    for (let n = 0; n <= 20_000; n += 1) {
      reader.truth.set(`${n}`, '1')
      expect((await cache.readNow(`${n}`))?.etag).toBe('1')
      reader.truth.delete(`${n}`)
    }
    expect(['19999', '20000'].map(cache.has)).toEqual([true, false])
    expect([await etag('19999'), await etag('20000')]).toEqual(['1', undefined])
  })

  it('are read once for simultaneous calls', async () => {
    await Promise.all(Array.from({ length: 50 }, () => cache.readNow('a')))
    expect(reader.reads).toEqual([['a']])
  })

  it('are read at most fifty times in a row for a link, then five times a second, and otherwise come from the cache', async () => {
    const readsOf = async (calls: number) => {
      const readsBefore = reader.reads.length
      for (let n = 0; n < calls; n += 1) expect((await cache.readNow('a'))?.etag).toBe('1')
      return reader.reads.length - readsBefore
    }
    expect(await readsOf(200)).toBe(50)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await readsOf(200)).toBe(5)
    reader.truth.set('b', '1')
    await cache.readNow('b')
    expect(reader.reads.at(-1)).toEqual(['b'])
  })

  it('are at most half a second old, even for a link that asks too often', async () => {
    for (let n = 0; n < 50; n += 1) await cache.readNow('a')
    reader.truth.set('a', '2')
    expect((await cache.readNow('a'))?.etag).toBe('1')
    await vi.advanceTimersByTimeAsync(500)
    expect((await cache.readNow('a'))?.etag).toBe('2')
  })

  it('are not cached for an unknown deposit', async () => {
    expect(await etag('none')).toBeUndefined()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('are not replaced by an older, slower read', async () => {
    await etag()
    reader.options.slow = true
    await vi.advanceTimersByTimeAsync(500)
    reader.options.slow = false
    reader.truth.set('a', '2')
    await vi.advanceTimersByTimeAsync(10)
    expect((await cache.readNow('a'))?.etag).toBe('2')
    for (const finish of reader.unfinished) finish()
    await vi.advanceTimersByTimeAsync(0)
    expect(await etag()).toBe('2')
  })

  it('are served for five seconds after the database fails, and again when it answers', async () => {
    await etag()
    reader.options.broken = true
    await vi.advanceTimersByTimeAsync(4_000)
    expect(await etag()).toBe('1')
    await vi.advanceTimersByTimeAsync(2_000)
    await expect(etag()).rejects.toThrow('the database is away')
    expect(captured.lines.join('')).toContain('could not be refreshed')
    reader.options.broken = false
    expect(await etag()).toBe('1')
  })
})
