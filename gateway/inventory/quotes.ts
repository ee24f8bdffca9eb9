/** The prices that a shopper saw: saved with the inventory, and used when its items are traded. */
import { z } from 'zod'
import type { ErrorCode } from '../../contract/errors.ts'
import type { Game } from '../../contract/games.ts'
import type { Currency } from '../../contract/money.ts'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import { readRate } from '../pricing/exchange.ts'
import { phaseName } from '../pricing/phase.ts'
import { BPS, type PricingRules } from '../pricing/price.ts'
import { isBlocked, minimumOf, type PriceList, priceList } from '../pricing/service.ts'
import { findRate } from '../pricing/store.ts'
import {
  dropOldQuotes,
  findQuoteRow,
  latestQuote,
  lockQuotes,
  type NewQuote,
  pricesOfItems,
  type QuotedItem,
  quotedItems,
  writeQuote,
} from './quote-store.ts'

const QUOTE_LIFE_MS = 15 * 60_000

type UnsavedQuote = Omit<NewQuote, 'expiresAt'>

/** A page that reloads within this time gets the same quote, if no price has changed. */
const REUSE_UNCHANGED_MS = 60_000
/** A page that reloads within this time gets the same quote, unless a price has fallen. */
const REUSE_RISEN_MS = 10_000
/** The most quotes of a deposit to keep, apart from older ones that a trade refers to. */
const MOST_QUOTES = 50

/** `priceOf`: undefined for an asset that is not in the quote. */
export type SavedQuote = { quoteId: string; priceOf(assetId: string): bigint | undefined }

/** Saves the prices for a shopper, unless the latest quote already has them or is too recent to be replaced. */
export async function saveQuote(db: Db, quote: UnsavedQuote): Promise<SavedQuote> {
  const reused = await reusableQuote(db, quote)
  if (reused !== undefined) return reused
  return inTransaction(db, async (tx) => {
    await lockQuotes(tx, quote.depositId)
    // Another call may have written a quote in the meantime.
    const newerQuote = await reusableQuote(tx, quote)
    if (newerQuote !== undefined) return newerQuote
    await writeQuote(tx, { ...quote, expiresAt: new Date(quote.at.getTime() + QUOTE_LIFE_MS) })
    await dropOldQuotes(tx, quote.depositId, MOST_QUOTES)
    return pricesOf(quote.id, quote.items)
  })
}

/** The latest quote, if it has these prices, or if it is too recent to be replaced and no price has fallen since. */
async function reusableQuote(db: Db | Tx, quote: UnsavedQuote): Promise<SavedQuote | undefined> {
  const latest = await latestQuote(db, quote, new Date(quote.at.getTime() - REUSE_UNCHANGED_MS))
  if (latest === undefined) return undefined
  const latestPrices = await pricesOfItems(db, latest.id)
  const latestOf = new Map(latestPrices.map((item) => [item.assetId, item]))
  const isSame = ({ assetId, price, gross }: QuotedItem) => {
    const item = latestOf.get(assetId)
    return item?.price === price && item.gross === gross
  }
  const isUnchanged =
    latest.rateId === quote.rateId && latestPrices.length === quote.items.length && quote.items.every(isSame)
  if (isUnchanged) return pricesOf(latest.id, latestPrices)
  const isYoung = quote.at.getTime() - latest.createdAt.getTime() < REUSE_RISEN_MS
  // A trade at the older, higher price could be refused, so after a fall the page gets the new price.
  const hasFallen = ({ assetId, price }: QuotedItem) => (latestOf.get(assetId)?.price ?? price) > price
  return isYoung && !quote.items.some(hasFallen) ? pricesOf(latest.id, latestPrices) : undefined
}

function pricesOf(quoteId: string, items: readonly Pick<QuotedItem, 'assetId' | 'price'>[]): SavedQuote {
  const prices = new Map(items.map(({ assetId, price }) => [assetId, price]))
  return { quoteId, priceOf: (assetId) => prices.get(assetId) }
}

type QuoteRequest = {
  depositId: bigint
  /** The account that gives the items. A quote for another account does not count. */
  steamId: string
  game: Game
  /** If absent, the latest quote of the deposit, account and game counts. */
  quoteId?: string
  assetIds: readonly string[]
  rules: PricingRules
  now: Date
}

export type QuoteAnswer =
  | {
      kind: 'quote'
      quoteId: string
      currency: Currency
      rateId: bigint
      items: QuotedItem[]
      /** The smallest total that the trade may have, in minor units. */
      minPrice: bigint
      /** The sums of the items' `price` and `gross`. */
      total: bigint
      gross: bigint
    }
  | { kind: 'refused'; code: Extract<ErrorCode, 'items_unavailable' | 'price_changed'> }

