/** The places that each key may occupy at a time. */
export type Places = {
  /** Takes a place and returns true, or returns false if `key` has none left. */
  take(key: string): boolean
  /** Frees a place that was taken. */
  free(key: string): void
}

export function createPlaces(most: number): Places {
  const taken = new Map<string, number>()
  return {
    take: (key) => {
      const occupied = taken.get(key) ?? 0
      if (occupied >= most) return false
      taken.set(key, occupied + 1)
      return true
    },
    free: (key) => {
      const remaining = (taken.get(key) ?? 0) - 1
      if (remaining > 0) taken.set(key, remaining)
      else taken.delete(key)
    },
  }
}
