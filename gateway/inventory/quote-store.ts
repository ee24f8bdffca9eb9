/** The rows of quotes. */
import { sql } from 'kysely'
import type { Game } from '../../contract/games.ts'
import type { Currency } from '../../contract/money.ts'
import type { Tx } from '../db/client.ts'
import type { Grounds } from '../pricing/service.ts'

export type QuotedItem = {
  assetId: string
  appId: number
  contextId: string
  name: string
  marketHashName: string
  /** The shopper's credit, and the worth before commission; minor units of the quote's currency. */
  price: bigint
  gross: bigint
}

export type NewQuote = {
  id: string
  depositId: bigint
  game: Game
  currency: Currency
  rateId: bigint
  commissionBps: number
  items: readonly QuotedItem[]
  /** For each name among the items, what the sources said. */
  grounds: readonly Grounds[]
  at: Date
  expiresAt: Date
}

/** The latest quote of the same deposit, game and rate that was made after `since`. */
export async function latestQuote(
  tx: Tx,
  { depositId, game, rateId }: Pick<NewQuote, 'depositId' | 'game' | 'rateId'>,
  since: Date,
): Promise<string | undefined> {
  const latest = await tx
    .selectFrom('quote')
    .select('id')
    .where('deposit_id', '=', depositId)
    .where('game', '=', game)
    .where('rate_id', '=', rateId)
    .where('created_at', '>', since)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return latest?.id
}

/** How the items of a quote were shown. */
export function shownItems(tx: Tx, quoteId: string) {
  return tx
    .selectFrom('quote_item')
    .select(['asset_id as assetId', 'name', 'price', 'gross'])
    .where('quote_id', '=', quoteId)
    .execute()
}

/** Writes two lists, with one statement each however many items. */
export async function writeQuote(tx: Tx, quote: NewQuote): Promise<void> {
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
      expires_at: quote.expiresAt,
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

/** Keeps what was said: prices change and the sources remember nothing. Micros as text, times in ISO 8601. */
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

/** The latest quote of the deposit and game, or the named one, with what its deposit wants at least. */
export function findQuoteRow(
  tx: Tx,
  { depositId, game, quoteId }: { depositId: bigint; game: Game; quoteId?: string },
) {
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
  return named.orderBy('quote.created_at', 'desc').limit(1).executeTakeFirst()
}

export function quotedItems(tx: Tx, quoteId: string, assetIds: readonly string[]): Promise<QuotedItem[]> {
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
