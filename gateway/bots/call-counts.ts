/** Counts calls to Steam by account, until they are stored. */
import type { Observer } from '../steam/turns.ts'

/** `limited`: Steam answered 429. `heldBack`: our own limits kept the call from Steam. */
export type CallCount = { asked: number; limited: number; failed: number; heldBack: number }

export type CallCounts = Observer & {
  /** The counts since the last call, by Steam id. */
  take(): Map<string, CallCount>
}

/** Passes every call on to `next`. Does not count calls without an account. */
export function createCallCounts(next: Observer): CallCounts {
  let counts = new Map<string, CallCount>()
  const add = (account: string | undefined, names: readonly (keyof CallCount)[]): void => {
    if (account === undefined) return
    const count = counts.get(account) ?? { asked: 0, limited: 0, failed: 0, heldBack: 0 }
    for (const name of names) count[name] += 1
    counts.set(account, count)
  }
  return {
    asked(method, seen) {
      next.asked(method, seen)
      add(seen.account, seen.outcome === 'answered' ? ['asked'] : ['asked', seen.outcome])
    },
    heldBack(method, why, account) {
      next.heldBack(method, why, account)
      add(account, ['heldBack'])
    },
    take() {
      const taken = counts
      counts = new Map()
      return taken
    },
  }
}
