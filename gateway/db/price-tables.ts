import type { Generated } from 'kysely'
import type { Game } from '../../contract/games.ts'

export type PriceTable = {
  source: string
  game: Game
  market_hash_name: string
  usd_micros: bigint
  popularity: number
  popularity_kind: 'sales7d' | 'sales30d' | 'listings'
  as_of: Date
  /** The typical price over 7 days. */
  level_micros: bigint | null
  /** The last price of each of the latest days before `as_of`, newest first. */
  past_micros: Generated<bigint[]>
  /** The days of `past_micros`, counted from 1970 in UTC. */
  past_days: Generated<number[]>
  /** A price of the source from an hour or more before `as_of`, to notice a fall. */
  earlier_micros: Generated<bigint | null>
  earlier_at: Generated<Date | null>
  /** The price that becomes `earlier_micros` next. */
  mark_micros: Generated<bigint | null>
  mark_at: Generated<Date | null>
}

/**
 * An operator's hold on prices. `blocked`: the items are not accepted. `frozen`: their prices stay as they were at
 * `since`. `override`: the operator's own price, `usd_micros`.
 */
export type PriceHoldTable = {
  game: Game
  /** Null: the entire game. */
  market_hash_name: string | null
  kind: 'blocked' | 'frozen' | 'override'
  since: Date
  /** Before commission; set only for an override. */
  usd_micros: Generated<bigint | null>
  /** The pattern for LIKE, if the name contains `*`. */
  like_pattern: Generated<string | null>
}

/**
 * One feed of a source: the prices of a game, or exchange rates. `good_at`: the last successful request. `failures`:
 * the failed requests since then.
 */
export type PriceFeedTable = {
  source: string
  feed: Game | 'rates'
  asked_at: Date | null
  next_at: Date
  good_at: Date | null
  failures: Generated<number>
  last_error: string | null
  removed_at: Date | null
}
