/** The vault's view of its sales: an append-only journal, and the state that follows from it. Pure. */
import { mayFollow } from '../../contract/sale-report.ts'
import type { EndedOffer, GivenAsset } from '../giving/gift.ts'
import type { DueGift, Outcome } from './market.ts'

/**
 * `account`: the Steam id of the account that sells; null in entries from before a market could have several accounts.
 */
type AccountFields = { market: string; account: string | null }

export type SaleEntry =
  /** From this entry on, the market may have the listing, even if the process dies. */
  | (AccountFields & { kind: 'listing_begun'; appId: number; assetId: string; priceMinor: bigint })
  | { kind: 'listed'; market: string; appId: number; assetId: string; itemId: string }
  | { kind: 'not_listed'; market: string; appId: number; assetId: string; code: string }
  | { kind: 'repriced'; market: string; itemId: string; priceMinor: bigint }
  | { kind: 'unlisted'; market: string; itemId: string }
  /**
   * The vault refused what the market asked, and never gives it. If `problem` is `changed` (see `DueProblem`), the deal
   * had asked for something else before, and the vault may still give that.
   */
  | { kind: 'due_refused'; market: string; due: DueGift; problem: string }
  | (AccountFields & { kind: 'deal_intended'; due: DueGift; itemIds: readonly string[] })
  /** From this entry on, the offer may exist. */
  | { kind: 'send_begun'; market: string; dealId: string }
  /** No offer was made. `because`: decides whether the send may be repeated (`maySendAgain`), or the deal has ended. */
  | { kind: 'send_refused'; market: string; dealId: string; because: string }
  | { kind: 'send_unanswered'; market: string; dealId: string }
  /** The offer was not in Steam's list. */
  | { kind: 'offer_missed'; market: string; dealId: string }
  /** The vault gave the deal up, because the deal has no offer. */
  | { kind: 'abandoned'; market: string; dealId: string }
  | { kind: 'offer_known'; market: string; dealId: string; offerId: string }
  | { kind: 'confirmed'; market: string; dealId: string }
  /** The offer was reported to the market. */
  | { kind: 'told'; market: string; dealId: string }
  | { kind: 'offer_ended'; market: string; dealId: string; how: EndedOffer }
  | { kind: 'delivered'; market: string; dealId: string; steamTradeId: string }
  | { kind: 'outcome'; market: string; itemId: string; end: Outcome['end'] }

/**
 * The account had no session for the send, or had to wait too long before it. Older versions recorded another reason
 * for this. A deal with such an old entry has ended, because `maySendAgain` does not know the reason.
 */
export const NO_SESSION = 'no_session'
/** The account had too many open offers, in total or to this buyer. */
export const TOO_MANY_OFFERS = 'too_many_offers'

export const maySendAgain = (because: string): boolean =>
  because === NO_SESSION || because === TOO_MANY_OFFERS

/** An entry with its time. */
export type DatedEntry = { at: Date; entry: SaleEntry }

export type Listing = AccountFields & {
  appId: number
  assetId: string
  priceMinor: bigint
  /** The market's number of the listing; null until the market has confirmed it. */
  itemId: string | null
  begunAt: Date
  /** When the item was sold or taken down; absent while it is on sale. */
  offSaleAt?: Date
  /** `in_deal`: sold and not given yet. `over`: ended, and the item was not given. */
  state: 'on_sale' | 'in_deal' | 'given' | 'over'
  /** The market's latest report on the sale, of those that `takesEnd` accepts; null before the first. */
  end: Outcome['end'] | null
}

type DealBase = AccountFields & { due: DueGift; itemIds: readonly string[]; intendedAt: Date }
type SentDeal = DealBase & {
  offerId: string
  sentAt: Date
  isConfirmed: boolean
  isReported: boolean
}

/**
 * `intended`: no offer was made yet. `sending`: no answer to the send is recorded. `unknown`: the answer was lost, so the
 * vault looks for the offer. `active`: the offer is known. `ended`: nothing was given.
 */
