/** Chooses the inventory that a failing bot reads to find out whether Steam works. */
import type { SteamSession } from '../steam/steam.ts'
import type { Answer } from './health.ts'

export type InventoryRead = Parameters<SteamSession['readInventory']>

/**
 * The wait after an answer before the next trial. Longer than for offers, because Steam limits inventories most
 * strictly.
 */
const TRY_MS = 30_000

/**
 * The wait after the first failure, and after each trial, while only one account's inventory fails. A trial that takes
 * its whole time limit still ends before an outage begins.
 */
const DOUBT_MS = 10_000

export type TrialReads = {
  remember(read: InventoryRead, answer: Answer): void
  /** The read to try now; undefined if none is due. `failingMs`: how long inventories have been failing. */
  next(failing: { failingMs: number; sinceAnswerMs: number }): InventoryRead | undefined
}

/**
 * Steam may fail to read one account's inventory, and its owner may reload it again and again. So the inventory of
 * another account is read, and shows whether Steam works.
 */
export function createTrialReads(monotonicMs: () => number): TrialReads {
  /**
   * The latest reads that worked, and those that failed since, the newest first. Each list has at most two reads, of
   * different accounts.
   */
  let worked: InventoryRead[] = []
  let failed: InventoryRead[] = []
  let triedAtMs = Number.NEGATIVE_INFINITY
  /** While only one account fails, the latest successful read of another. */
  const otherRead = (): InventoryRead | undefined => {
    const [only, ...others] = failed
    return only === undefined || others.length > 0
      ? undefined
      : worked.find((read) => !isOfSameAccount(read, only))
  }
  return {
    remember(read, { kind, reason = '' }) {
      if (kind !== 'unavailable') [worked, failed] = [withLatest(worked, read), []]
      else if (!SAYS_NOTHING.has(reason)) failed = withLatest(failed, read)
    },
    next({ failingMs, sinceAnswerMs }) {
      const other = otherRead()
      const isDue =
        other === undefined
          ? sinceAnswerMs >= TRY_MS
          : failingMs >= DOUBT_MS && monotonicMs() - triedAtMs >= DOUBT_MS
      if (!isDue) return undefined
      triedAtMs = monotonicMs()
      return other ?? worked[0] ?? failed[0]
    },
  }
}

/** Reasons that say nothing about Steam: it was not asked, or the inventory is too large. */
const SAYS_NOTHING = new Set(['not_our_turn', 'too_large'])

const isOfSameAccount = ([one]: InventoryRead, [other]: InventoryRead): boolean =>
  one.steamId === other.steamId

const withLatest = (reads: readonly InventoryRead[], read: InventoryRead): InventoryRead[] =>
  [read, ...reads.filter((other) => !isOfSameAccount(other, read))].slice(0, 2)
