/** When to retry reports that wait for the item of their listing. Each process remembers only its own retries. */
import type { EntryRow } from './vault-report-store.ts'

/** How long a listing waits before its reports are tried again: at first, and at most. */
const FIRST_GAP_MS = 10_000
const LONGEST_GAP_MS = 10 * 60_000
/** How many listings each process remembers. */
const MOST_WAITING = 5_000

export type ReportedListing = Pick<EntryRow, 'market' | 'reference'>

export const keyOf = ({ market, reference }: ReportedListing): string => `${market}/${reference}`

export type Waits = {
  /** The listings whose reports must not be tried at this time. */
  listingsAt(nowMs: number): ReportedListing[]
  /** Records that the listing still waits. Each wait is twice as long as the one before, up to `LONGEST_GAP_MS`. */
  note(listing: ReportedListing, nowMs: number): void
  forget(listing: ReportedListing): void
}

/** `most`: beyond this many listings, the oldest are tried at every call. */
export function createWaits(most = MOST_WAITING): Waits {
  const waits = new Map<string, ReportedListing & { untilMs: number; gapMs: number }>()
  return {
    listingsAt(nowMs) {
      // If another process has booked the reports, `forget` is never called here.
      for (const [key, { untilMs }] of waits) if (untilMs + LONGEST_GAP_MS < nowMs) waits.delete(key)
      // After the clock was set back, the end of a wait can be far away.
      return [...waits.values()].filter(({ untilMs, gapMs }) => untilMs > nowMs && untilMs - nowMs <= gapMs)
    },
    note({ market, reference }, nowMs) {
      const key = keyOf({ market, reference })
      const gapMs = Math.min((waits.get(key)?.gapMs ?? FIRST_GAP_MS / 2) * 2, LONGEST_GAP_MS)
      waits.delete(key)
      waits.set(key, { market, reference, untilMs: nowMs + gapMs, gapMs })
      const [oldest] = waits.keys()
      if (waits.size > most && oldest !== undefined) waits.delete(oldest)
    },
    forget: (listing) => void waits.delete(keyOf(listing)),
  }
}
