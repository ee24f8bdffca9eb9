/**
 * The lowest price of other sellers. A market's price list counts the vault's own listings too, so a vault that undercut
 * its lowest price would undercut itself, down to its floor.
 */

const HOUR_MS = 3_600_000
/** After this time, a price of others counts as unknown, because it may have risen or gone unseen. */
const REMEMBERED_MS = 6 * HOUR_MS
/** An item that was not asked about for this time is forgotten. */
const UNUSED_MS = 24 * HOUR_MS

/** `listMinor`: the lowest price in the market's list. `ownMinor`: that of the vault's own listings. Null: none. */
type Reading = { listMinor: bigint | null; ownMinor: bigint | null; nowMs: number }

/**
 * `lowestMinor`: the lowest price of others; null if unknown. `mostMinor`: a new price must not exceed this; null if it
 * may have any amount.
 */
export type Lowest = { lowestMinor: bigint | null; mostMinor: bigint | null }

/** Finds the lowest price of others. `key`: the item. */
export type Others = (key: string, reading: Reading) => Lowest

export function createOthers(): Others {
  /** By item: the last price that was certainly not our own, null if none was seen; when; and when it was last needed. */
  const seen = new Map<string, { minor: bigint | null; seenAtMs: number; usedAtMs: number }>()
  return (key, { listMinor, ownMinor, nowMs }) => {
    for (const [each, { usedAtMs }] of seen) if (nowMs - usedAtMs > UNUSED_MS) seen.delete(each)
    const isOwn = listMinor !== null && listMinor === ownMinor
    const last = isOwn ? seen.get(key) : undefined
    const minor = isOwn ? (last?.minor ?? null) : listMinor
    const seenAtMs = last?.seenAtMs ?? nowMs
    seen.set(key, { minor, seenAtMs, usedAtMs: nowMs })
    if (!isOwn) return { lowestMinor: listMinor, mostMinor: null }
    if (nowMs - seenAtMs >= REMEMBERED_MS) return { lowestMinor: null, mostMinor: null }
    // Nothing is known of others, for example after a start. They ask no less than we do, so our price stays.
    return minor === null
      ? { lowestMinor: null, mostMinor: ownMinor }
      : { lowestMinor: minor, mostMinor: null }
  }
}
