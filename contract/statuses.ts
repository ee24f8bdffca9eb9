/** The eight statuses of a deposit, with the names in the specification of the widget (§4). */
export const DEPOSIT_STATUSES = [
  /** No offer has been open yet. */
  'created',
  /** An offer is open. */
  'pending',
  /** The items arrived. */
  'succeeded',
  /** Time ran out, or the store cancelled, before an offer was open. */
  'paymentTimeout',
  /** The offer was not accepted in time or was cancelled, or the till stopped waiting for Steam. */
  'tradeTimeout',
  'tradeDeclined',
  /** The shopper sent a counteroffer, which is always refused. */
  'tradeCountered',
  /** The trade cannot be completed, most often because an item can no longer be traded. */
  'tradeHasInvalidItems',
] as const

export type DepositStatus = (typeof DEPOSIT_STATUSES)[number]

export type FinalDepositStatus = Exclude<DepositStatus, 'created' | 'pending'>

export function isFinal(status: DepositStatus): status is FinalDepositStatus {
  return status !== 'created' && status !== 'pending'
}

/** Returns the progress of a deposit as a number that never falls. Only a proof of delivery changes a final status. */
function progressOf(status: DepositStatus): number {
  if (status === 'created') return 0
  if (status === 'pending') return 1
  return status === 'succeeded' ? 3 : 2
}

export function isBefore(status: DepositStatus, known: DepositStatus): boolean {
  return progressOf(status) < progressOf(known)
}

/** Why an inventory cannot be shown. Each type is a state of the page, not a refused call. */
export const INVENTORY_ERROR_TYPES = [
  /** A failure that none of the other types describes. */
  'internal',
  /** The inventory is empty, or the account may not trade. */
  'tradeNotAvailable',
  /** The inventory is private. */
  'hidden',
  /** Steam would hold the shopper's trades. */
  'escrow',
  /** The token of the trade link is not valid. */
  'invalidPartner',
  /** Maintenance is on, no bot can read inventories, or no exchange rate can be trusted. */
  'engineeringWorks',
] as const

export type InventoryErrorType = (typeof INVENTORY_ERROR_TYPES)[number]

/** The cause of an error whose type has several. */
export const INVENTORY_ERROR_CAUSES = [
  /** Steam lets the account trade nothing at all. */
  'accountRestricted',
] as const

/** Why an item of the inventory is not offered for payment. */
export const UNAVAILABLE_REASONS = [
  /** Steam gives no reason. */
  'notTradable',
  /** Steam blocks trades of the item until a date. */
  'tradeHold',
  /** The item comes from a trade that Steam can still reverse. */
  'tradeProtected',
  /** Several items share one asset id. */
  'stack',
  /** Steam describes the item badly or not at all. */
  'unknownItem',
  /**
   * Steam's market does not accept the item, or still restricts it although the announced end of the restriction has
   * passed.
   */
  'notMarketable',
  /** Items of different value share this market name (Team Fortress 2). */
  'noOwnPrice',
  /** There is no reliable price, or the operator has blocked the item. */
  'noPrice',
  /** The item is sold too rarely. */
  'notPopular',
  'tooCheap',
  'inAnotherTrade',
] as const

export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number]