export type Deal =
  | (DealBase & { state: 'intended' })
  | (DealBase & { state: 'sending' | 'unknown'; begunAt: Date; missed: number; missedAt: Date | null })
  | (SentDeal & { state: 'active' })
  | (SentDeal & { state: 'delivered'; steamTradeId: string; deliveredAt: Date })
  | (DealBase & { state: 'ended'; because: EndedOffer | 'refused' | 'abandoned' })

export type Book = {
  /** All listings, oldest first. An asset has at most one live listing across all markets. */
  listings: readonly Listing[]
  /** Deals by market and number. */
  deals: ReadonlyMap<string, Deal>
  /**
   * The problems of refused deals, by market and number. A refused deal is never taken up. With `changed`, it was taken
   * up before, and what it asked for then may still be given.
   */
  refused: ReadonlyMap<string, string>
  /** How often each number was given to a listing, by market and number. */
  listedTimes: ReadonlyMap<string, number>
}

/**
 * An append-only journal. `add` is synchronous and returns once the entry cannot be lost, so nothing can happen between
 * a look at the book and an entry made right after it. `book` changes with each entry, so a caller must copy a list
 * that it needs unchanged. A listing or deal never changes: another one replaces it.
 */
export type Journal = { book(): Book; add(entry: SaleEntry): void }

/** An account that sells at a market. `isFirst`: entries without an account belong to it. */
export type MarketAccount = { market: string; account: string; isFirst: boolean }

export const isOfAccount =
  ({ market, account, isFirst }: MarketAccount) =>
  (each: AccountFields): boolean =>
    each.market === market && (each.account === account || (each.account === null && isFirst))

export const dealKey = (market: string, dealId: string): string => `${market}/${dealId}`

type Numbered = { market: string; itemId: string }

const listedKey = ({ market, itemId }: Numbered): string => `${market}/${itemId}`

/** How often the market has given this number to a listing. A market may use a number again. */
export const timesListed = ({ listedTimes }: Pick<Book, 'listedTimes'>, item: Numbered): number =>
  listedTimes.get(listedKey(item)) ?? 0

export function isLive({ state }: Listing): boolean {
  return state === 'on_sale' || state === 'in_deal'
}

/** True if the item must not be listed: it is on sale or sold, or it was given and its return is not reported. */
export const isTied = (listing: Listing): boolean =>
  isLive(listing) || (listing.state === 'given' && listing.end?.kind !== 'reversed')

/** The newest listing with this number. A market may use the same number each time that an item is listed. */
export function latestListing({ listings }: Pick<Book, 'listings'>, item: Numbered): Listing | undefined {
  return listings.findLast(isListing(item))
}

/** The live listing of an asset, on any market. The search begins at the newest, because live listings are new. */
export function liveListing(
  { listings }: Book,
  { appId, assetId }: Pick<GivenAsset, 'appId' | 'assetId'>,
): Listing | undefined {
  return listings.findLast((each) => each.appId === appId && each.assetId === assetId && isLive(each))
}

/**
 * True if a live listing on the market, of any account and game, has this number. The market names deals and payments by
 * it.
 */
export const isNumberInUse = ({ listings }: Book, item: Numbered): boolean =>
  listings.some((each) => isLive(each) && isListing(item)(each))

type OnSale = {
  market: string
  appId: number
  nameOf(assetId: string): string | undefined
}

/** The lowest prices of the vault's listings on a market, by market hash name. Leaves out items without a known name. */
export function lowestOnSale({ listings }: Book, { market, appId, nameOf }: OnSale): Map<string, bigint> {
  const lowest = new Map<string, bigint>()
  for (const each of listings) {
    if (each.market !== market || each.appId !== appId || each.state !== 'on_sale') continue
    const name = nameOf(each.assetId)
    const lowestSoFar = name === undefined ? undefined : lowest.get(name)
    if (name !== undefined && (lowestSoFar === undefined || each.priceMinor < lowestSoFar))
      lowest.set(name, each.priceMinor)
  }
  return lowest
}

