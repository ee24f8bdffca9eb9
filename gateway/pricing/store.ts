import { type RawBuilder, sql } from 'kysely'
import type { Game } from '../../contract/games.ts'
import type { Currency } from '../../contract/money.ts'
import type { Db, Tx } from '../db/client.ts'
import { RATE_APPLIES } from '../db/rate-applies.ts'
import { FAR_AHEAD_MS, FILE_SOURCE, type SourcePrice } from './price.ts'
import { likePatternOf, type PriceHold } from './price-hold.ts'
import type { PriceRow, RateRow } from './sources/source.ts'

/**
 * Stores a source's prices of a game, in one statement for any number of rows. Older prices never replace newer ones,
 * and frozen prices are never replaced. The first price of a day moves the last price of an earlier day into the item's
 * history. The weekly level is then computed again, unless the source gives one.
 */
export async function savePrices(
  db: Db | Tx,
  { source, game }: { source: string; game: Game },
  rows: readonly PriceRow[],
): Promise<void> {
  const unique = [...new Map(rows.map((row) => [row.marketHashName, row])).values()]
  await sql`
    with frozen as (select market_hash_name, like_pattern from price_hold where game = ${game} and kind = 'frozen')
    insert into price (source, game, market_hash_name, usd_micros, popularity, popularity_kind, as_of, level_micros)
    select ${source}, ${game}, row.* from unnest(
      ${unique.map((row) => row.marketHashName)}::text[],
      ${unique.map((row) => String(row.usdMicros))}::bigint[],
      ${unique.map((row) => row.popularity)}::integer[],
      ${unique.map((row) => row.popularityKind)}::text[],
      ${unique.map((row) => row.asOf.toISOString())}::timestamptz[],
      ${unique.map((row) => row.levelUsdMicros?.toString() ?? null)}::bigint[]) as row (name)
    where row.name not in (select market_hash_name from frozen where market_hash_name is not null)
      and not exists (select from frozen where market_hash_name is null or row.name like like_pattern)
    on conflict (game, market_hash_name, source) do update set usd_micros = excluded.usd_micros,
      popularity = excluded.popularity, popularity_kind = excluded.popularity_kind, as_of = excluded.as_of,
      level_micros = coalesce(excluded.level_micros, case when ${NEW_DAY} then ${LEVEL_OF_PAST} else price.level_micros end),
      past_micros = case when ${NEW_DAY} then ${PAST_MICROS} else price.past_micros end,
      past_days = case when ${NEW_DAY} then ${PAST_DAYS} else price.past_days end,
      earlier_micros = ${earlier('micros', sql`price.usd_micros`)}, earlier_at = ${earlier('at', sql`price.as_of`)},
      mark_micros = case when ${NEW_MARK} then price.usd_micros else price.mark_micros end,
      mark_at = case when ${NEW_MARK} then price.as_of else price.mark_at end
    where excluded.as_of >= price.as_of`.execute(db)
}

const DAY_OF_OLD = sql`(extract(epoch from price.as_of)::bigint / 86400)::integer`
const DAY_OF_NEW = sql`(extract(epoch from excluded.as_of)::bigint / 86400)::integer`
const NEW_DAY = sql`${DAY_OF_NEW} > ${DAY_OF_OLD}`
/** The item's history after the first price of a new day: seven days at most. */
const PAST_MICROS = sql`(price.usd_micros || price.past_micros)[1:7]`
const PAST_DAYS = sql`(${DAY_OF_OLD} || price.past_days)[1:7]`

/**
 * Keeps an earlier price, from at least an hour before the stored one. Once an hour, the marked price becomes the earlier
 * price, and the price that is being replaced is marked. If the price that is being replaced is at least an hour old
 * itself, it becomes the earlier price at once.
 */
const NEW_MARK = sql`(price.mark_at is null or excluded.as_of >= price.mark_at + interval '1 hour')`
const earlier = (part: 'micros' | 'at', old: RawBuilder<unknown>) =>
  sql`case when excluded.as_of >= price.as_of + interval '1 hour' then ${old}
    when ${NEW_MARK} then price.${sql.ref(`mark_${part}`)} else price.${sql.ref(`earlier_${part}`)} end`

/**
 * The weekly level: the median of the last prices of the seven days before. Null if fewer than three days have a price,
 * because one person could have manipulated all of them.
 */
const LEVEL_OF_PAST = sql`(
  select percentile_disc(0.5) within group (order by micros) from unnest(${PAST_MICROS}, ${PAST_DAYS}) as past (micros, day)
  where day >= ${DAY_OF_NEW} - 7 having count(*) >= 3)`

