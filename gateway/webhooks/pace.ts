/**
 * How many webhook attempts may run at a time. An attempt that waits much longer than usual for its answer counts as
 * hanging, and another may take its place. Pure.
 */
import { isAccepted, type SendResult } from './sender.ts'
import type { LaneName } from './store.ts'

/**
 * The most attempts of one lane that wait for an answer and do not count as hanging. The lane for retries is
 * narrower. The busy endpoints of a store share this number, because a store with ten endpoints must not get ten times
 * as much as another.
 */
const WIDTHS: Record<LaneName, number> = { first: 8, again: 4 }
/** The most running attempts of one lane, including hanging ones. */
const MOST_OPEN: Record<LaneName, number> = { first: 64, again: 16 }
/**
 * The most running attempts of a store in a process, including hanging ones. Endpoints that become busy while others
 * hang can exceed it.
 */
export const MOST_OF_STORE = MOST_OPEN.first + MOST_OPEN.again
/** The least width of a lane, however many endpoints its store has. */
const LEAST_WIDTH = 2
/** The most running attempts of a process. Every lane keeps its width, so very many lanes can exceed this. */
const MOST_OPEN_IN_ALL = 1_000

/** The least time without an answer after which an attempt counts as hanging. */
export const PATIENCE_MS = 500
/** How many times longer than usual an answer may take before its attempt counts as hanging. */
const SLOWER_FACTOR = 2
/** The weight of the newest answer in the moving average. */
const NEWEST_WEIGHT = 0.25

export type Pace = {
  /** Records an ended attempt. Only successful attempts count, because one that failed late was hanging until then. */
  record(result: SendResult, afterMs: number): void
  patienceMs(): number
}

/**
 * A store that hangs on some deposits still answers the others quickly, so other attempts may take the places of
 * hanging ones. A store that is slow with everything is overloaded, so it must not get more calls at a time.
 * `earlierDurationsMs`: how long the endpoint's earlier successful attempts took, the oldest first.
 */
export function createPace(leastMs: number, earlierDurationsMs: readonly number[] = []): Pace {
  let usualMs: number | undefined
  const update = (ms: number): void => {
    usualMs = usualMs === undefined ? ms : usualMs + (ms - usualMs) * NEWEST_WEIGHT
  }
  for (const ms of earlierDurationsMs) update(ms)
  return {
    record(result, afterMs) {
      if (isAccepted(result)) update(afterMs)
    },
    patienceMs: () => Math.max(leastMs, (usualMs ?? 0) * SLOWER_FACTOR),
  }
}

export type Load = {
  /** Running attempts of the lane, of which `hanging` count as hanging. */
  open: number
  hanging: number
  /** How many stores have lanes now, and how many endpoints of this lane's store do. */
  busyStores: number
  ownEndpoints: number
}

/**
 * Returns how many attempts a lane may start. Its width limits the attempts that do not hang. The limit of all its
 * attempts shrinks as more stores are busy, but never below the width.
 */
export function placesLeft(lane: LaneName, { open, hanging, busyStores, ownEndpoints }: Load): number {
  const width = Math.max(LEAST_WIDTH, Math.floor(WIDTHS[lane] / ownEndpoints))
  const share = (MOST_OPEN_IN_ALL / busyStores) * (MOST_OPEN[lane] / MOST_OF_STORE)
  const most = Math.max(width, Math.floor(Math.min(MOST_OPEN[lane], share) / ownEndpoints))
  return Math.max(0, Math.min(width - (open - hanging), most - open))
}
