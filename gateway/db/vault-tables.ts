/** Types of the tables between the till and the vault: wishes and their results. */
import type { Generated } from 'kysely'

/** A wish to give items away. `send`: to a destination on the vault's list. `return`: to the shopper who sent them. */
export type WishTable = {
  id: Generated<bigint>
  kind: 'send' | 'return'
  bot_id: bigint
  destination: string | null
  deposit_id: bigint | null
  /** For a return: the Steam trade that brought the items. */
  steam_trade_id: string | null
  /** `rule`: the rule in `send_rule`. */
  asked_by: 'operator' | 'rule'
  created_at: Generated<Date>
  closed_at: Date | null
}

/** An item of a wish. `is_open`: the wish is not closed. */
export type WishItemTable = {
  wish_id: bigint
  app_id: number
  context_id: string
  asset_id: string
  is_open: Generated<boolean>
}

/** The vault's progress with a wish. Only the vault's role writes it. */
export type VaultDeedTable = {
  wish_id: bigint
  state:
    | 'waiting'
    /** The vault's rules forbid the gift. */
    | 'refused'
    /** The vault has decided to send an offer, and may have sent it. */
    | 'intended'
    /** The offer is on Steam. */
    | 'offered'
    /** The recipient got the items. */
    | 'delivered'
    /** The gift was begun, but nothing was given. */
    | 'ended'
  /** Why the vault waits or refuses, or why the gift ended. */
  because: string | null
  partner_steam_id: string | null
  /** The items that the vault means to give, as `app/asset`, sorted. */
  assets: string[]
  offer_id: string | null
  steam_trade_id: string | null
  at: Date
}

/** A problem at the vault that needs a person. Only the vault's role writes it. */
export type VaultNeedTable = { kind: string; about: string; text: string; since: Date; seen_at: Date }

/**
 * Items of the vault's accounts that are not on sale, and why. Only the vault's role writes it. `app_id` and `items`
 * are null if the vault has stopped selling from the account, whose items it then does not examine.
 */
export type VaultUnlistedTable = {
  market: string
  account: string
  app_id: number | null
  reason: string
  items: number | null
  detail: string
  said_at: Date
}

/** The rule that sends items to the destination, but leaves each bot `keep` free items. One row at most. */
export type SendRuleTable = {
  only_row: Generated<boolean>
  destination: string
  keep: number
  set_at: Generated<Date>
}
