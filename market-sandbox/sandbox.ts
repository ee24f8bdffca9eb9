import type { Faults } from './faults.ts'
import type { Incoming, Reply } from './http.ts'
import type { Limits } from './limits.ts'
import type { Prices } from './prices.ts'
import type { SteamSide } from './steam.ts'
import type { Bought } from './world/deals.ts'
import type { Change, Temper, World } from './world/world.ts'

/** What the routes work on. `change` takes a pure function of the world and keeps what it returns. */
export type Market = {
  url: string
  steamUrl: string
  /** The machine's time, and how far Steam's sandbox was ahead of it when it was asked last. */
  nowS: () => number
  /** Limits on requests go by the machine's clock: no jump may end one. */
  machineMs: () => number
  pause: (ms: number) => Promise<void>
  world: () => World
  change: <T>(step: (world: World, nowS: number) => Change<T>) => T
  reset: () => void
  steam: SteamSide
  prices: Prices
  faults: Faults
  limits: Limits
  log: LogEntry[]
  /** Looks at Steam: what sellers and buyers did there, and what buyers do now. */
  look: () => Promise<void>
  /** The buyer of a temper, who becomes a player of the Steam sandbox when first needed, takes items. */
  buy: (itemIds: readonly number[], temper: Temper) => Promise<Bought>
}

export type LogEntry = { method: string; host: string; path: string }

export type Route = (request: Incoming, market: Market) => Promise<Reply | undefined> | Reply | undefined
