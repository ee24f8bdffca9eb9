/** How many attempts may be under way, and which of them no longer hold up others. Pure. */
import { isTaken, type SendResult } from './sender.ts'
import type { LaneName } from './store.ts'

/**
 * Attempts of one lane that the store is expected to answer soon. Repeated deliveries have the narrower lane. The busy
 * endpoints of a store share them: ten endpoints must not get it ten times what another store has.
 */
const WIDTHS: Record<LaneName, number> = { first: 8, again: 4 }
/** Attempts of one lane that may be under way, hanging ones included. */
const MOST_OPEN: Record<LaneName, number> = { first: 64, again: 16 }
const MOST_OF_STORE = MOST_OPEN.first + MOST_OPEN.again
/** Every endpoint has as many, however many its store has. */
const LEAST_WIDTH = 2
/** Of all stores of a process, as long as every lane has its width. */
const MOST_OPEN_IN_ALL = 1_000

/** The shortest time without an answer after which an attempt counts as hanging. */
export const PATIENCE_MS = 500
/** How much longer than usual an answer may take. */
const SLOWER_THAN_USUAL = 2
/** The weight of the newest answer in the usual time. */
const NEWEST = 0.25

export type Pace = {
  /** Only taken events count: one that failed late was hanging until then. */
  ended(result: SendResult, afterMs: number): void
  patienceMs(): number
}

/**
 * A store that hangs on some deposits answers the others as quickly as ever, so hanging attempts give their places to
 * them. A store that is slow with everything is overloaded, so it must not get more calls at a time. `beforeMs`: how
 * long its taken events took, the oldest first.
 */
export function createPace(leastMs: number, beforeMs: readonly number[] = []): Pace {
  let usualMs: number | undefined
  const took = (ms: number): void => {
    usualMs = usualMs === undefined ? ms : usualMs + (ms - usualMs) * NEWEST
  }
  for (const ms of beforeMs) took(ms)
  return {
    ended(result, afterMs) {
      if (isTaken(result)) took(afterMs)
    },
    patienceMs: () => Math.max(leastMs, (usualMs ?? 0) * SLOWER_THAN_USUAL),
  }
}

export type Load = {
  open: number
  hanging: number
  /** Stores that something is due for, and endpoints of this lane's store. */
  busyStores: number
  ownEndpoints: number
}

/** How many attempts a lane may begin. Beyond its width, what it has shrinks with the number of busy stores. */
export function placesLeft(lane: LaneName, { open, hanging, busyStores, ownEndpoints }: Load): number {
  const width = Math.max(LEAST_WIDTH, Math.floor(WIDTHS[lane] / ownEndpoints))
  const share = (MOST_OPEN_IN_ALL / busyStores) * (MOST_OPEN[lane] / MOST_OF_STORE)
  const most = Math.max(width, Math.floor(Math.min(MOST_OPEN[lane], share) / ownEndpoints))
  return Math.max(0, Math.min(width - (open - hanging), most - open))
}
