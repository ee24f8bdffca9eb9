/** Queries of the operators' list of deposits. Each examines a limited number of rows; none scans a table. */
import { type RawBuilder, sql } from 'kysely'
import type { Game } from '../../contract/games.ts'
import type { Currency } from '../../contract/money.ts'
import type { DepositStatus } from '../../contract/statuses.ts'
import { IN_VAIN_MS } from '../alerts/needs-store.ts'
import { hasGateway } from '../bots/store.ts'
import type { Db } from '../db/client.ts'
import { type DepositOrder, isByAmount } from './deposit-orders.ts'
import { RELEASE_WAIT_MS } from './outlook.ts'

/** Why a deposit needs a person. */
export type Need =
  /** A step of its trade is due, but no gateway holds the bot, or the bot is out of service. */
  | 'bot_away'
  /** Its offer was sent, or may have been, more than a day ago, and Steam has not reported how it ended. */
  | 'steam_silent'
  /**
   * Its trade is still `held` a day after Steam's protection, even if its credit is available: its bot cannot ask
   * Steam, or Steam's record proves nothing.
   */
  | 'credit_waits'

export type DepositFilter = {
  storeId?: bigint | undefined
  status?: DepositStatus | undefined
  /** The account that gave the items or was asked for them, owns the trade link, or was named by the store. */
  steamId?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
  /** The smallest credit, in minor units of `currency`. */
  leastMinor?: bigint | undefined
  mostMinor?: bigint | undefined
  currency?: Currency | undefined
  /** The game of one of its trades. */
  game?: Game | undefined
  needsPerson?: boolean | undefined
  /** An order by amount needs a `currency`. */
  order?: DepositOrder | undefined
  /** The last deposit that the previous page examined: only deposits after it in the list are returned. */
  before?: bigint | undefined
  limit: number
}

/** The most deposits that one query examines for a narrow filter, so the cost stays the same while the table grows. */
const MOST_EXAMINED = 500

export type ExaminedDeposit = { id: bigint; fits: boolean }

/**
 * How many deposits one query examines. If an index covers the filter in the order of the list, one page and one more
 * row are enough.
 */
export function mostExamined(filter: DepositFilter): number {
  const { leastMinor, mostMinor, currency, game, status, from, to, order, limit } = filter
  const others = isByAmount(order) ? [status, from, to] : [leastMinor, mostMinor, currency]
  const isNarrow = [game, ...others].some((each) => each !== undefined)
  return isNarrow ? MOST_EXAMINED : limit + 1
}

/** The most deposits to sort in one query. If there are more, the index of amounts soon finds a page of them. */
const MOST_SORTED = 5_000

/**
 * Returns whether a list by amount has so few candidates that sorting them is cheaper than following the index of
 * amounts.
 */
