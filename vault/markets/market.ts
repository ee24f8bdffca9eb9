/** The port to an outside market on which items are sold. Amounts are minor units of the account's currency. */
import type { Gift } from '../giving/gift.ts'

/** How much the clocks of a market and the vault may differ. */
export const CLOCKS_DIFFER_MS = 120_000

/**
 * Why a call failed. `unanswered`: the market may have carried it out. `refused`: it has not. `locked_out`: the market
 * refused the key, now or in the last minutes. `busy`: the market has carried out nothing. Either the call was not
 * made, because too many are waiting or calls pause for a minute, or its answer has begun such a pause
 * (clients/caller.ts).
 */
export type Failure =
  | { kind: 'unanswered'; because: string }
  | { kind: 'refused'; code: string }
  | { kind: 'locked_out' }
  | { kind: 'busy' }

export type MarketAnswer<T> = { kind: 'answered'; value: T } | Failure

/**
 * A reason why an account cannot sell. `other_account`: the key belongs to another account. `other_currency`: the account
 * is not in the currency of the vault's prices. `no_trade_token`: the market does not know the token of the account's
 * trade link. `trade_check_failed`: the market's check of the account's trades failed. `offline`: the market counts the
 * seller as offline until `keepOnline` is called. `banned_from_selling`: the market does not let the account sell.
 */
export type Problem =
  | 'other_account'
  | 'other_currency'
  | 'no_trade_token'
  | 'trade_check_failed'
  | 'offline'
  | 'banned_from_selling'

/** `feeBp`: the stated fee as a share of a price, in hundredths of a percent; null if the market does not state one. */
export type ReadyReport = { problems: readonly Problem[]; feeBp: bigint | null }

/** `freeMinor`: can be withdrawn. `settlingMinor`: kept by the market until protection is over. */
export type Money = { freeMinor: bigint; settlingMinor: bigint; currency: string }

export type Line = { assetId: string; priceMinor: bigint }

/**
 * The answer for one line. `itemId`: the market's number of the listing. `postponed`: the market accepts no change of
 * the item for a while. `retry`: the line may succeed later, perhaps once the market has read the inventory.
 */
export type Listed =
  | { kind: 'listed'; assetId: string; itemId: string }
  | { kind: 'postponed'; assetId: string }
  | { kind: 'refused'; assetId: string; code: string; retry: boolean }

/** The answer for one listing whose price was to be changed, or that was to be taken down. */
export type Repriced = { itemId: string; isDone: boolean }

/** A listing as the market shows it. `price`: in market units or major units (see scale.ts); null if not shown. */
export type Row = {
  itemId: string
  assetId: string
  /**
   * `sold`: the item must be given. `offer_out`: the market knows the offer that gives it. `given`: the buyer has the
   * item. `cancelled`: the sale was called off. `unknown`: a stage for which the client has no name.
   */
  stage: 'on_sale' | 'sold' | 'offer_out' | 'given' | 'cancelled' | 'unknown'
  /** Seconds left to hand over the item; null if no time is known. */
  leftS: number | null
  /** When this time ends. Absent if the market gives only the seconds. */
  dueAt?: Date
  price: number | null
}

/** The items that the market asks for, and their recipient. All of this is only the market's claim. */
export type DueGift = Gift & {
  /** Stays the same until the deal is done. Nothing is given twice under one number. */
  dealId: string
}

/**
 * An answer about one game: the listings, and the sold items that must be given now. `unread`: the numbers of deals that
 * the client cannot read, so their items are not given.
 */
export type Round = { rows: readonly Row[]; due: readonly DueGift[]; unread?: readonly string[] }

/**
 * The state of a sale. `pending`: it has not ended. `settling`: the market holds the money until `settlesAt`. `paid`: the
 * money is free. `cancelled`: the market pays nothing. `reversed`: the trade was taken back by `causer`, and the market
 * pays `refundMinor`.
 */
export type Outcome = {
  itemId: string
  soldAt: Date
  end:
    | { kind: 'pending' }
    | { kind: 'settling'; receivedMinor: bigint; settlesAt: Date }
    | { kind: 'paid'; receivedMinor: bigint }
    | { kind: 'cancelled' }
    | { kind: 'reversed'; causer: 'buyer' | 'seller' | 'unknown'; refundMinor: bigint }
}

export type Market = {
  name: string
  /** Games sold here, by Steam's app id. */
  games: readonly number[]
  /** The order in which to confirm an offer and report it to the market. */
  order: 'confirm_then_report' | 'report_then_confirm'
  ready(): Promise<MarketAnswer<ReadyReport>>
  /** Call this every three minutes. Otherwise, listings stop selling without an error. */
  keepOnline(accessToken: string): Promise<MarketAnswer<null>>
  /**
   * Why the market may hide the listings, or report no sales, although it answers `keepOnline`. Undefined until that
   * has lasted for minutes. Absent if the market does not tell.
   */
  obstacle?(): string | undefined
  setTradeToken(token: string): Promise<MarketAnswer<null>>
  /** Closes open connections, without a call to the market. */
  close(): void
  /** Makes the market read the inventory of a game, which takes some seconds. */
  refresh(appId: number): Promise<MarketAnswer<null>>
  /**
   * Awaits `begin` right before the market is called, with the lines of that call. The client may answer without a call
   * to the market.
   */
  list(
    appId: number,
    lines: readonly Line[],
    begin?: (asked: readonly Line[]) => Promise<void>,
  ): Promise<MarketAnswer<readonly Listed[]>>
  reprice(
    appId: number,
    lines: readonly { itemId: string; priceMinor: bigint }[],
  ): Promise<MarketAnswer<readonly Repriced[]>>
  unlist(appId: number, itemIds: readonly string[]): Promise<MarketAnswer<readonly Repriced[]>>
  round(appId: number): Promise<MarketAnswer<Round>>
  /**
   * Asks whether the market still wants the deal. Call this right before confirming its offer. `listedAt`: when the last
   * of its items was listed; a sale before that is another deal. `unanswered` if the market does not tell: then ask
   * again.
   */
  isWanted(deal: DueGift, about: { offerId: string; listedAt: Date }): Promise<MarketAnswer<boolean>>
  /**
   * True if the market says that it called the deal off. Its offer must then be cancelled, although it was confirmed:
   * otherwise, the buyer could accept it without paying. Absent if the market's answers do not tell.
   */
  isCalledOff?(deal: DueGift, offerId: string): Promise<boolean>
  reportOffer(appId: number, handOver: { offerId: string; dealId: string }): Promise<MarketAnswer<null>>
  outcomes(appId: number, since: Date): Promise<MarketAnswer<readonly Outcome[]>>
  money(): Promise<MarketAnswer<Money>>
  /** Reads the lowest price at which anyone offers each item, by its market hash name, in minor units. */
  lowestPrices(appId: number): Promise<MarketAnswer<ReadonlyMap<string, bigint>>>
}