const latestAsOf = (now: Date): Date => new Date(now.getTime() + FAR_AHEAD_MS)

const FREEZES_PRICE = sql`price_hold.game = price.game and kind = 'frozen'
  and (price_hold.market_hash_name is null or price_hold.market_hash_name = price.market_hash_name
    or price.market_hash_name like like_pattern)`

/**
 * Gives an old date to the source's prices from the future, which a wrong clock left, because they would keep newer
 * ones out. The earlier prices may be from the future too, so they are deleted. The history of past days stays.
 */
export async function ageFuturePrices(
  db: Db | Tx,
  { source, game }: { source: string; game: Game },
  now: Date,
): Promise<void> {
  await sql`
    update price set as_of = 'epoch', earlier_micros = null, earlier_at = null, mark_micros = null, mark_at = null
    where source = ${source} and game = ${game} and as_of > ${latestAsOf(now)}
      and not exists (select from price_hold where ${FREEZES_PRICE})`.execute(db)
}

/**
 * Deletes the source's prices of items that are not in `rows`, its present list, and prices that are later than those
 * in `rows`, which otherwise could not replace them. Frozen prices stay.
 */
export async function forgetWithdrawn(
  db: Db | Tx,
  { source, game }: { source: string; game: Game },
  rows: readonly PriceRow[],
): Promise<void> {
  await sql`
    delete from price where source = ${source} and game = ${game}
      and not exists (
        select from unnest(
          ${rows.map((row) => row.marketHashName)}::text[],
          ${rows.map((row) => row.asOf.toISOString())}::timestamptz[]) as listed (name, as_of)
        where listed.name = price.market_hash_name and listed.as_of >= price.as_of)
      and not exists (select from price_hold where ${FREEZES_PRICE})`.execute(db)
}

/** Deletes prices that their source has not updated since `before`. Frozen prices stay. */
export async function forgetPricesBefore(db: Db, before: Date): Promise<void> {
  await sql`
    delete from price where as_of < ${before}
      and not exists (select from price_hold where ${FREEZES_PRICE})`.execute(db)
}

/**
 * False for a price of a source that was removed. A price that was frozen before the removal still counts, because a frozen
 * price does not move.
 */
export const PRICE_COUNTS = sql<boolean>`not exists (
  select from price_feed where price_feed.source = price.source and feed = price.game and removed_at is not null
    and not exists (select from price_hold where ${FREEZES_PRICE} and since < removed_at))`

type StoredPrice = Omit<SourcePrice, 'earlier'> & {
  name: string
  earlierMicros: bigint | null
  earlierAt: Date | null
}

/** Returns the prices of these items that count (`PRICE_COUNTS`), by name. */
export async function readPrices(
  db: Db | Tx,
  game: Game,
  names: readonly string[],
): Promise<Map<string, SourcePrice[]>> {
  const { rows } = await sql<StoredPrice>`
    select market_hash_name as name, source, usd_micros as "usdMicros", level_micros as "levelUsdMicros", popularity,
      popularity_kind as "popularityKind", as_of as "asOf", earlier_micros as "earlierMicros", earlier_at as "earlierAt"
    from price
    where game = ${game} and market_hash_name = any(${[...names]}) and ${PRICE_COUNTS}`.execute(db)
  const prices = new Map<string, SourcePrice[]>()
  for (const { name, earlierMicros, earlierAt, ...data } of rows) {
    const earlier =
      earlierMicros === null || earlierAt === null ? null : { usdMicros: earlierMicros, asOf: earlierAt }
    const price = { ...data, earlier }
    const pricesOfItem = prices.get(name)
    if (pricesOfItem) pricesOfItem.push(price)
    else prices.set(name, [price])
  }
  return prices
}

/** The holds on the entire game, on patterns and on these items; without names, all holds of the game. */
export function readPriceHolds(db: Db | Tx, game: Game, names?: readonly string[]): Promise<PriceHold[]> {
  const ofGame = db
    .selectFrom('price_hold')
    .select(['market_hash_name as name', 'kind', 'usd_micros as usdMicros', 'since'])
    .where('game', '=', game)
  const isRelevant =
    names &&
    sql<boolean>`(market_hash_name is null or like_pattern is not null or market_hash_name = any(${[...names]}))`
  return (isRelevant ? ofGame.where(isRelevant) : ofGame.orderBy('market_hash_name')).execute()
}

