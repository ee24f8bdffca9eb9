/**
 * The lowest price of other sellers. A market's price list includes the vault's own listings, so a vault that undercut
 * the list's lowest price would undercut itself, down to its floor.
 */
import { HOUR_MS, MINUTE_MS } from '../durations.ts'

/** After this time, a price of others counts as unknown, because it may have changed unseen. */
const REMEMBERED_MS = 6 * HOUR_MS
/** How long a market's list may still show one of our former prices. */
const STALE_MS = 30 * MINUTE_MS
/** How long an item is remembered after the last question about it. */
const UNUSED_MS = 24 * HOUR_MS

/**
 * `listMinor`: the lowest price in the market's list; undefined if the market gave no list. `ownMinor`: the lowest of
 * the vault's own listings. Null: there is none.
 */
type Reading = { listMinor: bigint | null | undefined; ownMinor: bigint | null; nowMs: number }

/**
 * `lowestMinor`: the lowest price of others; null if none is known. `mostMinor`: a new price must not exceed this; null
 * if nothing limits it.
 */
export type Lowest = { lowestMinor: bigint | null; mostMinor: bigint | null }

/** `key`: the item at one market. */
export type Others = {
  /** Finds the lowest price of others. */
  read(key: string, reading: Reading): Lowest
  /** Records a price at which the vault may list an item. */
  noteOwn(key: string, own: { minor: bigint; nowMs: number }): void
}

/**
 * `minor`: the last price that was certainly not our own, null if none is known; `seenAtMs`: when. `usedAtMs`: when the
 * item was last asked about. `own`: our own recent prices, each with the time at which it was last noted.
 */
type Seen = {
  minor: bigint | null
  seenAtMs: number
  usedAtMs: number
  own: ReadonlyMap<bigint, number>
}

export function createOthers(): Others {
  const seen = new Map<string, Seen>()
  let prunedAtMs = Number.NEGATIVE_INFINITY
  const prune = (nowMs: number) => {
    if (nowMs - prunedAtMs < HOUR_MS) return
    prunedAtMs = nowMs
    for (const [each, { usedAtMs }] of seen) if (nowMs - usedAtMs > UNUSED_MS) seen.delete(each)
  }
  const ownOf = (known: Seen | undefined, { minor, nowMs }: { minor: bigint | null; nowMs: number }) => {
    const own = new Map([...(known?.own ?? [])].filter(([, atMs]) => nowMs - atMs <= STALE_MS))
    return minor === null ? own : own.set(minor, nowMs)
  }
  return {
    read(key, { listMinor, ownMinor, nowMs }) {
      prune(nowMs)
      const known = seen.get(key)
      const own = ownOf(known, { minor: ownMinor, nowMs })
      const isNews = listMinor !== undefined && (listMinor === null || !own.has(listMinor))
      const { minor, seenAtMs } = isNews
        ? { minor: listMinor, seenAtMs: nowMs }
        : { minor: known?.minor ?? null, seenAtMs: known?.seenAtMs ?? nowMs }
      seen.set(key, { minor, seenAtMs, usedAtMs: nowMs, own })
      if (isNews) return { lowestMinor: minor, mostMinor: null }
      const isOld = nowMs - seenAtMs >= REMEMBERED_MS
      // Without a list, our price does not rise.
      if (listMinor === undefined) return { lowestMinor: isOld ? null : minor, mostMinor: ownMinor }
      if (isOld) return { lowestMinor: null, mostMinor: null }
      // The list's lowest price is ours, so others ask no less. If none of their prices is known, as after a start, our
      // price does not rise.
      return { lowestMinor: minor, mostMinor: minor === null ? ownMinor : null }
    },
    noteOwn(key, { minor, nowMs }) {
      const known = seen.get(key)
      if (known !== undefined) seen.set(key, { ...known, own: ownOf(known, { minor, nowMs }) })
    },
  }
}