/**
 * When each of these listings of one market was sold, which is when the vault took up its deal. For a listing without a
 * deal, when the listing was begun.
 */
export function soldTimesMs({ deals }: Book, listings: readonly Listing[]): number[] {
  const [market] = listings.map((each) => each.market)
  const soldAt = new Map<string | null, Date>()
  for (const deal of deals.values())
    if (deal.market === market) for (const itemId of deal.itemIds) soldAt.set(itemId, deal.intendedAt)
  return listings.map(({ itemId, begunAt }) => (soldAt.get(itemId) ?? begunAt).getTime())
}

/** The number of items in deals intended since `since`, and the sum of their listed prices. Excludes ended deals. */
export function soldSince({ deals, listings }: Book, since: Date): { cents: bigint; items: number } {
  let [cents, items] = [0n, 0]
  for (const { market, itemIds, intendedAt, state } of deals.values()) {
    if (state === 'ended' || intendedAt < since) continue
    const sold = itemIds.flatMap((itemId) => latestListing({ listings }, { market, itemId }) ?? [])
    cents += sold.reduce((sum, { priceMinor }) => sum + priceMinor, 0n)
    items += itemIds.length
  }
  return { cents, items }
}

/** A mutable book. */
type Draft = {
  listings: Listing[]
  deals: Map<string, Deal>
  refused: Map<string, string>
  listedTimes: Map<string, number>
}

/**
 * Turns entries into a book. `book` changes with each entry that is added. A journal holds years of sales, so an entry
 * copies nothing but the listings and the deal that it concerns.
 */
export function createFold(): { book: Book; add(dated: DatedEntry): void } {
  const book: Draft = { listings: [], deals: new Map(), refused: new Map(), listedTimes: new Map() }
  return { book, add: (dated) => applyEntry(book, dated) }
}

export function bookOf(entries: readonly DatedEntry[]): Book {
  const { book, add } = createFold()
  for (const dated of entries) add(dated)
  return book
}

function applyEntry(draft: Draft, { at, entry }: DatedEntry): void {
  switch (entry.kind) {
    case 'listing_begun': {
      const { market, account, appId, assetId, priceMinor } = entry
      const terms = { market, account, appId, assetId, priceMinor }
      draft.listings.push({ ...terms, itemId: null, begunAt: at, state: 'on_sale', end: null })
      return
    }
    case 'listed': {
      changeLast(draft, isBegunListing(entry), (listing) => {
        draft.listedTimes.set(listedKey(entry), timesListed(draft, entry) + 1)
        return { ...listing, itemId: entry.itemId }
      })
      return
    }
    case 'not_listed': {
      const index = draft.listings.findLastIndex(isBegunListing(entry))
      if (index !== -1) draft.listings.splice(index, 1)
      return
    }
    case 'repriced':
      changeLast(draft, isListing(entry), (listing) => ({ ...listing, priceMinor: entry.priceMinor }))
      return
    case 'unlisted':
      changeLast(draft, isListing(entry), (listing) => ({ ...listing, state: 'over', offSaleAt: at }))
      return
    case 'due_refused':
      draft.refused.set(dealKey(entry.market, entry.due.dealId), entry.problem)
      return
    case 'deal_intended': {
      const { market, account, due, itemIds } = entry
      const deal: Deal = { market, account, due, itemIds, intendedAt: at, state: 'intended' }
      changeListingsOf(draft, deal, (listing) => ({ ...listing, state: 'in_deal', offSaleAt: at }))
      draft.deals.set(dealKey(market, due.dealId), deal)
      return
    }
    case 'outcome':
      changeLast(draft, isListing(entry), (listing) =>
        takesEnd(listing, entry.end) ? { ...listing, end: entry.end } : listing,
      )
      return
    default:
      changeDeal(draft, entry, at)
  }
}

