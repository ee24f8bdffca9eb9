/** The most entries that `keepNewest` keeps. */
const MOST_KEPT = 500

/** Returns a function that adds an entry to a map, and drops the oldest if there are then more than `most`. */
export const keepAtMost =
  (most: number) =>
  <T>(entries: Map<string, T>, id: string, data: T): void => {
    entries.delete(id)
    entries.set(id, data)
    const [oldest] = entries.keys()
    if (entries.size > most && oldest !== undefined) entries.delete(oldest)
  }

/** Adds an entry to the map, which keeps the newest `MOST_KEPT`. */
export const keepNewest = keepAtMost(MOST_KEPT)
