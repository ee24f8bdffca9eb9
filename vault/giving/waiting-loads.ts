/** Remembers how much of the limits each waiting wish would use. Such a wish waits because the limits have no room. */
import { MINUTE_MS } from '../durations.ts'
import { keepNewest } from '../keep-newest.ts'
import type { Load } from './judge.ts'

/** After this time, the wish is judged in full again: its items may be worth less by now, or gone. */
const KNOWN_FOR_MS = 15 * MINUTE_MS

/**
 * Without this, each round would read the inventories of the waiting wishes again, for hours, and delay listings and
 * other wishes meanwhile.
 */
export function createWaitingLoads(now: () => Date) {
  const loads = new Map<string, { load: Load; atMs: number }>()
  return {
    note: (wishId: string, load: Load): void => keepNewest(loads, wishId, { load, atMs: now().getTime() }),
    /** Undefined if the wish was not judged lately. */
    of(wishId: string): Load | undefined {
      const known = loads.get(wishId)
      const ageMs = now().getTime() - (known?.atMs ?? 0)
      return ageMs >= 0 && ageMs < KNOWN_FOR_MS ? known?.load : undefined
    },
  }
}
