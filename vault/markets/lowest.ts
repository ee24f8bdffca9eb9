/** The lowest prices of other sellers on a market, from its list of prices and from earlier lists. */
import { MINUTE_MS } from '../durations.ts'
import type { Market } from './market.ts'
import type { Lowest, Others } from './others.ts'

/** How long a list is used. It contains every item of a game, so it is read rarely. */
const LIST_MS = 5 * MINUTE_MS
/** How long to wait after a failure before asking again. */
const AGAIN_MS = MINUTE_MS

type Prices = ReadonlyMap<string, bigint>

/** Reads a game's list of prices. All accounts at a market share it. Undefined if the market gives none. */
export type PriceLists = (
  market: Pick<Market, 'name' | 'lowestPrices'>,
  appId: number,
) => Promise<Prices | undefined>

export function createPriceLists(now: () => Date): PriceLists {
  const lists = new Map<string, { prices: Prices | undefined; atMs: number }>()
  return async (market, appId) => {
    const key = `${market.name}/${appId}`
    const last = lists.get(key)
    const ageMs = now().getTime() - (last?.atMs ?? 0)
    const keptMs = last?.prices === undefined ? AGAIN_MS : LIST_MS
    if (last !== undefined && ageMs >= 0 && ageMs < keptMs) return last.prices
    const answer = await market.lowestPrices(appId)
    const prices = answer.kind === 'answered' ? answer.value : undefined
    lists.set(key, { prices, atMs: now().getTime() })
    return prices
  }
}

export type LowestPrices = {
  /** By market hash name: the lowest price of other sellers, and the most that a new price may be. */
  read(appId: number, names: Iterable<string>): Promise<ReadonlyMap<string, Lowest>>
  /** Call this with each price at which the vault may list an item: a later list may contain that price. */
  noteOwn(appId: number, name: string, priceMinor: bigint): void
}

type Parts = {
  market: Pick<Market, 'name' | 'lowestPrices'>
  lists: PriceLists
  others: Others
  /** The lowest prices of all the vault's accounts on this market, by market hash name. */
  ownPrices(appId: number): Promise<Prices>
  now(): Date
}

export function createLowestPrices({ market, lists, others, ownPrices, now }: Parts): LowestPrices {
  const keyOf = (appId: number, name: string): string => `${market.name}/${appId}/${name}`
  return {
    async read(appId, names) {
      const marketPrices = await lists(market, appId)
      const own = await ownPrices(appId)
      const nowMs = now().getTime()
      return new Map(
        [...names].map((name) => {
          const listMinor = marketPrices === undefined ? undefined : (marketPrices.get(name) ?? null)
          return [
            name,
            others.read(keyOf(appId, name), { listMinor, ownMinor: own.get(name) ?? null, nowMs }),
          ]
        }),
      )
    },
    noteOwn: (appId, name, priceMinor) =>
      others.noteOwn(keyOf(appId, name), { minor: priceMinor, nowMs: now().getTime() }),
  }
}
