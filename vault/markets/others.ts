/**
 * The lowest price of other sellers. A market's price list counts the vault's own listings too, so a vault that undercut
 * its lowest price would undercut itself, down to its floor.
 */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** After this time, a price of others counts as unknown, because it may have risen or gone unseen. */
const REMEMBERED_MS = 6 * HOUR_MS
/** How long a market's list may still show a former price of ours. */
const STALE_MS = 30 * MINUTE_MS
/** An item that was not asked about for this time is forgotten. */
const UNUSED_MS = 24 * HOUR_MS

/** `listMinor`: the lowest price in the market's list. `ownMinor`: that of the vault's own listings. Null: none. */
type Reading = { listMinor: bigint | null; ownMinor: bigint | null; nowMs: number }

/**
 * `lowestMinor`: the lowest price of others; null if unknown. `mostMinor`: a new price must not exceed this; null if it
 * may have any amount.
 */
export type Lowest = { lowestMinor: bigint | null; mostMinor: bigint | null }

/** Finds the lowest price of others. `key`: the item at one market. */
export type Others = (key: string, reading: Reading) => Lowest

/**
 * `minor`: the last price that was certainly not our own, null if none was seen; `seenAtMs`: when. `usedAtMs`: when the
 * item was last asked about. `own`: our own lowest prices of late, each with the last time that it was one.
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
  return (key, { listMinor, ownMinor, nowMs }) => {
    prune(nowMs)
    const known = seen.get(key)
    const own = new Map([...(known?.own ?? [])].filter(([, atMs]) => nowMs - atMs <= STALE_MS))
    if (ownMinor !== null) own.set(ownMinor, nowMs)
    const isOwn = listMinor !== null && own.has(listMinor)
    const last = isOwn ? known : undefined
    const minor = isOwn ? (last?.minor ?? null) : listMinor
    const seenAtMs = last?.seenAtMs ?? nowMs
    seen.set(key, { minor, seenAtMs, usedAtMs: nowMs, own })
    if (!isOwn) return { lowestMinor: listMinor, mostMinor: null }
    if (nowMs - seenAtMs >= REMEMBERED_MS) return { lowestMinor: null, mostMinor: null }
    // Nothing is known of others, for example after a start. They ask no less than we do, so our price stays.
    return minor === null
      ? { lowestMinor: null, mostMinor: ownMinor }
      : { lowestMinor: minor, mostMinor: null }
  }
}
