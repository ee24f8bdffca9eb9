/** Counts calls to Steam by account and method, until they are stored. */
import type { Method } from '../steam/methods.ts'
import type { Observer } from '../steam/turns.ts'

/**
 * `asked`: calls that were sent. `limited`: Steam refused the call because there were too many. `failed`: no answer, or
 * an answer that shows trouble at Steam. `heldBack`: not sent, because of our budget or a pause after a limited call.
 */
export type CallCount = { asked: number; limited: number; failed: number; heldBack: number }

/** `account`: null for public pages. The times cover every call that was sent. */
export type CountedCalls = CallCount & {
  account: string | null
  method: Method
  totalMs: number
  longestMs: number
}

export type CallCounts = Observer & {
  /** Returns the counts since the previous call of `take`. */
  take(): CountedCalls[]
}

/** Reports every call to `next` too. */
export function createCallCounts(next: Observer): CallCounts {
  let counts = new Map<string, CountedCalls>()
  const countOf = (method: Method, account: string | null): CountedCalls => {
    const key = `${method} ${account}`
    const none = { asked: 0, limited: 0, failed: 0, heldBack: 0, totalMs: 0, longestMs: 0 }
    const count = counts.get(key) ?? { account, method, ...none }
    counts.set(key, count)
    return count
  }
  return {
    request(method, call) {
      next.request(method, call)
      const count = countOf(method, call.account ?? null)
      const ms = Math.round(call.seconds * 1_000)
      count.asked += 1
      count.totalMs += ms
      count.longestMs = Math.max(count.longestMs, ms)
      if (call.outcome !== 'answered') count[call.outcome] += 1
    },
    heldBack(method, why, account) {
      next.heldBack(method, why, account)
      countOf(method, account ?? null).heldBack += 1
    },
    take() {
      const result = [...counts.values()]
      counts = new Map()
      return result
    },
  }
}