/** True if any source has a stored price of the item, of one of its phases, or of an item that matches the pattern. */
export async function isListed(db: Db | Tx, { game, name }: { game: Game; name: string }): Promise<boolean> {
  const pattern = likePatternOf(name)
  const row = await db
    .selectFrom('price')
    .select('source')
    .where('game', '=', game)
    .where(
      pattern === null
        ? sql<boolean>`(market_hash_name = ${name} or starts_with(market_hash_name, ${`${name} [`}))`
        : sql<boolean>`market_hash_name like ${pattern}`,
    )
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Puts a hold on an item, a pattern or an entire game. It replaces an earlier hold of the same name. */
export async function savePriceHold(
  db: Db | Tx,
  {
    game,
    name,
    kind,
    usdMicros = null,
    since,
  }: Omit<PriceHold, 'usdMicros'> & { game: Game; usdMicros?: bigint | null },
): Promise<void> {
  const values = { kind, usd_micros: usdMicros, since }
  await db
    .insertInto('price_hold')
    .values({ game, market_hash_name: name, like_pattern: likePatternOf(name), ...values })
    .onConflict((conflict) => conflict.columns(['game', 'market_hash_name']).doUpdateSet(values))
    .execute()
}

export async function countPatterns(db: Db | Tx, game: Game): Promise<number> {
  const { count } = await db
    .selectFrom('price_hold')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('game', '=', game)
    .where('like_pattern', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Names with a price from a source, in order. */
export async function namesOfGame(
  db: Db | Tx,
  game: Game,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('price')
    .select('market_hash_name as name')
    .distinct()
    .where('game', '=', game)
    .where('market_hash_name', '>', after)
    .orderBy('market_hash_name')
    .limit(limit)
    .execute()
  return rows.map(({ name }) => name)
}

/** Ends a hold. Resolves to false if there was none. */
export async function removePriceHold(
  db: Db | Tx,
  { game, name }: { game: Game; name: string | null },
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('price_hold')
    .where('game', '=', game)
    .where('market_hash_name', 'is not distinct from', name)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

type RateEntry = { id: bigint; source: string; perUsd: string; asOf: Date }

const RATE_COLUMNS = ['id', 'source', 'per_usd as perUsd', 'as_of as asOf'] as const
const MAX_RATE_AGE_MS = 30 * 86_400_000

export function findRate(db: Db | Tx, rateId: bigint): Promise<RateEntry | undefined> {
  return db.selectFrom('exchange_rate').select(RATE_COLUMNS).where('id', '=', rateId).executeTakeFirst()
}

/** Of the rates in the operator's file, the last one read is the latest, even if the file gives it an earlier time. */
const LAST_READING = sql`case when source = ${FILE_SOURCE} then id end desc`

/**
 * The latest rate of the currency from each source that was not removed, not older than 30 days and not from the future;
 * newest first.
 */
export function latestRates(db: Db | Tx, currency: Currency, now: Date): Promise<RateEntry[]> {
  return db
    .selectFrom(
      db
        .selectFrom('exchange_rate')
        .select(RATE_COLUMNS)
        .distinctOn('source')
        .where('currency', '=', currency)
        .where('as_of', '>', new Date(now.getTime() - MAX_RATE_AGE_MS))
        .where('as_of', '<=', latestAsOf(now))
        .where(RATE_APPLIES)
        .orderBy('source')
        .orderBy(LAST_READING)
        .orderBy('as_of', 'desc')
        .orderBy('id', 'desc')
        .as('latest'),
    )
    .selectAll()
    .orderBy('asOf', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

/** Stores a rate as a new row, because quotes and ledger entries refer to the rate that they were made with. */
export async function saveRate(
  db: Db | Tx,
  source: string,
  { currency, perUsd, asOf }: RateRow,
): Promise<void> {
  // An unchanged rate is written once an hour, which is enough to keep it fresh.
  await sql`
    insert into exchange_rate (currency, per_usd, source, as_of)
    select ${currency}, ${perUsd}::numeric, ${source}, ${asOf}
    where not exists (
      select from exchange_rate
      where currency = ${currency} and source = ${source} and per_usd = ${perUsd}::numeric
        and as_of > ${asOf}::timestamptz - interval '1 hour' and as_of <= ${latestAsOf(asOf)}
        and id = (select max(id) from exchange_rate where currency = ${currency} and source = ${source}))`.execute(
    db,
  )
}

/** The commission on this store's deposits, in hundredths of a percent; null: the till's setting. */
export async function commissionOf(db: Db | Tx, storeId: bigint): Promise<number | null> {
  const row = await db
    .selectFrom('store')
    .select('commission_bps')
    .where('id', '=', storeId)
    .executeTakeFirst()
  return row?.commission_bps ?? null
}
