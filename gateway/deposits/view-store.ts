/** Reads deposits with their trades and items, for their store and for shoppers. */
import { sql } from 'kysely'
import { EVENT_OF_STATUS } from '../../contract/event-types.ts'
import type { Game, Phase } from '../../contract/games.ts'
import type { Language } from '../../contract/languages.ts'
import type { Currency } from '../../contract/money.ts'
import type { DepositStatus } from '../../contract/statuses.ts'
import type { ListDepositsQuery } from '../../contract/store-api.ts'
import type { Db, Tx } from '../db/client.ts'
import { type CreditMode, RETRYABLE_TRADE_STATES, type TradeStateColumn } from '../db/trade-tables.ts'
import { LONGEST_PAUSE_MS, UNUSED_REASONS } from '../shoppers/allowance.ts'
import { isOnReleaseSql } from '../shoppers/on-release-store.ts'
import { unusedOffersSql } from '../shoppers/partner-store.ts'
import type { DepositRow } from './store.ts'

export type DepositKey = { storeId?: bigint } & ({ depositId: bigint } | { externalId: string })

/** Read in the deposit's own query, because the sequence must not be newer than the row. */
const lastSequence = sql<bigint | null>`(select max(sequence) from event where event.deposit_id = deposit.id)`

/** A deposit with the sequence of its last event. */
export type NumberedDeposit = DepositRow & { last_sequence: bigint | null }

export function findDeposit(db: Db | Tx, by: DepositKey): Promise<NumberedDeposit | undefined> {
  const deposits = db.selectFrom('deposit').selectAll().select(lastSequence.as('last_sequence'))
  const byId =
    'depositId' in by
      ? deposits.where('id', '=', by.depositId)
      : deposits.where('external_id', '=', by.externalId)
  const owned = by.storeId === undefined ? byId : byId.where('store_id', '=', by.storeId)
  return owned.limit(1).executeTakeFirst()
}

/** Returns the deposits of a page, newest first, and one more if there is a next page. */
export function pageOfDeposits(
  db: Db,
  storeId: bigint,
  query: ListDepositsQuery,
): Promise<NumberedDeposit[]> {
  const { status, customerReference, createdFrom, createdBefore, after, limit } = query
  let page = db
    .selectFrom('deposit')
    .selectAll()
    .select(lastSequence.as('last_sequence'))
    .where('store_id', '=', storeId)
  if (status !== undefined) page = page.where('status', '=', status)
  if (customerReference !== undefined) page = page.where('customer_reference', '=', customerReference)
  if (createdFrom !== undefined) page = page.where('created_at', '>=', new Date(createdFrom))
  if (createdBefore !== undefined) page = page.where('created_at', '<', new Date(createdBefore))
  if (after !== undefined) {
    page = page.where(
      sql<boolean>`(created_at, id) < (
        select created_at, id from deposit where id = ${BigInt(after)} and store_id = ${storeId})`,
    )
  }
  return page
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
}

/** The trade that a deposit shows: the one that delivered, or else the latest that was not refused or abandoned. */
export function shownTradesOf(db: Db | Tx, depositIds: readonly bigint[]) {
  return db
    .selectFrom('trade')
    .distinctOn('deposit_id')
    .select(['id', 'deposit_id', 'game', 'partner_steam_id', 'steam_offer_id', 'steam_trade_id', 'reason'])
    .where('deposit_id', '=', sql<bigint>`any(${depositIds.map(String)}::bigint[])`)
    .where('state', 'not in', RETRYABLE_TRADE_STATES)
    .orderBy('deposit_id')
    .orderBy('delivered_at', (order) => order.desc().nullsLast())
    .orderBy('id', 'desc')
    .execute()
}

export function itemsOfTrades(db: Db | Tx, tradeIds: readonly bigint[]) {
  return db
    .selectFrom('trade_item')
    .select(['trade_id', 'asset_id', 'name', 'market_hash_name', 'phase', 'price', 'reversed_at'])
    .where('trade_id', '=', sql<bigint>`any(${tradeIds.map(String)}::bigint[])`)
    .orderBy('asset_id')
    .execute()
}

