/** Types of the tables between the till and the vault: wishes and their results. */
import type { Generated } from 'kysely'

export type WishTable = {
  id: Generated<bigint>
  kind: 'send' | 'return'
  bot_id: bigint
  destination: string | null
  deposit_id: bigint | null
  steam_trade_id: string | null
  asked_by: 'operator' | 'rule'
  created_at: Generated<Date>
  closed_at: Date | null
}

export type WishItemTable = {
  wish_id: bigint
  app_id: number
  context_id: string
  asset_id: string
  is_open: Generated<boolean>
}

export type VaultDeedTable = {
  wish_id: bigint
  state: 'waiting' | 'refused' | 'intended' | 'offered' | 'delivered' | 'ended'
  because: string | null
  partner_steam_id: string | null
  assets: string[]
  offer_id: string | null
  steam_trade_id: string | null
  at: Date
}

export type SendRuleTable = {
  only_row: Generated<boolean>
  destination: string
  keep: number
  set_at: Generated<Date>
}
