const WINDOW_MS = 1000
const MOST_REQUESTS = 5

export type Limits = ReturnType<typeof createLimits>

/** Counts the requests with each key of the market.csgo.com family over all its hosts. Refused ones count too. */
export function createLimits() {
  let requestTimes = new Map<string, number[]>()
  return {
    /** Counts a request. Returns true if there were already 5 in the second before it. */
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
