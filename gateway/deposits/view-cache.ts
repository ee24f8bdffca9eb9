/** Keeps polled views and refreshes them together, so most polls run no query. */
import { createBuckets, type Rate } from '../http/limits.ts'
import type { Log } from '../kit/log.ts'
import type { View, ViewReader } from './shopper-view.ts'

export type ViewCache = {
  /** Resolves to the cached view, or reads it if none is recent; undefined if there is no such deposit. */
  get(hash: string): Promise<View | undefined>
  /** Returns a cached view without a query; undefined if there is no recent one. */
  peek(hash: string): View | undefined
  /** True if a polled deposit has this hash. False proves nothing. */
  has(hash: string): boolean
  /** Reads a view now. A view that is read too often comes from the cache instead, unless the cached one is old. */
  readNow(hash: string): Promise<View | undefined>
  stop(): void
}

type Options = {
  read: ViewReader
  log: Log
  /** Monotonic milliseconds. */
  nowMs(): number
}

const REFRESH_MS = 500
/** A page that has not polled for this long is gone. */
const FORGET_MS = 10_000
/** A view that was read longer ago is not recent. Views get this old while the database is down. */
const STALE_MS = 5_000
/** The most views to keep. A view that is not kept is read for each call. */
const MOST_VIEWS = 20_000
/** How often calls may read one cached view again. A page needs that when it is opened or shown again. */
const FRESH_READS: Rate = { perSecond: 5, burst: 50 }

/** `readMs`: when the read began. A slow read must not replace the result of a later one. */
type Entry = { view: View; readMs: number; polledMs: number }

export function createViewCache({ read, log, nowMs }: Options): ViewCache {
  const entries = new Map<string, Entry>()
  const reading = new Map<string, Promise<View | undefined>>()
  const freshReads = createBuckets(FRESH_READS, nowMs)
  let isRefreshing = false
  let timer: NodeJS.Timeout | undefined

  async function readOne(hash: string): Promise<View | undefined> {
    const readMs = nowMs()
    const view = (await read([hash])).get(hash)
    const entry = entries.get(hash)
    const mayStore = entry === undefined ? entries.size < MOST_VIEWS : entry.readMs <= readMs
    if (view !== undefined && mayStore) {
      entries.set(hash, { view, readMs, polledMs: nowMs() })
      timer ??= setInterval(() => void refresh(), REFRESH_MS).unref()
    }
    return view
  }

  /** Concurrent readers of one hash share one query. */
  function readNow(hash: string): Promise<View | undefined> {
    const running = reading.get(hash)
    if (running !== undefined) return running
    const view = freshReads.take(hash) ? undefined : peek(hash)
    if (view !== undefined) return Promise.resolve(view)
    const started = readOne(hash).finally(() => reading.delete(hash))
    reading.set(hash, started)
    return started
  }

  function peek(hash: string): View | undefined {
    const entry = entries.get(hash)
    const now = nowMs()
    if (entry === undefined || now - entry.readMs > STALE_MS) return undefined
    entry.polledMs = now
    return entry.view
  }

  async function refresh(): Promise<void> {
    if (isRefreshing) return
    isRefreshing = true
    try {
      const readMs = nowMs()
      for (const [hash, entry] of entries) if (readMs - entry.polledMs > FORGET_MS) entries.delete(hash)
      if (entries.size === 0) {
        clearInterval(timer)
        timer = undefined
        return
      }
      const views = await read([...entries.keys()])
      for (const [hash, view] of views) {
        const entry = entries.get(hash)
        if (entry !== undefined && entry.readMs <= readMs) entries.set(hash, { ...entry, view, readMs })
      }
    } catch (error) {
      log.warn({ err: error }, 'polled deposits could not be refreshed')
    } finally {
      isRefreshing = false
    }
  }

  return {
    get: async (hash) => peek(hash) ?? readNow(hash),
    peek,
    has: (hash) => entries.has(hash),
    readNow,
    stop: () => clearInterval(timer),
  }
}
