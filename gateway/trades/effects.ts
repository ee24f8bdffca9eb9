/** The money of a trade as the rules read it, and the effects of a trade's events. Pure. */
import type { DepositStatus } from '../../contract/statuses.ts'
import type { BarReason } from '../bots/bar.ts'
import type { CreditMode, Liability } from '../db/trade-tables.ts'
import type { Movement } from '../ledger/entry.ts'
import type { RoomChange } from './room.ts'

/** How a store is credited, and who bears a reversal. Fixed on the trade at its delivery. */
export type Terms = { creditMode: CreditMode; liability: Liability; riskLimitUsdCents: bigint }

/** `price`: the shopper's credit for the item. `gross`: its price before commission. */
export type ItemWorth = { price: bigint; gross: bigint }

/** The deposit of a trade, as stored. Amounts are minor units. */
export type DepositFunds = {
  status: DepositStatus
  expiresAt: Date
  credited: bigint | null
  held: bigint
  reversed: bigint
  /** The part of `reversed` that the store paid for. The rest is the operator's loss. */
  charged: bigint
  /** Until when other trades of the deposit hold credit; null if none does. */
  othersHeldUntil: Date | null
}

/** The money of a trade and of its deposit, read under their locks. Amounts are minor units of one currency. */
export type Funds = {
  deposit: DepositFunds
  /** The store's credit. `gross`: the worth of the items before commission. */
  total: bigint
  gross: bigint
  held: bigint
  reversed: bigint
  /** Credit given while Steam protects the trade, or lost to a reversal. It uses the store's limit. */
  atRisk: bigint
  /** When credit lost to a reversal stops using the limit; null while nothing was lost. */
  atRiskUntil: Date | null
  /** How many times the trade was reversed before. */
  reversals: number
  settlesAt: Date | null
  /** Fixed at delivery; before that, the current settings. */
  terms: Terms
  /** The store's limit as it is now. */
  limitUsdCents: bigint
  /** How much may still be credited before protection ends; 0 if the event or the terms allow none of it. */
  riskRoom: bigint
  /** By the shopper's asset id. */
  items: ReadonlyMap<string, ItemWorth>
}

type DepositChange = { credited?: bigint; heldUntil?: Date | null } & Partial<
  Pick<DepositFunds, 'status' | 'held' | 'reversed' | 'charged'>
>

type TradeMoneyChange = {
  deliveredAt?: Date
  held?: bigint
  reversed?: bigint
  atRisk?: bigint
  atRiskUntil?: Date | null
  protectionFoundAt?: Date
  terms?: Terms
  creditedByOperator?: true
  releasedByOperator?: true
  releasedEarly?: true
  reversedByOperator?: true
}

export type PublishedEvent =
  | { kind: 'status'; status: Exclude<DepositStatus, 'created'> }
  /**
   * A change that a trade made to a succeeded deposit. `part`: the number of this change among the trade's changes of
   * the same kind, from 0.
   */
  | { kind: 'change'; change: 'amountIncreased' | 'fundsAvailable' | 'reversed'; part: number }

type MovedItem = { assetId: string; receivedAssetId: string | null }

export type Effect =
  /** The items stay with the shopper, so other trades may include them again. */
  | { kind: 'free_items' }
  /** Records the asset ids that the bot received. The items are no longer reserved for the trade. */
  | { kind: 'receive_items'; items: readonly MovedItem[] }
  /** Marks the trade's items as reversed. */
  | { kind: 'reverse_items'; assetIds: readonly string[]; at: Date }
  /** Books where the items are. */
  | { kind: 'record_custody'; moved: 'in'; items: readonly MovedItem[]; at: Date }
  | { kind: 'record_custody'; moved: 'back'; assetIds: readonly string[]; at: Date }
  | { kind: 'change_trade'; change: TradeMoneyChange }
  | { kind: 'change_deposit'; change: DepositChange }
  /** Wakes the trade's bot. */
  | { kind: 'wake'; at: Date }
  /** Appends an event, with the deposit as the earlier effects left it. */
  | { kind: 'publish'; event: PublishedEvent }
  /** Posts to the ledger. `part`: as in `PublishedEvent`. `mayOwe`: whether the store's balance may become negative. */
  | { kind: 'post'; movements: Movement[]; part: number; mayOwe: boolean; at: Date }
  /** Applied before the posting, so deliveries are posted in the order in which they used the limit. */
  | RoomChange
  /** The shopper reversed a trade: their next deliveries are credited on release. */
  | { kind: 'credit_on_release'; at: Date }
  /** Adds to the store's total of reversals. */
  | { kind: 'count_reversed'; amount: bigint }
  /**
   * The trade's bot gets no new trades for a while, because it cannot send now. `inventory_full` bars only this game.
   */
  | { kind: 'bar_bot'; reason: BarReason; at: Date }
  /** Steam accepted an offer that the trade's bot sent, so the bot gets new trades again. */
  | { kind: 'trust_bot' }
  /** Steam refused the bot `botId`, but not the trade's bot, for the same items. */
  | { kind: 'doubt_bot'; botId: bigint }
  /**
   * Another bot tries the same items for the same deposit, if one is free. `isInDoubt`: Steam gave no reason, so if the
   * other bot succeeds, a doubt about the trade's bot is counted.
   */
  | { kind: 'move_to_other_bot'; isInDoubt: boolean; at: Date }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; message: string; fields: Record<string, string> }

export type Consequences = { funds: Funds; effects: Effect[] }

export type Line = Extract<Effect, { kind: 'log' }>

export const logLine = (level: Line['level'], message: string, fields: Line['fields'] = {}): Effect => {
  return { kind: 'log', level, message, fields }
}
