/** The prices a shopper saw: written down with the inventory, looked up when its items are traded. */
import { sql } from 'kysely'
import { z } from 'zod'
import type { ErrorCode } from '../../contract/errors.ts'
import type { Game } from '../../contract/games.ts'
import type { Currency } from '../../contract/money.ts'
import type { Tx } from '../db/client.ts'
import { readRate } from '../pricing/exchange.ts'
import type { PricingRules } from '../pricing/price.ts'
import { type Grounds, isBlocked, minimumOf, priceList } from '../pricing/service.ts'
import { findRate } from '../pricing/store.ts'

const QUOTE_LIFE_MS = 15 * 60_000

export type QuotedItem = {
  assetId: string
  appId: number
  contextId: string
  name: string
  marketHashName: string
  /** What the shopper is credited and what it is before commission, minor units of the quote's currency. */
  price: bigint
  gross: bigint
}

type NewQuote = {
  id: string
  depositId: bigint
  game: Game
  currency: Currency
  rateId: bigint
  commissionBps: number
  items: readonly QuotedItem[]
  /** Of each name among the items: who said what. */
  grounds: readonly Grounds[]
  at: Date
}

/** A page that is loaded again within this time is shown the same quote, if nothing has changed. */
const SAME_MS = 60_000

/** Writes down what a shopper is shown, or finds it written down already; resolves to the quote's id. */
export async function saveQuote(tx: Tx, quote: NewQuote): Promise<string> {
  const same = await sameQuote(tx, quote)
  if (same !== undefined) return same
  await writeQuote(tx, quote)
  return quote.id
}

async function sameQuote(tx: Tx, quote: NewQuote): Promise<string | undefined> {
  const latest = await tx
    .selectFrom('quote')
    .select('id')
    .where('deposit_id', '=', quote.depositId)
    .where('game', '=', quote.game)
    .where('rate_id', '=', quote.rateId)
    .where('created_at', '>', new Date(quote.at.getTime() - SAME_MS))
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (latest === undefined) return undefined
  const rows = await tx
    .selectFrom('quote_item')
    .select(['asset_id as assetId', 'name', 'price', 'gross'])
    .where('quote_id', '=', latest.id)
    .execute()
  const shown = new Map(rows.map((row) => [row.assetId, row]))
  const isSame = ({ assetId, name, price, gross }: QuotedItem) => {
    const row = shown.get(assetId)
    return row?.name === name && row.price === price && row.gross === gross
  }
  return rows.length === quote.items.length && quote.items.every(isSame) ? latest.id : undefined
}

/** Two lists, one statement each however many items. */
async function writeQuote(tx: Tx, quote: NewQuote): Promise<void> {
  const { items } = quote
  await tx
    .insertInto('quote')
    .values({
      id: quote.id,
      deposit_id: quote.depositId,
      game: quote.game,
      currency: quote.currency,
      rate_id: quote.rateId,
      commission_bps: quote.commissionBps,
      created_at: quote.at,
      expires_at: new Date(quote.at.getTime() + QUOTE_LIFE_MS),
    })
    .execute()
  await sql`
    insert into quote_item (quote_id, asset_id, app_id, context_id, name, market_hash_name, price, gross)
    select ${quote.id}::uuid, row.* from unnest(
      ${items.map((item) => item.assetId)}::text[],
      ${items.map((item) => item.appId)}::integer[],
      ${items.map((item) => item.contextId)}::text[],
      ${items.map((item) => item.name)}::text[],
      ${items.map((item) => item.marketHashName)}::text[],
      ${items.map((item) => String(item.price))}::bigint[],
      ${items.map((item) => String(item.gross))}::bigint[]) as row`.execute(tx)
  await writeGrounds(tx, quote)
}

/** Kept as it was said: prices go on and the sources remember nothing. Micros as text, times in ISO 8601. */
async function writeGrounds(tx: Tx, { id, grounds }: NewQuote): Promise<void> {
  await sql`
    insert into quote_price (quote_id, market_hash_name, usd_micros, level_micros, said)
    select ${id}::uuid, row.* from unnest(
      ${grounds.map((price) => price.marketHashName)}::text[],
      ${grounds.map((price) => String(price.usdMicros))}::bigint[],
      ${grounds.map((price) => price.levelUsdMicros?.toString() ?? null)}::bigint[],
      ${grounds.map((price) => wordsOf(price))}::jsonb[]) as row`.execute(tx)
}

