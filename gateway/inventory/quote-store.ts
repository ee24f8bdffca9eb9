import { sql } from 'kysely'
import type { Game, Phase } from '../../contract/games.ts'
import type { Currency } from '../../contract/money.ts'
import type { Db, Tx } from '../db/client.ts'
import { keepPlace, placeOf } from '../db/sweep-store.ts'
import type { PriceBasis } from '../pricing/service.ts'

export type QuotedItem = {
  assetId: string
  appId: number
  contextId: string
  name: string
  marketHashName: string
  /** The name by which the item is priced: the market name, or that of a phase. */
  pricedAs: string
  /** The phase of a Doppler; null for every other item. */
  phase: Phase | null
  /** The shopper's credit, and the worth before commission; minor units of the quote's currency. */
  price: bigint
  gross: bigint
}

export type NewQuote = {
  id: string
  depositId: bigint
  /** The account that owns the items. */
  steamId: string
  game: Game
  currency: Currency
  rateId: bigint
  commissionBps: number
  items: readonly QuotedItem[]
  /** For each name among the items, the data of each source. */
  bases: readonly PriceBasis[]
  at: Date
  expiresAt: Date
}

/** The latest quote for this deposit, account and game, if it was made after `since`. */
export async function latestQuote(
  db: Db | Tx,
  { depositId, steamId, game }: Pick<NewQuote, 'depositId' | 'steamId' | 'game'>,
  since: Date,
) {
  return db
    .selectFrom('quote')
    .select(['id', 'rate_id as rateId', 'created_at as createdAt'])
    .where('deposit_id', '=', depositId)
    .where('steam_id', '=', steamId)
    .where('game', '=', game)
    .where('created_at', '>', since)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
}

export function pricesOfItems(db: Db | Tx, quoteId: string) {
  return db
    .selectFrom('quote_item')
    .select(['asset_id as assetId', 'price', 'gross'])
    .where('quote_id', '=', quoteId)
    .execute()
}

/** Locks the deposit's quotes, so one transaction at a time writes one. */
export async function lockQuotes(tx: Tx, depositId: bigint): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`quotes ${depositId}`}, 0))`.execute(tx)
}

/** Deletes a deposit's quotes, except the `mostKept` newest ones and those that a trade uses. */
export async function dropOldQuotes(tx: Tx, depositId: bigint, mostKept: number): Promise<void> {
  await sql`
    delete from quote where id in (
      select id from quote where deposit_id = ${depositId} order by created_at desc, id offset ${mostKept})
      and not exists (select from trade where trade.quote_id = quote.id)`.execute(tx)
}

/**
 * Deletes up to `most` unused quotes that expired in the last 25 hours and were replaced by a later quote. Resolves to
 * their number. `offset 0` makes PostgreSQL check the conditions in this order, each by its index. With joins, it might
 * read all trades, although few quotes have been replaced. `forgetQuotes` deletes older quotes.
 */
export async function deleteSuperseded(db: Db, now: Date, most: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from quote where id in (
      select replaced.id from (
        select old.id from quote old
        where old.expires_at <= ${now} and old.expires_at > ${now}::timestamptz - interval '25 hours'
          and exists (
            select from quote later
            where later.deposit_id = old.deposit_id and later.game = old.game and later.created_at > old.created_at
              and later.steam_id is not distinct from old.steam_id offset 0)
        offset 0
      ) replaced
      where not exists (select from trade where trade.quote_id = replaced.id offset 0)
      limit ${most})`.execute(db)
  return Number(numAffectedRows)
}

const SWEEP = 'quotes'

/**
 * Examines about `most` quotes that expired before `before`, beginning where the last sweep ended. Deletes those that
 * no trade or ledger entry uses. Resolves to the number examined. One check of each quote is enough, because
 * trades and ledger entries are never deleted. The sweep's place is a time, so quotes that expired at the same time are
 * examined together.
 */
export async function forgetQuotes(db: Db, before: Date, most: number): Promise<number> {
  const after = await placeOf(db, SWEEP, before)
  const { rows } = await sql<{ id: string; expiresAt: Date }>`
    select id, expires_at as "expiresAt" from quote where expires_at > ${after} and expires_at < ${before}
    order by expires_at fetch first ${most} rows with ties`.execute(db)
  const last = rows.at(-1)
  if (last === undefined) return 0
  await sql`
    delete from quote where id = any(${rows.map(({ id }) => id)}::uuid[])
      and not exists (select from trade where trade.quote_id = quote.id)
      and not exists (select from ledger_entry where ledger_entry.quote_id = quote.id)`.execute(db)
  await keepPlace(db, SWEEP, { upTo: last.expiresAt, before })
  return rows.length
}