/** The facts that the view of a shopper's page is made from. */
export type ViewRow = {
  hash: string
  id: bigint
  external_id: string
  store_name: string
  store_accent: string | null
  store_origins: string[]
  customer_label: string | null
  status: DepositStatus
  currency: Currency
  language: Language | null
  back_to_store_url: string
  redirect_url: string | null
  /** The credited amount without the part that was taken back; null before the success. */
  kept_amount: bigint | null
  /** The items that went back to their sender; null if none did. */
  taken_back: 'all' | 'some' | null
  held_amount: bigint
  held_until: Date | null
  min_amount: bigint | null
  max_amount: bigint | null
  games: Game[] | null
  target_amount: bigint | null
  user_name: string | null
  user_avatar_url: string | null
  user_profile_url: string | null
  user_steam_id: string | null
  has_link: boolean
  created_at: Date
  trade_id: bigint | null
  bot_id: bigint | null
  trade_state: TradeStateColumn | null
  trade_reason: string | null
  steam_hold_until: Date | null
  steam_offer_id: string | null
  secret_code: string | null
  total: bigint | null
  promised_amount: bigint | null
  promised_until: Date | null
  accepted: boolean
  item_count: number | null
  /** The items of the trade, equal ones counted together; null without a trade, and once the deposit has ended. */
  items: { name: string; phase: Phase | null; price: number; count: number }[] | null
  /** Whether a webhook has told the store of the success; null before the success, or if no webhook will do so. */
  store_told: boolean | null
  bot_name: string | null
  bot_profile_url: string | null
  bot_avatar_url: string | null
  bot_level: number | null
  bot_member_since: string | null
  /** The rule by which the trade was credited; null until it is. */
  trade_credit_mode: CreditMode | null
  store_credit_mode: CreditMode
  deposit_credit_mode: CreditMode | null
  /** Whether the trade's account is credited on release because it reversed a trade; false without a trade. */
  is_on_release: boolean
  /** How many unused offers can delay the next one to the account, and when the latest ended (null if none did). */
  unused_count: number | null
  unused_at: Date | null
  now: Date
  /** Whether maintenance, or an outage of Steam's offers, pauses payments. The page calls both technical works. */
  is_paused: boolean
  notice_text_en: string | null
  notice_text_ru: string | null
  notice_until: Date | null
  deposit_countdown_paused: boolean
  offer_countdown_paused: boolean
  expires_at: Date
  deadline: Date | null
  seconds_to_expiry: number
  seconds_to_deadline: number | null
  /** True if the deposit has ended, and its expiry is so long ago that the page no longer shows its shopper. */
  is_old: boolean
}

// Once the event of the success has a number, all its deliveries exist, and their states decide. Before that, the store
// will be told if an enabled endpoint takes the event.
const STORE_TOLD = sql`case when deposit.status = 'succeeded' then coalesce((
  select case when bool_or(delivery.state = 'delivered') then true when bool_or(delivery.state = 'due') then false end
  from event join webhook_delivery delivery on delivery.event_id = event.id
  where event.deposit_id = deposit.id and event.type = ${EVENT_OF_STATUS.succeeded}
), case when exists (
  select from event where event.deposit_id = deposit.id and event.type = ${EVENT_OF_STATUS.succeeded}
    and event.sequence is null
) and exists (
  select from webhook_endpoint endpoint
  where endpoint.store_id = deposit.store_id and endpoint.state = 'enabled'
    and (endpoint.event_types is null or ${EVENT_OF_STATUS.succeeded} = any(endpoint.event_types))
) then false end) end`

/**
 * Reads any number of views in one query, by the till's clock. `shownMs`: how long the page of an ended deposit still
 * shows the shopper after the deposit's expiry.
 */