/**
 * Returns the prices that the shopper saw for these assets. Refuses if their total has since fallen by more than the
 * game's `fallBps`. After the quote's expiry, refuses if it has fallen at all, or if an item or the exchange rate has no
 * trusted value now. Also refuses items that are not in the quote, or that the operator has blocked meanwhile.
 */
export async function quoteForTrade(tx: Tx, request: QuoteRequest): Promise<QuoteAnswer> {
  const quote = await findQuote(tx, request)
  if (quote === undefined) return { kind: 'refused', code: 'items_unavailable' }
  const items = await quotedItems(tx, quote.id, request.assetIds)
  if (items.length === 0 || items.length !== new Set(request.assetIds).size) {
    return { kind: 'refused', code: 'items_unavailable' }
  }
  if (await isBlocked(tx, quote.game, items.flatMap(namesOf)))
    return { kind: 'refused', code: 'items_unavailable' }
  const total = sum(items.map(({ price }) => price))
  const gross = sum(items.map((item) => item.gross))
  const { rules, now } = request
  const isExpired = quote.expiresAt <= now
  if (!(await isStillWorthTotal(tx, { ...quote, items, total, rules, now, isExpired }))) {
    return { kind: 'refused', code: 'price_changed' }
  }
  const { id: quoteId, currency, rateId } = quote
  const minPrice = minimumOf(quote.game, { perUsd: quote.perUsd }, quote.minAmount)
  return { kind: 'quote', quoteId, currency, rateId, items, minPrice, total, gross }
}

const quoteIdSchema = z.uuid()

async function findQuote(tx: Tx, { depositId, steamId, game, quoteId }: QuoteRequest) {
  if (quoteId !== undefined && !quoteIdSchema.safeParse(quoteId).success) return undefined
  const quote = await findQuoteRow(tx, {
    depositId,
    steamId,
    game,
    ...(quoteId !== undefined && { quoteId }),
  })
  if (quote === undefined) return undefined
  const rate = await findRate(tx, quote.rateId)
  // The rate was checked when the quote was made. Its age no longer matters.
  const checkedRate = rate && readRate(quote.currency, rate, rate.asOf)
  return checkedRate?.kind === 'rate' ? { ...quote, perUsd: checkedRate.perUsd } : undefined
}

type CheckedQuote = Pick<QuoteRequest, 'game' | 'rules' | 'now'> & {
  currency: Currency
  items: readonly QuotedItem[]
  total: bigint
  isExpired: boolean
}

async function isStillWorthTotal(
  tx: Tx,
  { items, total, isExpired, ...query }: CheckedQuote,
): Promise<boolean> {
  const prices = await priceList(tx, { ...query, names: items.flatMap(namesOf) })
  // Without a trusted rate, a quote counts until it expires: its own rate was checked when it was made.
  if ('refused' in prices) return !isExpired
  const isPriced = (item: QuotedItem) => priceNow(item, prices).price.kind === 'priced'
  if (isExpired && !items.every(isPriced)) return false
  const currentWorths = items.map((item) => worthNow(item, prices))
  const leastBps = isExpired ? BPS : BPS - BigInt(query.rules[query.game].fallBps)
  return sum(currentWorths) * BPS >= total * leastBps
}

/**
 * An item without a current price keeps the quoted one if its sources are silent, or if it merely became unpopular.
 * Otherwise the sources contradict that price, and the item counts as worthless.
 */
function worthNow(item: QuotedItem, prices: PriceList): bigint {
  const { price, pricedAs } = priceNow(item, prices)
  if (price.kind === 'priced') return price.price
  return prices.isSilent(pricedAs) || price.reason === 'notPopular' ? item.price : 0n
}

/** A phase that was quoted at the price of its market name can have a price of its own by now. */
function priceNow({ marketHashName, pricedAs, phase }: QuotedItem, prices: PriceList) {
  if (phase !== null && pricedAs === marketHashName) return prices.priceOfPhase(marketHashName, phase)
  const name = prices.nameInForce(pricedAs)
  return { price: prices.priceOf(name), pricedAs: name }
}

/** The names on which a block or another hold applies to the item. */
function namesOf({ marketHashName, pricedAs, phase }: QuotedItem): string[] {
  return [marketHashName, pricedAs, ...(phase === null ? [] : [phaseName(marketHashName, phase)])]
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n)
