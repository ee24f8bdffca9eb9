/** The rows of bots, and the queries that choose a bot. */
import { sql } from 'kysely'
import { GAME_FACTS, type Game } from '../../contract/games.ts'
import type { BotState } from '../db/bot-tables.ts'
import type { Db, Tx } from '../db/client.ts'
import { DELIVERED_TRADE_STATES, OPEN_TRADE_STATES } from '../db/trade-tables.ts'
import { OFFER_OVER_MS } from '../steam/offer-times.ts'
import type { Profile } from '../steam/steam.ts'
import { barStateFor } from './bar-store.ts'
import type { BotFacts, StoreOffers } from './fleet.ts'
import { countChange } from './item-store.ts'

/** States in which a process may hold the bot and speak to Steam for it. */
export const LEASABLE_STATES: readonly BotState[] = ['active', 'paused']

/** True if a process holds the bot's lease. */
export const hasGateway = sql<boolean>`coalesce(bot.lease_until > now(), false)`
const reachable = sql<boolean>`(bot.online and ${hasGateway})`

/** A bot whose offer has waited longer than this to be sent counts as late. */
const LATE_AFTER = '5 seconds'

/**
 * The stored count of a bot's items plus later custody entries. Compares pairs, to use the index on both columns.
 * 9223372036854775807 is the largest bigint, so no pair of the bot comes after it.
 */
const itemsHeld = sql<number>`(bot.items_held + (
  select coalesce(sum(${countChange}), 0)
  from custody_entry entry where (entry.bot_id, entry.id) > (bot.id, bot.items_counted_to)
    and (entry.bot_id, entry.id) <= (bot.id, 9223372036854775807)))::int`

/** The same count, for one game. Uses a subquery per entry, because a join can read every item. */
const itemsHeldOf = (
  appId: number,
) => sql<number>`(coalesce((bot_games.items->>${String(appId)}::text)::int, 0) + (
  select coalesce(sum(${countChange}), 0)
  from custody_entry entry where (entry.bot_id, entry.id) > (bot.id, coalesce(bot_games.counted_to, 0))
    and (entry.bot_id, entry.id) <= (bot.id, 9223372036854775807)
    and (select app_id from trade_item item
      where item.trade_id = entry.trade_id and item.asset_id = entry.asset_id) = ${appId}))::int`

const itemsOnTheWay = (game: Game) => sql<number>`(
  select count(*) from trade coming join trade_item item on item.trade_id = coming.id
  where coming.bot_id = bot.id and coming.game = ${game} and coming.state in (${sql.join(OPEN_TRADE_STATES)}))::int`

/**
 * Locks the assignment of trades to this bot until the transaction ends, so two trades cannot both take its last place.
 * The bot's own row stays unlocked, so its process can still renew the lease.
 */
export async function lockTradesOf(tx: Tx, botId: bigint): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`trades of bot ${botId}`}, 0))`.execute(tx)
}

/** Takes the lock of `lockTradesOf` only if it is free now. Resolves to true if it was. */
export async function tryLockTradesOf(tx: Tx, botId: bigint): Promise<boolean> {
  const { rows } = await sql<{ isLocked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`trades of bot ${botId}`}, 0)) as "isLocked"`.execute(
    tx,
  )
  return rows[0]?.isLocked === true
}

/** The facts of every bot for `chooseBot`, for an offer to this partner. */
export async function botsForChoice(
  tx: Db | Tx,
  { partnerSteamId, game }: { partnerSteamId: string; game: Game },
): Promise<BotFacts[]> {
  const rows = await tx
    .selectFrom('bot')
    .leftJoin('trade', (join) =>
      join.onRef('trade.bot_id', '=', 'bot.id').on('trade.state', 'in', OPEN_TRADE_STATES),
    )
    .leftJoin('bot_games', 'bot_games.bot_id', 'bot.id')
    .select((eb) => [
      'bot.id',
      'bot.level',
      'bot.state',
      itemsHeldOf(GAME_FACTS[game].appId).as('items_held'),
      itemsOnTheWay(game).as('items_on_the_way'),
      sql<boolean>`bot.offers_failing_since is not null`.as('failing'),
      reachable.as('reachable'),
      barStateFor(game).as('barState'),
      sql<boolean>`coalesce(bool_or(trade.state = 'intended'
        and trade.created_at < (select till_now()) - ${LATE_AFTER}::interval), false)`.as('late'),
      eb.fn.count<bigint>('trade.id').filterWhere('trade.state', '=', 'intended').as('waiting'),
      eb.fn.count<bigint>('trade.id').as('live'),
      eb.fn
        .count<bigint>('trade.id')
        .filterWhere('trade.partner_steam_id', '=', partnerSteamId)
        .as('live_with_partner'),
    ])
    .groupBy(['bot.id', 'bot_games.bot_id'])
    .execute()
  return rows.map((row) => ({
    botId: row.id,
    level: row.level,
    state: row.state,
    reachable: row.reachable,
    failing: row.failing,
    late: row.late,
    waiting: Number(row.waiting),
    barState: row.barState,
    itemsHeld: row.items_held,
    itemsOnTheWay: row.items_on_the_way,
    liveOffers: Number(row.live),
    liveOffersWithPartner: Number(row.live_with_partner),
  }))
}

