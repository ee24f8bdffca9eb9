/**
 * All methods of Steam that the port calls, with budgets per account and per address. An enrolment, which an operator
 * begins, has no budget.
 *
 * Steam does not publish its limits. The account budgets of GetTradeOffer, GetTradeHoldDurations, GetTradeOffers,
 * GetTradeStatus, GetTradeHistory and partnerinventory were measured by others (assetpaygg/steam-mobile, rateLimits).
 * The author of the client libraries says that about a second between sends is safe. The other numbers are guesses. The
 * budgets of an address allow for 50 bots that each read a list every five seconds, and for 500 shoppers at the same
 * time. If Steam allows less, it answers 429, and budget.ts pauses the requests.
 */
import type { BudgetLimits } from './budget.ts'

type Limits = {
  /** Null for public pages, which need no account. */
  account: BudgetLimits | null
  /** Shared by all bots of all gateways. Each gateway gets an equal part of it. */
  address: BudgetLimits
}

/** Allows one request every `everyMs`, and up to `burst` together after a time without any. */
const every = (everyMs: number, burst: number): BudgetLimits => ({ burst, everyMs })

/** No method shares a budget with another, so no read can hold up a send or a cancel. */
export const METHODS = {
  GetTradeOffer: { account: every(5, 3_750), address: every(20, 500) },
  GetTradeHoldDurations: { account: every(5, 3_750), address: every(20, 500) },
  GetTradeOffers: { account: every(125, 85), address: every(60, 100) },
  GetTradeStatus: { account: every(2_000, 25), address: every(50, 500) },
  GetTradeHistory: { account: every(15_000, 25), address: every(250, 100) },
  partnerinventory: { account: every(4_000, 30), address: every(80, 500) },
  /** Steam's limit is unknown, but Steam tolerates callers that read one page every 4 seconds. */
  inventory: { account: null, address: every(4_000, 30) },
  /**
   * If two requests come within a second, Steam answers the second as if the inventory were empty (measured by
   * others).
   */
  GetInventoryItemsWithDescriptions: { account: every(1_500, 1), address: every(500, 2) },
  /** The older page of a bot's own inventory. It is read only if GetInventoryItemsWithDescriptions returns no content. */
  owninventory: { account: every(4_000, 8), address: every(1_000, 8) },
  profile: { account: null, address: every(100, 200) },
  miniprofile: { account: null, address: every(100, 200) },
  send: { account: every(1_000, 5), address: every(50, 250) },
  /** All open offers of a bot can reach their deadline at the same time. */
  cancel: { account: every(500, 30), address: every(50, 200) },
  decline: { account: every(1_000, 10), address: every(100, 50) },
  acknowledge: { account: every(30_000, 10), address: every(500, 50) },
  /** Each call is about five requests. */
  login: { account: every(30_000, 10), address: every(1_000, 4) },
} as const satisfies Record<string, Limits>

export type Method = keyof typeof METHODS

export const limitsOf = (method: Method): Limits => METHODS[method]
