/** The port to an outside market on which items are sold. Amounts are minor units of the account's currency. */
import type { Gift } from '../giving/gift.ts'

/**
 * Why a call brought nothing. `unanswered`: whether the market did what was asked is not known. `refused`: it did not.
 * `locked_out`: the key is not valid any longer, and no call will do. `busy`: too many calls wait here, none was made.
 */
export type Failure =
  | { kind: 'unanswered'; because: string }
  | { kind: 'refused'; code: string }
  | { kind: 'locked_out' }
  | { kind: 'busy' }

export type Said<T> = { kind: 'said'; value: T } | Failure

/** What keeps an account from selling. */
export type Problem =
  | 'other_account'
  | 'no_trade_token'
  | 'trade_check_failed'
  | 'offline'
  | 'banned_from_selling'

export type Readiness = { problems: readonly Problem[] }

export type Money = { freeMinor: bigint; settlingMinor: bigint; currency: string }

export type Line = { assetId: string; priceMinor: bigint }

/** `retry`: the market has not read the inventory yet. */
export type Listed =
  | { kind: 'listed'; assetId: string; itemId: string }
  | { kind: 'refused'; assetId: string; code: string; retry: boolean }

export type Repriced = { itemId: string; isDone: boolean }

/** A listing as the market shows it. `priceMinor`: null where the market's number fits no scale that it could have. */
export type Row = {
  itemId: string
  assetId: string
  stage: 'on_sale' | 'sold' | 'offer_out' | 'given' | 'cancelled' | 'unknown'
  /** Seconds left to hand over. */
  leftS: number | null
  price: number | null
}

/** What the market asks to be given, and to whom. All of it is the market's word. */
export type Due = Gift & {
  /** The same until it is done: never give twice for it. */
  dealId: string
}

export type Round = { rows: readonly Row[]; due: readonly Due[] }

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
  /** Whether the offer is confirmed before the market is told of it, or after. */
  order: 'confirm_then_tell' | 'tell_then_confirm'
  ready(): Promise<Said<Readiness>>
  /** Call this every three minutes: what is listed does not sell otherwise, and nothing says so. */
  keepOnline(accessToken: string): Promise<Said<null>>
  /** Tells the market the token of the account's trade link: it names its buyers' offers by it. */
  setTradeToken(token: string): Promise<Said<null>>
  goOffline(): Promise<Said<null>>
  /** Has the market read the inventory of a game, which takes it some seconds. */
  refresh(appId: number): Promise<Said<null>>
  list(appId: number, lines: readonly Line[]): Promise<Said<readonly Listed[]>>
  reprice(
    appId: number,
    lines: readonly { itemId: string; priceMinor: bigint }[],
  ): Promise<Said<readonly Repriced[]>>
  unlist(appId: number, itemIds: readonly string[]): Promise<Said<readonly Repriced[]>>
  unlistAll(appId: number): Promise<Said<null>>
  /** What is listed, and what was sold and must be given now. */
  round(appId: number): Promise<Said<Round>>
  /** Tells the market which offer hands a deal over. */
  sent(appId: number, offerId: string): Promise<Said<null>>
  outcomes(appId: number, since: Date): Promise<Said<readonly Outcome[]>>
  money(): Promise<Said<Money>>
  /** The best offers of others, by the name of the item. */
  bestOffers(appId: number): Promise<Said<ReadonlyMap<string, bigint>>>
}
