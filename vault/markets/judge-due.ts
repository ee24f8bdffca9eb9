/** Decides whether to give the items that a market asks for. Pure. */
import { looksLikeDeposit } from '../giving/gift.ts'
import type { DueGift, Row } from './market.ts'
import type { Scale } from './scale.ts'

/** A listing, by our own record. */
export type OwnListing = { itemId: string; appId: number; assetId: string; priceMinor: bigint }

/**
 * The reasons to give nothing. `asset_not_listed`: an asset is not one that we listed in this game, is protected, or
 * appears twice in the deal. `own_account`: the buyer is an account of the vault. `deposit_message`: the message
 * contains what looks like a deposit's secret code. `changed`: the same deal asked for something else before, and the
 * vault may still give that. `not_sold`: the market's own list does not show every item as sold. `price_differs`: that
 * list shows a price other than the recorded one. `given_already`: the asset is promised to another deal. `too_late`:
 * the deadline is near.
 */
export type DueProblem =
  | 'asset_not_listed'
  | 'own_account'
  | 'deposit_message'
  | 'changed'
  | 'not_sold'
  | 'price_differs'
  | 'given_already'
  | 'too_late'

/** The facts by which a deal is judged. */
export type Context = {
  appId: number
  listings: readonly OwnListing[]
  /** The listings, as the market shows them. */
  rows: readonly Row[]
  scale: Scale
  /** The Steam ids of all accounts that are enrolled at the vault. */
  ownAccounts: ReadonlySet<string>
  /** The deal as it was recorded, unless it is new. */
  known: DueGift | undefined
  /**
   * The assets of open deals, without those already given: an asset that came back, perhaps under its old number, may
   * be sold again.
   */
  promised: ReadonlySet<string>
}

/**
 * `listings`: the deal's items, by our own record. `again`: the deal was recorded before, and asks for the same.
 */
export type DueVerdict =
  | { kind: 'give'; listings: readonly OwnListing[] }
  | { kind: 'again' }
  | { kind: 'refused'; problem: DueProblem }

/** The seconds needed to send, confirm and report an offer. With less time left, none is sent. */
export const LEAST_LEFT_S = 45
/** Steam's context of items that are not under protection. */
const FREE_CONTEXT = '2'

export function judgeDue(due: DueGift, context: Context): DueVerdict {
  const { known } = context
  if (known !== undefined)
    return isSame(known, due) ? { kind: 'again' } : { kind: 'refused', problem: 'changed' }
  const problem = problemOf(due, context)
  return problem === undefined
    ? { kind: 'give', listings: listingsOf(due, context) }
    : { kind: 'refused', problem }
}

function problemOf(due: DueGift, context: Context): DueProblem | undefined {
  const { appId, ownAccounts, promised, rows, scale } = context
  if (ownAccounts.has(due.partnerSteamId)) return 'own_account'
  if (looksLikeDeposit(due.message)) return 'deposit_message'
  const listings = listingsOf(due, context)
  const isThisGame = due.assets.every((asset) => asset.appId === appId && asset.contextId === FREE_CONTEXT)
  const distinct = new Set(due.assets.map(({ assetId }) => assetId)).size
  if (!isThisGame || listings.length !== due.assets.length || distinct !== due.assets.length)
    return 'asset_not_listed'
  if (due.assets.some(({ assetId }) => promised.has(assetId))) return 'given_already'
  const sold = listings.map(({ itemId }) => rows.find((row) => row.itemId === itemId))
  if (!sold.every((row) => row?.stage === 'sold' || row?.stage === 'offer_out')) return 'not_sold'
  const isListedPrice = listings.every(({ priceMinor }, index) => {
    const shown = sold[index]?.price
    return shown === null || shown === undefined || scale.isPrice(shown, priceMinor)
  })
  if (!isListedPrice) return 'price_differs'
  const itemIds = listings.map(({ itemId }) => itemId)
  return leastLeftS(itemIds, rows) < LEAST_LEFT_S ? 'too_late' : undefined
}

/** The seconds left to hand over these items; Infinity if the market gives no time. */
const leastLeftS = (itemIds: readonly string[], rows: readonly Row[]): number =>
  Math.min(...rows.map(({ itemId, leftS }) => (itemIds.includes(itemId) ? (leftS ?? Infinity) : Infinity)))

/** When the time to hand over these items ends. `leftS` counts from `askedAt`: time passes while the market answers. */
export const earliestEndMs = (itemIds: readonly string[], rows: readonly Row[], askedAt: Date): number =>
  Math.min(
    ...rows
      .filter(({ itemId }) => itemIds.includes(itemId))
      .map(({ dueAt, leftS }) => dueAt?.getTime() ?? askedAt.getTime() + (leftS ?? Infinity) * 1_000),
  )

function listingsOf({ assets }: DueGift, { listings }: Context): OwnListing[] {
  return assets.flatMap(({ appId, assetId }) =>
    listings.filter((listing) => listing.appId === appId && listing.assetId === assetId),
  )
}

function isSame(one: DueGift, other: DueGift): boolean {
  const textOf = ({ partnerSteamId, token, message, assets }: DueGift) =>
    JSON.stringify([
      partnerSteamId,
      token,
      message,
      assets.map(({ appId, contextId, assetId }) => `${appId}/${contextId}/${assetId}`).sort(),
    ])
  return textOf(one) === textOf(other)
}
