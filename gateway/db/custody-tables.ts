/** Types of the tables of items: who has them, and how they left. */
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
  explanation: 'destination' | 'own_bot' | 'moved' | 'operator' | null
  destination: string | null
  seen_at: Generated<Date>
}

export type DepartedItemTable = {
  departure_id: bigint
  app_id: number
  context_id: string
  asset_id: string
  new_asset_id: string | null
  is_back: Generated<boolean>
  is_booked: Generated<boolean>
}