export async function isSortCheaper(db: Db, filter: DepositFilter): Promise<boolean> {
  const { from, to, steamId, needsPerson, order } = filter
  if (!isByAmount(order)) return false
  if (steamId !== undefined || needsPerson === true) return true
  if (from === undefined && to === undefined) return false
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from deposit where ${timeIndexCondition(filter)} limit ${MOST_SORTED + 1}) candidate`.execute(db)
  return (rows[0]?.count ?? 0) <= MOST_SORTED
}

type Examining = {
  now: Date
  /** Reads the candidates by time and sorts them: see `isSortCheaper`. */
  isSorted?: boolean
}

/** Returns the next deposits in the order of the list, and which of them match the filter. */
export async function examineDeposits(
  db: Db,
  filter: DepositFilter,
  { now, isSorted = false }: Examining,
): Promise<ExaminedDeposit[]> {
  const { leastMinor, mostMinor, currency, game } = filter
  const [key, direction] = [keyOf(filter.order), directionOf(filter.order)]
  const fits = allOf([
    leastMinor !== undefined && sql<boolean>`credited_amount >= ${leastMinor}`,
    mostMinor !== undefined && sql<boolean>`credited_amount <= ${mostMinor}`,
    currency !== undefined && sql<boolean>`currency = ${currency}`,
    // The indexes of amounts do not include the status or the time, so both are checked row by row.
    isByAmount(filter.order) && !isSorted && timeIndexCondition(filter, 'seen'),
    // `offset 0` forces a lookup for each deposit. A hash join would read all trades.
    game !== undefined &&
      sql<boolean>`exists (select from trade where trade.deposit_id = seen.id and trade.game = ${game} offset 0)`,
  ])
  const { rows } = await sql<ExaminedDeposit>`
    select id, coalesce(${fits}, false) as fits from (
      select deposit.id, store_id, status, deposit.created_at, credited_amount, currency
      from ${sourceOf(filter, { now, isSorted })}
      where ${listCondition(filter)}
      order by deposit.${key} ${direction}, deposit.id ${direction} limit ${mostExamined(filter)}
    ) seen order by ${key} ${direction}, id ${direction}`.execute(db)
  return rows
}

/**
 * Returns whether a page can begin after this deposit: it exists, and has a credit if the list is by amount. After any
 * other deposit, the list would seem to end.
 */
export async function canPageStartAfter(
  db: Db,
  depositId: bigint,
  order: DepositOrder | undefined,
): Promise<boolean> {
  const { rows } = await sql`
    select from deposit where id = ${depositId} and ${keyOf(order)} is not null`.execute(db)
  return rows.length > 0
}

/** The same index serves both directions, because PostgreSQL can read it backwards. */
const directionOf = (order: DepositOrder = 'newest'): RawBuilder<unknown> =>
  order === 'newest' || order === 'largest' ? sql`desc` : sql`asc`

/** The order of the deposits of an account or a need. It matters only if there are too many to read all. */
const timeDirectionOf = (order: DepositOrder | undefined): RawBuilder<unknown> =>
  order === 'oldest' ? sql`asc` : sql`desc`

const keyOf = (order: DepositOrder | undefined): RawBuilder<unknown> =>
  isByAmount(order) ? sql`credited_amount` : sql`created_at`

const allOf = (conditions: readonly (RawBuilder<boolean> | false)[]): RawBuilder<boolean> => {
  const applied = conditions.filter((condition) => condition !== false)
  return applied.length === 0 ? sql<boolean>`true` : sql.join(applied, sql` and `)
}

/** The filters that have an index in the order of time. */
const timeIndexCondition = (
  { storeId, status, from, to }: DepositFilter,
  table: 'deposit' | 'seen' = 'deposit',
): RawBuilder<boolean> => {
  const field = (column: string) => sql.ref(`${table}.${column}`)
  return allOf([
    storeId !== undefined && sql<boolean>`${field('store_id')} = ${storeId}`,
    status !== undefined && sql<boolean>`${field('status')} = ${status}`,
    from !== undefined && sql<boolean>`${field('created_at')} >= ${from}`,
    to !== undefined && sql<boolean>`${field('created_at')} < ${to}`,
  ])
}

/**
 * The filter as a condition. A list by amount follows the index of one currency's credits, for all stores or for one
 * store.
 */
function listCondition(filter: DepositFilter): RawBuilder<boolean> {
  const { before, order, currency, storeId, leastMinor, mostMinor } = filter
  const [key, isDescending] = [keyOf(order), order === 'newest' || order === 'largest' || order === undefined]
  return allOf([
    !isByAmount(order) && timeIndexCondition(filter),
    isByAmount(order) && sql<boolean>`deposit.currency = ${currency} and deposit.credited_amount is not null`,
    isByAmount(order) && storeId !== undefined && sql<boolean>`deposit.store_id = ${storeId}`,
    isByAmount(order) && leastMinor !== undefined && sql<boolean>`deposit.credited_amount >= ${leastMinor}`,
    isByAmount(order) && mostMinor !== undefined && sql<boolean>`deposit.credited_amount <= ${mostMinor}`,
    before !== undefined &&
      sql<boolean>`(deposit.${key}, deposit.id) ${isDescending ? sql`<` : sql`>`} (select ${key}, id from deposit where id = ${before})`,
  ])
}

/**
 * The deposits to read from: those of an account, those that need a person, or the few that are sorted; otherwise the
 * entire table.
 */
function sourceOf(filter: DepositFilter, { now, isSorted }: Examining): RawBuilder<unknown> {
  const { steamId, needsPerson = false, order } = filter
  const ofAccount = steamId === undefined ? undefined : sql`(${depositsOfSteamId(steamId, order)}) own`
  const needy = needsPerson ? sql`(select distinct id from (${needyAt(now, order)}) needy) wanted` : undefined
  const joins = [ofAccount, needy].flatMap((ids) => (ids === undefined ? [] : [sql`join ${ids} using (id)`]))
  const source = joins.length === 0 ? sql`deposit` : sql`deposit ${sql.join(joins, sql` `)}`
  // `offset 0` keeps the planner from scanning the entire index of amounts for a few deposits.
  return isSorted === true
    ? sql`(select deposit.* from ${source} where ${timeIndexCondition(filter)} offset 0) deposit`
    : source
}

/** The most deposits, or trades, to read of one account. No real shopper has more. */
export const MOST_OF_ACCOUNT = 5_000

/**
 * The deposits of an account, at most `most` for each of its roles: it owns the trade link, is named by the store, or
 * gave the items or was asked for them. The oldest if the list begins with the oldest, otherwise the newest. Each role
 * has an index in that order.
 */
function depositsOfSteamId(
  steamId: string,
  order?: DepositOrder,
  most = MOST_OF_ACCOUNT,
): RawBuilder<unknown> {
  const first = sql`order by id ${timeDirectionOf(order)} limit ${most}`
  return sql`
    (select id from deposit where user_steam_id = ${steamId} ${first})
    union (select id from deposit where shopper_steam_id = ${steamId} ${first})
    union (select deposit_id from trade where partner_steam_id = ${steamId} ${first})`
}

/** The most deposits to list for each need. */
const MOST_NEEDY = 1_000
/** `bot_away` needs a trade older than this: a gateway may still take the bot of a younger one. */
const AWAY_MS = 120_000
/** A sweep wakes an overdue trade and moves its due time this far ahead. So a trade due within this time counts too. */
const WAKE_AGAIN_MS = 30_000

/**
 * At most `MOST_NEEDY` deposits of each need: those that have needed a person for the shortest time, or for the longest
 * in a list that begins with the oldest.
 */
function needyAt(now: Date, order?: DepositOrder): RawBuilder<unknown> {
  const direction = timeDirectionOf(order)
  const ago = (ms: number) => new Date(now.getTime() - ms)
  return sql`
    (select deposit_id as id, 'bot_away' as need from trade join bot on bot.id = trade.bot_id
      where due_at <= ${ago(-WAKE_AGAIN_MS)} and trade.created_at < ${ago(AWAY_MS)}
        and (not ${hasGateway} or bot.state not in ('active', 'paused'))
      order by due_at ${direction} limit ${MOST_NEEDY})
    union all (select deposit_id, 'steam_silent' from trade
      where send_started_at < ${ago(IN_VAIN_MS)} and delivered_at is null and ended_at is null
      order by send_started_at ${direction} limit ${MOST_NEEDY})
    union all (select deposit_id, 'credit_waits' from trade
      where state = 'held' and settles_at < ${ago(RELEASE_WAIT_MS)}
      order by settles_at ${direction} limit ${MOST_NEEDY})`
}

/**
 * Returns why each of these deposits needs a person, if it is among those that `needyAt` lists. `order`: the order of
 * the list that they come from.
 */
export async function needsOf(
  db: Db,
  ids: readonly bigint[],
  { now, order }: { now: Date; order?: DepositOrder | undefined },
): Promise<Map<bigint, Need[]>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ id: bigint; need: Need }>`
    select distinct id, need from (${needyAt(now, order)}) needy where id = any(${ids.map(String)}::bigint[])
    order by id, need`.execute(db)
  const byId = Map.groupBy(rows, ({ id }) => id)
  return new Map([...byId].map(([id, needs]) => [id, needs.map(({ need }) => need)]))
}

export type ListedDeposit = {
  depositId: bigint
  storeId: bigint
  store: string
  externalId: string
  status: DepositStatus
  currency: Currency
  /** The credit; null if nothing was credited. */
  amountMinor: bigint | null
  heldMinor: bigint
  reversedMinor: bigint
  /**
   * The account of the trade that `game` is taken from. Without a trade: the owner of the trade link, or else the
   * account that the store named.
   */
  steamId: string | null
  /** The game of its delivered trade, or else of its latest trade; null without a trade. */
  game: Game | null
  createdAt: Date
}

/** Reads these deposits. They come back in the order of `ids`. */
export async function depositRows(db: Db, ids: readonly bigint[]): Promise<ListedDeposit[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<ListedDeposit>`
    select deposit.id as "depositId", store.id as "storeId", store.name as store, external_id as "externalId",
      deposit.status, deposit.currency, credited_amount as "amountMinor", deposit.held_amount as "heldMinor",
      deposit.reversed_amount as "reversedMinor",
      coalesce(latest.partner_steam_id, user_steam_id, shopper_steam_id) as "steamId", latest.game,
      deposit.created_at as "createdAt"
    from deposit join store on store.id = deposit.store_id
    left join lateral (select partner_steam_id, game from trade where trade.deposit_id = deposit.id
      order by delivered_at desc nulls last, trade.id desc limit 1) latest on true
    where deposit.id = any(${ids.map(String)}::bigint[])
    order by array_position(${ids.map(String)}::bigint[], deposit.id)`.execute(db)
  return rows
}

/** One deposit rarely has more trades than this, because it gets a new trade only after the last one failed. */
const TRADES_OF_DEPOSIT = 10

/** Returns the newest deposits of an account. */
export async function depositsOfAccount(db: Db, steamId: string, limit: number): Promise<bigint[]> {
  const newest = depositsOfSteamId(steamId, 'newest', limit * TRADES_OF_DEPOSIT)
  const { rows } = await sql<{ id: bigint }>`
    select id from (${newest}) own order by id desc limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}
