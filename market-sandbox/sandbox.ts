import type { Faults } from './faults.ts'
import type { Incoming, Reply } from './http.ts'
import type { Limits } from './limits.ts'
import type { Prices } from './prices.ts'
import type { SteamSide } from './steam.ts'
import type { BuyAnswer } from './world/deals.ts'
import type { Change, Temper, World } from './world/world.ts'

/**
 * One market: the state that its routes work on. `change` applies a pure function to the world and keeps the result.
 * Both markets share Steam, faults, prices, limits and log.
 */
export type Market = {
  name: MarketName
  /** The name of the market in its messages. */
  site: string
  url: string
  steamUrl: string
  /** The machine's time, plus how far the Steam sandbox was ahead of it at the last check. */
  nowS: () => number
  /** The machine's clock, for rate limits: an advance of the sandbox's clock must not end them. */
  machineMs: () => number
  pause: (ms: number) => Promise<void>
  world: () => World
  change: <T>(step: (world: World, nowS: number) => Change<T>) => T
  reset: () => void
  steam: SteamSide
  prices: Prices
  faults: Faults
  limits: Limits
  /** Times of requests to list or change an asset, without those that came too early. By asset id, in `machineMs`. */
  itemCalls: Map<string, number[]>
  log: LogEntry[]
  /** Reads what sellers and buyers did on Steam, then lets the buyers act. */
  look: () => Promise<void>
  /** Lets the buyer of this temper buy items. The buyer becomes a player of the Steam sandbox when first needed. */
  buy: (itemIds: readonly number[], temper: Temper) => Promise<BuyAnswer>
}

/** The market.csgo.com family on its hosts, or Waxpeer. */
export type MarketName = 'family' | 'waxpeer'

export type Markets = Readonly<Record<MarketName, Market>>

export async function lookAtAll(markets: Markets): Promise<void> {
  for (const name of MARKET_NAMES) await markets[name].look()
}

export const MARKET_NAMES = ['family', 'waxpeer'] as const

export function isMarketName(value: unknown): value is MarketName {
  return value === 'family' || value === 'waxpeer'
}

export type LogEntry = { method: string; host: string; path: string }

export type Route = (request: Incoming, markets: Markets) => Promise<Reply | undefined> | Reply | undefined
