/** The queries of an operator's search. Each uses an index. */
import { sql } from 'kysely'
import type { EventType } from '../../contract/event-types.ts'
import type { Game } from '../../contract/games.ts'
import type { BotState } from '../db/bot-tables.ts'
import type { Db } from '../db/client.ts'
import { isReceiptOf, type ReceiptName } from '../deposits/receipt-link.ts'

const idsOf = (rows: { id: bigint }[]): bigint[] => rows.map(({ id }) => id)

export const depositOfHash = async (db: Db, hash: string): Promise<bigint[]> =>
  idsOf(await db.selectFrom('deposit').select('id').where('hash', '=', hash).execute())

export const depositOfNumber = async (db: Db, id: bigint): Promise<bigint[]> =>
  idsOf(await db.selectFrom('deposit').select('id').where('id', '=', id).execute())

/** Returns an empty list for a receipt that the till never issued. */
export async function depositOfReceipt(db: Db, receipt: ReceiptName): Promise<bigint[]> {
  const id = BigInt(receipt.depositId)
  const rows = await db.selectFrom('deposit').select(['id', 'hash']).where('id', '=', id).execute()
  return idsOf(rows.filter(({ hash }) => isReceiptOf(receipt, hash)))
}

/** Returns several deposits if stores use the same order id. */
export const depositsOfOrder = async (db: Db, externalId: string, limit: number): Promise<bigint[]> =>
  idsOf(
    await db
      .selectFrom('deposit')
      .select('id')
      .where('external_id', '=', externalId)
      .orderBy('id', 'desc')
      .limit(limit)
      .execute(),
  )

type TradeColumn = 'secret_code' | 'steam_offer_id' | 'steam_trade_id'

export const depositOfTrade = async (db: Db, column: TradeColumn, value: string): Promise<bigint[]> =>
  idsOf(await db.selectFrom('trade').select('deposit_id as id').where(column, '=', value).execute())

export const depositOfTradeNumber = async (db: Db, tradeId: bigint): Promise<bigint[]> =>
  idsOf(await db.selectFrom('trade').select('deposit_id as id').where('id', '=', tradeId).execute())

/** Deposits with an item that had this asset id: with the shopper, the bot, or the next owner. */
export async function depositsOfAsset(db: Db, assetId: string, limit: number): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select distinct deposit_id as id from trade where id in (
      (select trade_id from trade_item where asset_id = ${assetId} order by trade_id desc limit ${limit})
      union (select trade_id from custody_entry where received_asset_id = ${assetId} and moved = 'in' limit ${limit})
      union (select entry.trade_id from departed_item item
        join departure on departure.id = item.departure_id
        join custody_entry entry on entry.received_asset_id = item.asset_id and entry.bot_id = departure.bot_id
          and entry.moved = 'in'
        where item.new_asset_id = ${assetId} limit ${limit}))
    order by id desc limit ${limit}`.execute(db)
  return idsOf(rows)
}

/** The newest deposits with an item of exactly this name. */
export async function depositsOfItem(db: Db, name: string, limit: number): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select distinct deposit_id as id from trade where id in (
      select trade_id from trade_item where market_hash_name = ${name} order by trade_id desc limit ${limit})
    order by id desc limit ${limit}`.execute(db)
  return idsOf(rows)
}

export type FoundDeparture = {
  departureId: bigint
  bot: string
  partnerSteamId: string
  steamTradeId: string
}

export function departuresOfSteamTrade(db: Db, steamTradeId: string): Promise<FoundDeparture[]> {
  return db
    .selectFrom('departure')
    .innerJoin('bot', 'bot.id', 'departure.bot_id')
    .select(['departure.id as departureId', 'bot.name as bot', 'partner_steam_id as partnerSteamId'])
    .select('steam_trade_id as steamTradeId')
    .where('steam_trade_id', '=', steamTradeId)
    .orderBy('departure.id', 'desc')
    .execute()
}

export type FoundEvent = {
  eventId: string
  storeId: bigint
  type: EventType
  /** Null until the event has its sequence. */
  sequence: bigint | null
  depositId: bigint | null
  createdAt: Date
  deliveries: {
    deliveryId: string
    endpointId: string
    state: string
    attempts: number
    /** Result of the last attempt; null before the first. */
    lastResult: string | null
  }[]
}

