import { sql } from 'kysely'
import type { Game } from '../../contract/games.ts'
import type { Currency } from '../../contract/money.ts'
import type { Db, Tx } from '../db/client.ts'
import type { SourcePrice } from './price.ts'
import type { PriceRow, RateRow } from './sources/source.ts'

/** Stores what a source says of a game, in one statement however many rows; older words never replace newer ones. */
export async function savePrices(
  db: Db,
  { source, game }: { source: string; game: Game },
  rows: readonly PriceRow[],
): Promise<void> {
  const unique = [...new Map(rows.map((row) => [row.marketHashName, row])).values()]
  await sql`
    insert into price (source, game, market_hash_name, usd_micros, popularity, popularity_kind, as_of)
    select ${source}, ${game}, row.* from unnest(
      ${unique.map((row) => row.marketHashName)}::text[],
      ${unique.map((row) => String(row.usdMicros))}::bigint[],
      ${unique.map((row) => row.popularity)}::integer[],
      ${unique.map((row) => row.popularityKind)}::text[],
      ${unique.map((row) => row.asOf.toISOString())}::timestamptz[]) as row
    on conflict (game, market_hash_name, source) do update set usd_micros = excluded.usd_micros,
      popularity = excluded.popularity, popularity_kind = excluded.popularity_kind, as_of = excluded.as_of
    where excluded.as_of >= price.as_of`.execute(db)
}

/** What every source said of these items, by name. */
export async function readPrices(
  db: Db | Tx,
  game: Game,
  names: readonly string[],
): Promise<Map<string, SourcePrice[]>> {
  const { rows } = await sql<{
    name: string
    usdMicros: bigint
    popularity: number
    popularityKind: SourcePrice['popularityKind']
    asOf: Date
  }>`
    select market_hash_name as name, usd_micros as "usdMicros", popularity, popularity_kind as "popularityKind",
      as_of as "asOf"
    from price where game = ${game} and market_hash_name = any(${[...names]})`.execute(db)
  const prices = new Map<string, SourcePrice[]>()
  for (const { name, ...price } of rows) {
    const known = prices.get(name)
    if (known) known.push(price)
    else prices.set(name, [price])
  }
  return prices
}

type RateEntry = { id: bigint; perUsd: string; asOf: Date }

/** The newest rate of the currency, or that of the id. */
export function findRate(
  db: Db | Tx,
  by: { currency: Currency } | { rateId: bigint },
): Promise<RateEntry | undefined> {
  const query = db.selectFrom('exchange_rate').select(['id', 'per_usd as perUsd', 'as_of as asOf'])
  const found =
    'rateId' in by
      ? query.where('id', '=', by.rateId)
      : query.where('currency', '=', by.currency).orderBy('as_of', 'desc').orderBy('id', 'desc')
  return found.limit(1).executeTakeFirst()
}

/** Stores a rate as a row of its own: quotes and ledger entries point at the rate they were made with. */
export async function saveRate(db: Db, source: string, { currency, perUsd, asOf }: RateRow): Promise<void> {
  // An unchanged rate is written once an hour, which is enough to show that it is still alive.
  await sql`
    insert into exchange_rate (currency, per_usd, source, as_of)
    select ${currency}, ${perUsd}::numeric, ${source}, ${asOf}
    where not exists (
      select from exchange_rate
      where currency = ${currency} and source = ${source} and per_usd = ${perUsd}::numeric
        and as_of > ${asOf}::timestamptz - interval '1 hour'
        and id = (select max(id) from exchange_rate where currency = ${currency}))`.execute(db)
}