export async function viewRowsOf(db: Db, hashes: readonly string[], shownMs: number): Promise<ViewRow[]> {
  const { rows } = await sql<ViewRow>`
      select deposit.hash, deposit.id, deposit.external_id, store.name as store_name, store.accent as store_accent,
        store.origins as store_origins,
        deposit.customer_label,
        deposit.status, deposit.currency, deposit.language, deposit.back_to_store_url, deposit.redirect_url,
        deposit.credited_amount - deposit.reversed_amount as kept_amount,
        case when deposit.reversed_amount = deposit.credited_amount then 'all'
          when deposit.reversed_amount > 0 then 'some' end as taken_back,
        deposit.held_amount, deposit.held_until, deposit.min_amount, deposit.max_amount, deposit.target_amount,
        deposit.games,
        deposit.user_name, deposit.user_avatar_url, deposit.user_profile_url,
        deposit.user_steam_id,
        deposit.user_token is not null or deposit.user_token_sealed is not null as has_link,
        deposit.created_at,
        trade.id as trade_id, trade.bot_id, trade.state as trade_state, trade.reason as trade_reason,
        trade.steam_offer_id, trade.steam_hold_until,
        trade.secret_code, trade.total, trade.promised_amount,
        trade.deadline + trade.promised_days * interval '24 hours' as promised_until, trade.accepted_at is not null as accepted,
        (select count(*)::int from trade_item where trade_item.trade_id = trade.id) as item_count,
        case when deposit.status in ('created', 'pending') then (
          select json_agg(alike order by alike.price desc, alike.name, alike.phase) from (
            select name, phase, price, count(*)::int as count from trade_item
            where trade_item.trade_id = trade.id group by name, phase, price
          ) alike
        ) end as items,
        ${STORE_TOLD} as store_told,
        bot.name as bot_name, bot.profile_url as bot_profile_url, bot.avatar_url as bot_avatar_url,
        bot.level as bot_level, bot.member_since as bot_member_since,
        trade.credit_mode as trade_credit_mode, store.credit_mode as store_credit_mode,
        deposit.credit_mode as deposit_credit_mode, ${isOnReleaseSql(sql`trade.partner_steam_id`)} as is_on_release,
        unused.count as unused_count,
        unused.last_at as unused_at, (select till_now()) as now,
        outages.*, deposit.expires_at, trade.deadline,
        greatest(0, ceil(extract(epoch from deposit.expires_at - (select till_now()))))::int as seconds_to_expiry,
        greatest(0, ceil(extract(epoch from trade.deadline - (select till_now()))))::int as seconds_to_deadline,
        deposit.status not in ('created', 'pending')
          and deposit.expires_at < (select till_now()) - make_interval(secs => ${shownMs / 1000}) as is_old
      from deposit
      join store on store.id = deposit.store_id
      cross join (
        select coalesce(bool_or(kind in ('offers', 'maintenance')), false) as is_paused,
          coalesce(bool_or(kind = 'deposits'), false) as deposit_countdown_paused,
          coalesce(bool_or(kind = 'offers'), false) as offer_countdown_paused,
          max(text_en) as notice_text_en, max(text_ru) as notice_text_ru, max(ends_at) as notice_until
        from outage
      ) outages
      left join lateral (
        select * from trade
        where trade.deposit_id = deposit.id and trade.state not in ('refused', 'abandoned')
        order by trade.delivered_at desc nulls last, trade.id desc limit 1
      ) trade on true
      left join bot on bot.id = trade.bot_id
      left join lateral (
        ${unusedOffersSql({
          steamId: sql`trade.partner_steam_id`,
          storeId: sql`deposit.store_id`,
          now: sql`(select till_now())`,
        })}
        and not deposit.shopper_locked and trade.reason in (${sql.join(UNUSED_REASONS)})
        and trade.ended_at > (select till_now()) - make_interval(secs => ${LONGEST_PAUSE_MS / 1000})
      ) unused on true
      where deposit.hash = any(${[...hashes]})`.execute(db)
  return rows
}