/** Finds an event by its id (the `webhook-id` of its webhooks) or by the number of a delivery. */
export async function findEvents(
  db: Db,
  by: { eventId: string } | { deliveryId: bigint },
): Promise<FoundEvent[]> {
  const condition =
    'eventId' in by
      ? sql`event.id = ${by.eventId}::uuid`
      : sql`event.id = (select event_id from webhook_delivery where id = ${by.deliveryId})`
  const { rows } = await sql<FoundEvent>`
    select event.id as "eventId", store_id as "storeId", type, sequence, deposit_id as "depositId",
      created_at as "createdAt", coalesce((
        select json_agg(json_build_object('deliveryId', delivery.id::text, 'endpointId', delivery.endpoint_id::text,
          'state', delivery.state, 'attempts', delivery.attempts, 'lastResult', delivery.last_result) order by delivery.id)
        from webhook_delivery delivery where delivery.event_id = event.id), '[]') as deliveries
    from event where ${condition}`.execute(db)
  return rows
}

export type FoundShopper = { steamId: string; name: string | null; isDenied: boolean; isBot: boolean }

/** `name`: the account's name in its newest deposit. */
export async function findShopper(db: Db, steamId: string): Promise<FoundShopper> {
  const { rows } = await sql<FoundShopper>`
    select ${steamId} as "steamId", (select user_name from deposit where user_steam_id = ${steamId}
        order by id desc limit 1) as name,
      exists (select from denied_shopper where steam_id = ${steamId}) as "isDenied",
      exists (select from bot where steam_id = ${steamId}) as "isBot"`.execute(db)
  return rows[0] ?? { steamId, name: null, isDenied: false, isBot: false }
}

export type FoundStore = { storeId: bigint; name: string }
export type FoundBot = { botId: bigint; name: string; steamId: string; state: BotState }
export type FoundItem = { game: Game; item: string }

/**
 * A text search for names in which each of these words begins a word. The words have only letters and digits,
 * of any language, so they cannot break the quoting.
 */
const queryOf = (words: readonly string[]): string => words.map(prefixQueryOf).join(' & ')

/** With the locale C, a database ignores case only in ASCII letters, so other words are searched in several forms. */
function prefixQueryOf(word: string): string {
  const capitalized = word.slice(0, 1).toUpperCase() + word.slice(1)
  const forms = /^\w*$/.test(word) ? [word] : [...new Set([word, capitalized, word.toUpperCase()])]
  return `(${forms.map((form) => `'${form}':*`).join(' | ')})`
}

export async function storesNamed(db: Db, words: readonly string[], limit: number): Promise<FoundStore[]> {
  const { rows } = await sql<FoundStore>`
    select id as "storeId", name from store
    where name_words(name) @@ to_tsquery('simple', ${queryOf(words)}) order by name, id limit ${limit}`.execute(
    db,
  )
  return rows
}

export async function botsNamed(db: Db, words: readonly string[], limit: number): Promise<FoundBot[]> {
  const { rows } = await sql<FoundBot>`
    select id as "botId", name, steam_id as "steamId", state from bot
    where name_words(name) @@ to_tsquery('simple', ${queryOf(words)}) order by name, id limit ${limit}`.execute(
    db,
  )
  return rows
}

export function botOfSteamId(db: Db, steamId: string): Promise<FoundBot[]> {
  return db
    .selectFrom('bot')
    .select(['id as botId', 'name', 'steam_id as steamId', 'state'])
    .where('steam_id', '=', steamId)
    .execute()
}

/** The most names that a search reads before it sorts them. A short word can match half of a game's items. */
const MOST_NAMES = 500

/** Items with a stored price of any source, shortest names first, among the first `MOST_NAMES` found. */
export async function itemsNamed(db: Db, words: readonly string[], limit: number): Promise<FoundItem[]> {
  const { rows } = await sql<FoundItem>`
    select game, item from (
      select game, market_hash_name as item from price
      where name_words(market_hash_name) @@ to_tsquery('simple', ${queryOf(words)}) limit ${MOST_NAMES}
    ) named group by game, item order by length(item), item, game limit ${limit}`.execute(db)
  return rows
}
