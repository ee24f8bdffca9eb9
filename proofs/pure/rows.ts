/** What a simulated till has written down. */
import type { DepositStatus } from '../../contract/statuses.ts'
import type { OfferAsset } from '../../gateway/steam/steam.ts'
import type { Trade } from '../../gateway/trades/trade.ts'

export type Store = {
  number: number
  mode: 'on_accept' | 'on_release'
  liability: 'operator' | 'store'
  riskLimit: bigint
  atRisk: Set<TradeRow>
}

export type Bot = {
  number: number
  epoch: bigint
  /** Jobs that wait for somebody who holds the lease. */
  backlog: Set<TradeRow>
  /** Trades that have, or may have, an offer on Steam. */
  open: Set<TradeRow>
}

export type DepositRow = {
  number: number
  store: Store
  shopper: string
  status: DepositStatus
  createdAt: number
  expiresAt: Date
  credited: bigint
  held: bigint
  reversed: bigint
  trades: TradeRow[]
  events: string[]
}

export type TradeRow = {
  trade: Trade
  deposit: DepositRow
  bot: Bot
  game: 'cs' | 'dota'
  assets: readonly OfferAsset[]
  prices: ReadonlyMap<string, { price: bigint; gross: bigint }>
  total: bigint
  gross: bigint
  createdAt: number
  dueAt: Date | null
  /** Its assets may not be named by other trades. */
  live: boolean
  held: bigint
  reversed: bigint
  reversals: number
  deliveredBy: string | null
}