/** The facts for `shareOfStore`. */
export async function offersOfStore(tx: Tx, storeId: bigint): Promise<StoreOffers> {
  const { rows } = await sql<StoreOffers>`
    select (select count(*)::int from bot where state = 'active' and ${reachable}) as bots,
      (count(*) filter (where deposit.store_id = ${storeId}))::int as "ofStore",
      (count(*) filter (where deposit.store_id <> ${storeId}))::int as "ofOthers"
    from trade join deposit on deposit.id = trade.deposit_id
    where trade.state in (${sql.join(OPEN_TRADE_STATES)})`.execute(tx)
  return rows[0] ?? { bots: 0, ofStore: 0, ofOthers: 0 }
}

/** Locks the store's share of offers until the transaction ends. */
export async function lockOffersOfStore(tx: Tx, storeId: bigint): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`offers of store ${storeId}`}, 0))`.execute(tx)
}

/** True if Steam's limits, or our own, held the bot back a moment ago. Reads only short answers, never an inventory. */
const wasHeldBack = sql<boolean>`bool_or(request.done_at > (select till_now()) - interval '30 seconds'
  and pg_column_size(request.answer) < 1000
  and request.answer->>'reason' in ('rate_limited', 'not_our_turn')) is true`

/**
 * Chooses a reachable bot for the next inventory. Prefers, in this order: a bot whose reads work, a bot that no limit
 * held back a moment ago, the fewest reads to do, and the oldest last read (Steam limits each account). A paused bot
 * can still read. The holder of a failing bot retries, so the bot comes back automatically.
 */
export async function botForReading(tx: Db | Tx, tried: readonly bigint[]): Promise<bigint | undefined> {
  const row = await tx
    .selectFrom('bot')
    .leftJoin('inventory_request as request', (join) =>
      join
        .onRef('request.bot_id', '=', 'bot.id')
        .on('request.created_at', '>', sql<Date>`(select till_now()) - interval '10 minutes'`),
    )
    .select('bot.id')
    .where(reachable)
    .where('bot.state', 'in', LEASABLE_STATES)
    .where('bot.id', '<>', sql<bigint>`all(${tried.map(String)}::bigint[])`)
    .groupBy('bot.id')
    .orderBy(sql`bot.inventories_failing_since is not null`)
    .orderBy(wasHeldBack)
    // No caller still waits for a request that has been open for a minute.
    .orderBy(
      sql`count(request.id) filter (where request.state <> 'done' and request.created_at > (select till_now()) - interval '1 minute')`,
    )
    .orderBy(sql`max(request.created_at) asc nulls first`)
    .orderBy('bot.id')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

export type SealedToken = { sealed: Buffer; expiresAt: Date | null; acknowledged: boolean }

/** Whether a dead bot was paused when it died: the state no longer shows it, but the record of acts does. */
const diedPaused = sql<boolean>`(bot.state = 'dead' and 'bot pause' = (
  select act from operator_act
  where act in ('bot pause', 'bot resume', 'bot retire', 'bot remove') and arguments ->> 'botId' = bot.id::text
  order by id desc limit 1))`

const activeUnlessPaused = sql<BotState>`case when bot.state = 'paused' or ${diedPaused} then 'paused'
  else 'active' end`

/**
 * Enrols a bot, or updates the token and profile of an enrolled bot. Returns it to service unless it is paused, or was
 * when Steam refused its token.
 */
export async function saveBot(db: Db | Tx, profile: Profile, token: SealedToken): Promise<bigint> {
  const columns = {
    name: profile.name,
    avatar_url: profile.avatarUrl,
    profile_url: profile.profileUrl,
    level: profile.level,
    member_since: profile.memberSince,
    refresh_token: token.sealed,
    token_expires_at: token.expiresAt,
    protection_acknowledged_at: token.acknowledged ? sql<Date>`till_now()` : null,
    state_reason: null,
    token_refused_at: null,
    login_after: null,
  }
  const before = await db
    .selectFrom('bot')
    .select('state')
    .where('steam_id', '=', profile.steamId)
    .executeTakeFirst()
  const row = await db
    .insertInto('bot')
    .values({ steam_id: profile.steamId, ...columns, state: 'active' })
    .onConflict((conflict) =>
      conflict.column('steam_id').doUpdateSet({ ...columns, state: activeUnlessPaused }),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  if (before?.state === 'retired' || before?.state === 'removed') await watchAgain(db, row.id)
  return row.id
}

/**
 * Gives a due time to trades that had none while the bot was out of service. An undelivered trade gets a due time only
 * if its offer may still be accepted.
 */
async function watchAgain(db: Db | Tx, botId: bigint): Promise<void> {
  await sql`
    update trade set due_at = case state when 'held' then least(settles_at, look_at) when 'final' then look_at
      else (select till_now()) end
    where bot_id = ${botId} and due_at is null and (state = 'held' or look_at is not null
      or (delivered_at is null and send_started_at > (select till_now()) - make_interval(secs => ${OFFER_OVER_MS / 1_000})))`.execute(
    db,
  )
}

export type BotSummary = {
  botId: bigint
  steamId: string
  name: string
  level: number
  state: BotState
  stateReason: string | null
  hasGateway: boolean
  /** No process logs the bot in before this time, because Steam refused its token. Null if it may log in now. */
  loginAfter: Date | null
  reachable: boolean
  itemsHeld: number
  tokenExpiresAt: Date | null
}

/** Lists every bot that was not removed, oldest first, for the operator. */
export async function listBots(db: Db): Promise<BotSummary[]> {
  const rows = await db
    .selectFrom('bot')
    .select(['id', 'steam_id', 'name', 'level', 'state', 'state_reason', 'token_expires_at'])
    .select([hasGateway.as('has_gateway'), reachable.as('reachable'), itemsHeld.as('items_held')])
    .select(sql<Date | null>`case when login_after > till_now() then login_after end`.as('login_after'))
    .where('state', '!=', 'removed')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    botId: row.id,
    steamId: row.steam_id,
    name: row.name,
    level: row.level,
    state: row.state,
    stateReason: row.state_reason,
    hasGateway: row.has_gateway,
    loginAfter: row.login_after,
    reachable: row.reachable,
    itemsHeld: row.items_held,
    tokenExpiresAt: row.token_expires_at,
  }))
}

/** True for a bot that no process holds, although it could work. */
export const isUnheld = ({ state, hasGateway, loginAfter }: BotSummary): boolean =>
  LEASABLE_STATES.includes(state) && !hasGateway && loginAfter === null

/** Locks a bot that was not removed. `idOrSteamId`: its number or its 64-bit Steam id, as decimal digits. */
export function lockBot(tx: Tx, idOrSteamId: string) {
  return tx
    .selectFrom('bot')
    .select(['id', 'name', 'state'])
    .where((eb) => eb.or([eb(sql`id::text`, '=', idOrSteamId), eb('steam_id', '=', idOrSteamId)]))
    .where('state', '!=', 'removed')
    .forUpdate()
    .executeTakeFirst()
}

export async function setBotState(tx: Tx, botId: bigint, state: BotState): Promise<void> {
  await tx.updateTable('bot').set({ state }).where('id', '=', botId).execute()
}

/** Counts of a bot's trades, by what can still happen to them. */
export type WatchedTrades = {
  /** Trades whose offers are still to be sent, or may be open. */
  open: number
  /** Trades that ended without items, but are still reviewed because their offers may have been accepted. */
  reviewed: number
  /** Delivered trades whose items can still be taken back, or whose credit is held. */
  protected: number
}

export async function watchedOf(tx: Tx, botId: bigint): Promise<WatchedTrades> {
  const rows = await tx
    .selectFrom('trade')
    .select((eb) => [
      sql<keyof WatchedTrades>`case when state in (${sql.join(OPEN_TRADE_STATES)}) then 'open'
        when state in (${sql.join(DELIVERED_TRADE_STATES)}) then 'protected' else 'reviewed' end`.as('kind'),
      eb.fn.countAll<bigint>().as('trades'),
    ])
    .where('bot_id', '=', botId)
    .where((eb) => eb.or([eb('due_at', 'is not', null), eb('state', 'in', [...OPEN_TRADE_STATES, 'held'])]))
    .groupBy('kind')
    .execute()
  const count = new Map(rows.map(({ kind, trades }) => [kind, Number(trades)]))
  const countOf = (kind: keyof WatchedTrades): number => count.get(kind) ?? 0
  return { open: countOf('open'), reviewed: countOf('reviewed'), protected: countOf('protected') }
}

/**
 * Takes the bot out of service until it is enrolled again, and deletes its token. A new lease number stops the writes of
 * a process that still works for the bot. Otherwise, it could send an offer that nobody watches.
 */
export async function takeBotOut(tx: Tx, botId: bigint, state: 'retired' | 'removed'): Promise<void> {
  await tx
    .updateTable('bot')
    .set((eb) => ({
      state,
      state_reason: null,
      refresh_token: Buffer.alloc(0),
      token_expires_at: null,
      online: false,
      lease_owner: null,
      lease_epoch: eb('lease_epoch', '+', 1n),
      lease_until: null,
    }))
    .where('id', '=', botId)
    .execute()
}
