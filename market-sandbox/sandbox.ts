import type { Faults } from './faults.ts'
import type { Incoming, Reply } from './http.ts'
import type { Limits } from './limits.ts'
import type { Prices } from './prices.ts'
import type { SteamSide } from './steam.ts'
import type { Bought } from './world/deals.ts'
import type { Change, Temper, World } from './world/world.ts'

/** The state that the routes work on. `change` applies a pure function to the world and keeps the result. */
export type Market = {
  url: string
  steamUrl: string
  /** The machine's time, plus how far Steam's sandbox was ahead of it at the last check. */
  nowS: () => number
  /** Rate limits use the machine's clock: advancing the sandbox's clock must not end one. */
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
  /** Looks at Steam: the acts of sellers and buyers there, and then the buyers' next acts. */
  look: () => Promise<void>
  /** The buyer of a temper takes items. It becomes a player of the Steam sandbox when first needed. */
  buy: (itemIds: readonly number[], temper: Temper) => Promise<Bought>
}

export type LogEntry = { method: string; host: string; path: string }

export type Route = (request: Incoming, market: Market) => Promise<Reply | undefined> | Reply | undefined