const wordsOf = ({ said }: Grounds): string =>
  JSON.stringify(said, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))

type Wanted = {
  depositId: bigint
  game: Game
  /** Without it the latest quote of the deposit and game counts. */
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
      /** Smallest total of the trade; total and gross are the sums of the items. All in minor units. */
      minPrice: bigint
      total: bigint
      gross: bigint
    }
  | { kind: 'refused'; code: Extract<ErrorCode, 'items_unavailable' | 'price_changed'> }

/**
 * The prices at which these assets are taken: those the shopper saw. Once the quote has expired they hold only
 * while the items are still worth as much; what the operator has blocked meanwhile is not taken at all. Never a price
 * from the browser.
 */
export async function quoteForTrade(tx: Tx, wanted: Wanted): Promise<QuoteAnswer> {
  const quote = await findQuote(tx, wanted)
  if (quote === undefined) return { kind: 'refused', code: 'items_unavailable' }
  const items = await quotedItems(tx, quote.id, wanted.assetIds)
  if (items.length === 0 || items.length !== new Set(wanted.assetIds).size) {
    return { kind: 'refused', code: 'items_unavailable' }
  }
  const names = items.map((item) => item.marketHashName)
  if (await isBlocked(tx, quote.game, names)) return { kind: 'refused', code: 'items_unavailable' }
  const total = sum(items.map(({ price }) => price))
  const gross = sum(items.map((item) => item.gross))
  const { rules, now } = wanted
  if (quote.expiresAt <= now && !(await stillWorth(tx, { ...quote, items, total, rules, now }))) {
    return { kind: 'refused', code: 'price_changed' }
  }
  const { id: quoteId, currency, rateId } = quote
  const minPrice = minimumOf(quote.game, { perUsd: quote.perUsd }, quote.minAmount)
  return { kind: 'quote', quoteId, currency, rateId, items, minPrice, total, gross }
}

const quoteIdSchema = z.uuid()

async function findQuote(tx: Tx, { depositId, game, quoteId }: Wanted) {
  if (quoteId !== undefined && !quoteIdSchema.safeParse(quoteId).success) return undefined
  const ofDeposit = tx
    .selectFrom('quote')
    .innerJoin('deposit', 'deposit.id', 'quote.deposit_id')
    .select([
      'quote.id',
      'quote.game',
      'quote.currency',
      'quote.rate_id as rateId',
      'quote.expires_at as expiresAt',
      'deposit.min_amount as minAmount',
    ])
    .where('quote.deposit_id', '=', depositId)
    .where('quote.game', '=', game)
  const named = quoteId === undefined ? ofDeposit : ofDeposit.where('quote.id', '=', quoteId)
  const quote = await named.orderBy('quote.created_at', 'desc').limit(1).executeTakeFirst()
  if (quote === undefined) return undefined
  const rate = await findRate(tx, quote.rateId)
  // The rate was judged when the quote was made; its age does not matter any more.
  const read = rate && readRate(quote.currency, rate, rate.asOf)
  return read?.kind === 'rate' ? { ...quote, perUsd: read.perUsd } : undefined
}

function quotedItems(tx: Tx, quoteId: string, assetIds: readonly string[]): Promise<QuotedItem[]> {
  return tx
    .selectFrom('quote_item')
    .select([
      'asset_id as assetId',
      'app_id as appId',
      'context_id as contextId',
      'name',
      'market_hash_name as marketHashName',
      'price',
      'gross',
    ])
    .where('quote_id', '=', quoteId)
    .where('asset_id', '=', sql<string>`any(${[...assetIds]})`)
    .orderBy('asset_id')
    .execute()
}

type Shown = Pick<Wanted, 'game' | 'rules' | 'now'> & {
  currency: Currency
  items: readonly QuotedItem[]
  total: bigint
}

async function stillWorth(tx: Tx, { items, total, ...asked }: Shown): Promise<boolean> {
  const prices = await priceList(tx, { ...asked, names: items.map((item) => item.marketHashName) })
  if ('refused' in prices) return false
  const current = items.map((item) => prices.of(item.marketHashName))
  const amounts = current.flatMap((price) => (price.kind === 'priced' ? [price.price] : []))
  return amounts.length === items.length && sum(amounts) >= total
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n)
