/** The port of a source of prices, of exchange rates, or of both. */
import type { Game } from '../../../contract/games.ts'
import type { Currency } from '../../../contract/money.ts'
import type { SourceError } from './http.ts'

export type PriceRow = {
  /** The item's market hash name, or the name of its phase. */
  marketHashName: string
  /** Millionths of a US dollar. */
  usdMicros: bigint
  /** The item's weekly level, its typical price over 7 days, if the source gives one. */
  levelUsdMicros: bigint | null
  popularity: number
  popularityKind: 'sales7d' | 'sales30d' | 'listings'
  asOf: Date
}

/** `perUsd`: units of the currency for one US dollar, a decimal as text. */
export type RateRow = { currency: Currency; perUsd: string; asOf: Date }

/** The subject of one request: the prices of a game, or exchange rates. */
export type Feed = Game | 'rates'

export interface PriceSource {
  readonly name: string
  /** How often to request each feed, and the minimum time between two requests. */
  readonly pace: { everyMs: number; gapMs: number }
  /** True for a local file, which every process with the role `work` reads at its start. */
  readonly isLocal: boolean
  /** The games whose prices it has; absent if it has all. */
  readonly games?: readonly Game[]
  /**
   * All prices of the game. Throws if the source fails; then the earlier prices stay. Calls `reportMissing` if only
   * some of the prices are missing and the others are right.
   */
  fetch?(game: Game, signal: AbortSignal, reportMissing?: (problem: SourceError) => void): Promise<PriceRow[]>
  fetchRates?(signal: AbortSignal): Promise<RateRow[]>
}
