const WINDOW_MS = 1000
const MOST_REQUESTS = 5

export type Limits = ReturnType<typeof createLimits>

/** Counts the requests with each key of the market.csgo.com family over all its hosts, and allows 5 in any second. */
export function createLimits() {
  let requestTimes = new Map<string, number[]>()
  return {
    /** Counts a request, and returns true if it is one too many. */
    isOver(key: string, nowMs: number): boolean {
      const recent = (requestTimes.get(key) ?? []).filter((atMs) => atMs > nowMs - WINDOW_MS)
      requestTimes.set(key, [...recent, nowMs])
      return recent.length >= MOST_REQUESTS
    },
    clear() {
      requestTimes = new Map()
    },
  }
}
