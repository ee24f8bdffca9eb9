import type { Generated } from 'kysely'

/**
 * An item came to a bot (`in`), was taken back by its shopper (`back`), or left otherwise (`out`), even if the vault
 * returned it to its shopper. In an entry `back`, `bot_id` is the bot that had the item last. The item can have left
 * that bot before its shopper took it back.
 */
export type CustodyEntryTable = {
  id: Generated<bigint>
  trade_id: bigint
  /** The item's id in the shopper's inventory, and in the bot's. */
  asset_id: string
  received_asset_id: string | null
  bot_id: bigint
  moved: 'in' | 'back' | 'out'
  created_at: Generated<Date>
  /** The departure that caused the entry: in it, the item left, came back, or reached another bot of the till. */
  departure_id: Generated<bigint | null>
  /** The entry by which an operator had recorded that the item left. This entry takes that record back. */
  undoes: Generated<bigint | null>
}

/** A Steam trade in which a bot gives items, even if it fails or is undone. */
export type DepartureTable = {
  id: Generated<bigint>
  bot_id: bigint
  steam_trade_id: string
  partner_steam_id: string
  begun_at: Date
  /** `Stage` in departures/departure.ts explains the values, and `Explanation` there those of the next column. */
  stage: 'under_way' | 'gone' | 'called_off' | 'returned'
  /** Why the items may leave; null raises an alarm while some are leaving or gone. */
  explanation: 'destination' | 'own_bot' | 'moved' | 'operator' | 'vault' | null
  destination: string | null
  seen_at: Generated<Date>
}

export type DepartedItemTable = {
  departure_id: bigint
  app_id: number
  context_id: string
  asset_id: string
  /** The item's id in the inventory of its new owner. */
  new_asset_id: string | null
  is_back: Generated<boolean>
  /** True if a custody entry records that the item left. */
  is_booked: Generated<boolean>
}

/**
 * When a bot's own inventory was read, to compare it with the custody entries. `asked_at`: an operator asked for a
 * reading. `whole_at`: the last reading that showed all items. `left_out`: foreign items that were not recorded,
 * because there were too many.
 */
export type CustodyLookTable = {
  bot_id: bigint
  due_at: Date
  asked_at: Date | null
  looked_at: Date | null
  whole_at: Date | null
  left_out: Generated<number>
}

/**
 * A difference between a bot's inventory and its custody entries. The next reading writes it again, or deletes it.
 * `missing`: only the entries have the item. `foreign`: only the inventory has it. `unnamed`: Steam never gave its
 * asset id.
 */
export type CustodyDriftTable = {
  id: Generated<bigint>
  bot_id: bigint
  kind: 'missing' | 'foreign' | 'unnamed'
  app_id: number
  /** The trade that brought the item, and the item's id in the shopper's inventory; null for a foreign item. */
  trade_id: bigint | null
  given_asset_id: string | null
  /** The item's id in the bot's inventory. */
  asset_id: string | null
  market_hash_name: string
  first_seen_at: Date
  seen_at: Date
  /** How many readings in a row found it, with a pass through the trade history between any two. */
  looks: number
  /** `settleDrift` in drift/drift.ts decides. */
  is_sure: boolean
}

/** An asset id that Steam did not report with the delivery, found in the bot's inventory later. */
export type LearntAssetTable = {
  custody_entry_id: bigint
  received_asset_id: string
  learnt_at: Date
}

/** An item that another account of the operator sent to a bot. */
export type SentBackItemTable = {
  bot_id: bigint
  steam_trade_id: string
  app_id: number
  /** The item's id in the sender's inventory, and in the bot's. */
  asset_id: string
  received_asset_id: string
  seen_at: Generated<Date>
}

/** A Steam account that took a trade back. Its deliveries are credited on release until an operator trusts it. */
export type CarefulShopperTable = {
  steam_id: string
  since: Date
  /** The last trade that the account took back. */
  trade_id: bigint
  last_at: Date
  reversals: Generated<number>
}
