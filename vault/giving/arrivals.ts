/** The items that arrived at an account through wishes. */
import type { Giving } from './book.ts'

/** Counts arrivals as they happen, because the record of all wishes grows for years. */
export function createArrivals() {
  const items = new Map<string, number>()
  const keyOf = (steamId: string, appId: number) => `${steamId}/${appId}`
  return {
    add({ intended }: Extract<Giving, { state: 'delivered' }>): void {
      for (const { appId } of intended.assets) {
        const key = keyOf(intended.partnerSteamId, appId)
        items.set(key, (items.get(key) ?? 0) + 1)
      }
    },
    count: (steamId: string, appId: number): number => items.get(keyOf(steamId, appId)) ?? 0,
  }
}