type DealEntry = Extract<SaleEntry, { dealId: string }>

function changeDeal(draft: Draft, entry: DealEntry, at: Date): void {
  const key = dealKey(entry.market, entry.dealId)
  const deal = draft.deals.get(key)
  if (deal === undefined) throw new Error(`the deal ${entry.dealId} was never intended`)
  const changed = evolveDeal(deal, entry, at)
  draft.deals.set(key, changed)
  if (changed.state === 'delivered') changeListingsOf(draft, changed, markGiven)
  // Nothing was given, so the items may be listed again.
  if (changed.state === 'ended') changeListingsOf(draft, changed, markOver)
}

const markGiven = (listing: Listing): Listing => ({ ...listing, state: 'given' })
const markOver = (listing: Listing): Listing =>
  listing.state === 'in_deal' ? { ...listing, state: 'over' } : listing

function evolveDeal(deal: Deal, entry: DealEntry, at: Date): Deal {
  const { market, account, due, itemIds, intendedAt } = deal
  const base: DealBase = { market, account, due, itemIds, intendedAt }
  switch (entry.kind) {
    case 'send_begun':
      return { ...base, state: 'sending', begunAt: at, missed: 0, missedAt: null }
    case 'send_refused':
      return maySendAgain(entry.because)
        ? { ...base, state: 'intended' }
        : { ...base, state: 'ended', because: 'refused' }
    case 'send_unanswered':
      return deal.state === 'sending' ? { ...deal, state: 'unknown' } : deal
    case 'offer_missed':
      return deal.state === 'unknown' || deal.state === 'sending'
        ? { ...deal, state: 'unknown', missed: deal.missed + 1, missedAt: at }
        : deal
    case 'abandoned':
      return { ...base, state: 'ended', because: 'abandoned' }
    case 'offer_known':
      return {
        ...base,
        state: 'active',
        offerId: entry.offerId,
        sentAt: at,
        isConfirmed: false,
        isReported: false,
      }
    case 'confirmed':
      return deal.state === 'active' ? { ...deal, isConfirmed: true } : deal
    case 'told':
      return deal.state === 'active' ? { ...deal, isReported: true } : deal
    case 'offer_ended':
      return deal.state === 'delivered' ? deal : { ...base, state: 'ended', because: entry.how }
    case 'delivered': {
      if (deal.state !== 'active') throw new Error(`the deal ${entry.dealId} has no offer`)
      return { ...deal, state: 'delivered', steamTradeId: entry.steamTradeId, deliveredAt: at }
    }
    default:
      return entry satisfies never
  }
}

/** True if the market's report on the sale changes the listing. */
export const takesEnd = ({ end }: Pick<Listing, 'end'>, news: Outcome['end']): boolean =>
  news.kind !== 'pending' && mayFollow(end?.kind ?? null, news.kind)

/** Changes the newest matching listing. At most one of them is live. */
function changeLast(
  { listings }: Draft,
  matches: (listing: Listing) => boolean,
  change: (listing: Listing) => Listing,
): void {
  const index = listings.findLastIndex(matches)
  const listing = listings[index]
  if (listing !== undefined) listings[index] = change(listing)
}

function changeListingsOf(
  draft: Draft,
  { market, itemIds }: Deal,
  change: (listing: Listing) => Listing,
): void {
  for (const itemId of itemIds) changeLast(draft, isListing({ market, itemId }), change)
}

const isBegunListing =
  ({ market, appId, assetId }: { market: string; appId: number; assetId: string }) =>
  (listing: Listing): boolean =>
    listing.market === market &&
    listing.appId === appId &&
    listing.assetId === assetId &&
    listing.itemId === null

const isListing =
  ({ market, itemId }: Numbered) =>
  (listing: Listing): boolean =>
    listing.market === market && listing.itemId === itemId