/** Writes the items and the bases with one statement each, for any number of items. */
export async function writeQuote(tx: Tx, quote: NewQuote): Promise<void> {
  const { items } = quote
  await tx
    .insertInto('quote')
    .values({
      id: quote.id,
      deposit_id: quote.depositId,
      steam_id: quote.steamId,
      game: quote.game,
      currency: quote.currency,
      rate_id: quote.rateId,
      commission_bps: quote.commissionBps,
      created_at: quote.at,
      expires_at: quote.expiresAt,
    })
    .execute()
  await sql`
    insert into quote_item (quote_id, asset_id, app_id, context_id, name, market_hash_name, priced_as, phase, price, gross)
    select ${quote.id}::uuid, row.* from unnest(
      ${items.map((item) => item.assetId)}::text[],
      ${items.map((item) => item.appId)}::integer[],
      ${items.map((item) => item.contextId)}::text[],
      ${items.map((item) => item.name)}::text[],
      ${items.map((item) => item.marketHashName)}::text[],
      ${items.map((item) => (item.pricedAs === item.marketHashName ? null : item.pricedAs))}::text[],
      ${items.map((item) => item.phase)}::text[],
      ${items.map((item) => String(item.price))}::bigint[],
      ${items.map((item) => String(item.gross))}::bigint[]) as row`.execute(tx)
  await writePriceBasis(tx, quote)
}

/** Stores the data of the sources, because prices change. In the JSON, micros are text and times are ISO 8601. */
async function writePriceBasis(tx: Tx, { id, bases }: NewQuote): Promise<void> {
  await sql`
    insert into quote_price (quote_id, market_hash_name, usd_micros, level_micros, said)
    select ${id}::uuid, row.* from unnest(
      ${bases.map((price) => price.marketHashName)}::text[],
      ${bases.map((price) => String(price.usdMicros))}::bigint[],
      ${bases.map((price) => price.levelUsdMicros?.toString() ?? null)}::bigint[],
      ${bases.map((price) => jsonOf(price))}::jsonb[]) as row`.execute(tx)
}

const jsonOf = ({ sources }: PriceBasis): string =>
  JSON.stringify(sources, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))

/**
 * Returns the deposit's latest quote for this account and game, or the one with `quoteId`, and the deposit's minimum. A
 * quote from before accounts were recorded counts for every account.
 */
export function findQuoteRow(
  tx: Tx,
  {
    depositId,
    steamId,
    game,
    quoteId,
  }: Pick<NewQuote, 'depositId' | 'steamId' | 'game'> & { quoteId?: string },
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
    .where((eb) => eb.or([eb('quote.steam_id', '=', steamId), eb('quote.steam_id', 'is', null)]))
  const named = quoteId === undefined ? ofDeposit : ofDeposit.where('quote.id', '=', quoteId)
  return named.orderBy('quote.created_at', 'desc').limit(1).executeTakeFirst()
}

/** Returns the saved basis of one price of a quote; undefined if the deposit has no such quote or item. */
export function findPriceBasis(
  db: Db,
  { depositId, quoteId, assetId }: { depositId: bigint; quoteId: string; assetId: string },
) {
  return db
    .selectFrom('quote')
    .innerJoin('quote_item as item', 'item.quote_id', 'quote.id')
    .innerJoin('quote_price as basis', (join) =>
      join
        .onRef('basis.quote_id', '=', 'quote.id')
        .on((eb) =>
          eb('basis.market_hash_name', '=', eb.fn.coalesce('item.priced_as', 'item.market_hash_name')),
        ),
    )
    .innerJoin('exchange_rate as rate', 'rate.id', 'quote.rate_id')
    .select([
      'quote.game',
      'quote.currency',
      'item.price',
      'basis.said',
      'rate.source as rateSource',
      'rate.as_of as rateAsOf',
    ])
    .where('quote.id', '=', quoteId)
    .where('quote.deposit_id', '=', depositId)
    .where('item.asset_id', '=', assetId)
    .executeTakeFirst()
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
      (eb) => eb.fn.coalesce('priced_as', 'market_hash_name').as('pricedAs'),
      'phase',
      'price',
      'gross',
    ])
    .where('quote_id', '=', quoteId)
    .where('asset_id', '=', sql<string>`any(${[...assetIds]})`)
    .orderBy('asset_id')
    .execute()
}
