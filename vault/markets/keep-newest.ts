/** The most entries to keep. The oldest are dropped first. */
const MOST_KEPT = 500

/** Adds an entry to the map, which keeps the newest `MOST_KEPT`. */
export function keepNewest<T>(entries: Map<string, T>, id: string, data: T): void {
  entries.delete(id)
  entries.set(id, data)
  const [oldest] = entries.keys()
  if (entries.size > MOST_KEPT && oldest !== undefined) entries.delete(oldest)
}
