/** What a source of prices is to the till. */
import type { Game } from '../../../contract/games.ts'
import type { Currency } from '../../../contract/money.ts'

export type PriceRow = {
  marketHashName: string
  /** Millionths of a US dollar. */
  usdMicros: bigint
  /** What the item was worth over the last 7 days, where the source says so itself. */
  levelUsdMicros: bigint | null
  popularity: number
  popularityKind: 'sales7d' | 'listings'
  asOf: Date
}

/** `perUsd`: units of the currency for one US dollar, a decimal as text. */
export type RateRow = { currency: Currency; perUsd: string; asOf: Date }

export interface PriceSource {
  readonly name: string
  /** All prices of the game. Throws when the source fails; the prices known before then stay. */
  fetch(game: Game, signal: AbortSignal): Promise<PriceRow[]>
  /** Only sources that know exchange rates have it. */
  fetchRates?(signal: AbortSignal): Promise<RateRow[]>
}
