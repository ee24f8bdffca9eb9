/** Types of the tables of items: which bot has them, and how they left. */
import type { Generated } from 'kysely'

export type CustodyEntryTable = {
  id: Generated<bigint>
  trade_id: bigint
  asset_id: string
  received_asset_id: string | null
  bot_id: bigint
  moved: 'in' | 'back' | 'out'
  created_at: Generated<Date>
  departure_id: Generated<bigint | null>
}

export type DepartureTable = {
  id: Generated<bigint>
  bot_id: bigint
  steam_trade_id: string
  partner_steam_id: string
  begun_at: Date
  stage: 'under_way' | 'gone' | 'called_off' | 'returned'
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

/** A difference between a bot's inventory and its custody entries. The next reading replaces it. */
export type CustodyDriftTable = {
  id: Generated<bigint>
  bot_id: bigint
  kind: 'missing' | 'foreign' | 'unnamed'
  app_id: number
  trade_id: bigint | null
  given_asset_id: string | null
  asset_id: string | null
  market_hash_name: string
  first_seen_at: Date
  seen_at: Date
  looks: number
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
  asset_id: string
  received_asset_id: string
  seen_at: Generated<Date>
}

/** A Steam account that took a trade back. Its next deliveries are credited on release only. */
export type CarefulShopperTable = {
  steam_id: string
  since: Date
  trade_id: bigint
  last_at: Date
  reversals: Generated<number>
}
