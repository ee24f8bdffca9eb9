/** What a shopper's page shows of a deposit, read once for all who wait instead of once a second for each. */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Language } from '../../contract/languages.ts'
import type { Currency } from '../../contract/money.ts'
import { type DepositStatus, isFinal } from '../../contract/statuses.ts'
import type { Payment } from '../../contract/widget-api.ts'
import type { Db } from '../db/client.ts'
import type { TradeStateColumn } from '../db/trade-tables.ts'
import { AT_ONCE } from './deposit.ts'

export type View = {
  depositId: bigint
  payment: Payment
  /** Changes with everything but timeLeft. */
  etag: string
  /** The payment as JSON. */
  body: string
  /** The trade whose offer is open, for a look at Steam. */
  openTrade: { tradeId: bigint; botId: bigint } | null
}

export type ViewReader = (hashes: readonly string[]) => Promise<Map<string, View>>

type Row = {
  hash: string
  id: bigint
  store_name: string
  store_accent: string | null
  status: DepositStatus
  currency: Currency
  language: Language | null
  back_to_store_url: string
  redirect_url: string | null
  credited_amount: bigint | null
  held_amount: bigint
  held_until: Date | null
  min_amount: bigint | null
  max_amount: bigint | null
  user_name: string | null
  user_avatar_url: string | null
  user_profile_url: string | null
  user_account: string | null
  user_token: string | null
  trade_id: bigint | null
  bot_id: bigint | null
  trade_state: TradeStateColumn | null
  trade_reason: string | null
  steam_offer_id: string | null
  secret_code: string | null
  total: bigint | null
  accepted: boolean
  item_count: number | null
  bot_name: string | null
  bot_profile_url: string | null
  bot_avatar_url: string | null
  bot_level: number | null
  technical_works: boolean
  deposits_stopped: boolean
  trades_stopped: boolean
  seconds_to_expiry: number
  seconds_to_deadline: number | null
}

/** Reads any number of views in one query, with the database's clock. `communityUrl` is where offers are accepted. */
export function viewReader(db: Db, communityUrl: string): ViewReader {
  return async (hashes) => {
    const { rows } = await sql<Row>`
      select deposit.hash, deposit.id, store.name as store_name, store.accent as store_accent,
        deposit.status, deposit.currency, deposit.language, deposit.back_to_store_url, deposit.redirect_url, deposit.credited_amount,
        deposit.held_amount, deposit.held_until, deposit.min_amount, deposit.max_amount,
        deposit.user_name, deposit.user_avatar_url, deposit.user_profile_url, deposit.user_token,
        (deposit.user_steam_id::bigint - 76561197960265728)::text as user_account,
        trade.id as trade_id, trade.bot_id, trade.state as trade_state, trade.reason as trade_reason,
        trade.steam_offer_id,
        trade.secret_code, trade.total, trade.accepted_at is not null as accepted,
        (select count(*)::int from trade_item where trade_item.trade_id = trade.id) as item_count,
        bot.name as bot_name, bot.profile_url as bot_profile_url, bot.avatar_url as bot_avatar_url,
        bot.level as bot_level,
        exists (select from outage where kind in ('offers', 'maintenance')) as technical_works,
        exists (select from outage where kind = 'deposits') as deposits_stopped,
        exists (select from outage where kind = 'offers') as trades_stopped,
        greatest(0, ceil(extract(epoch from deposit.expires_at - (select till_now()))))::int as seconds_to_expiry,
        greatest(0, ceil(extract(epoch from trade.deadline - (select till_now()))))::int as seconds_to_deadline
      from deposit
      join store on store.id = deposit.store_id
      left join lateral (
        select * from trade
        where trade.deposit_id = deposit.id and trade.state not in ('refused', 'abandoned')
        order by trade.delivered_at desc nulls last, trade.id desc limit 1
      ) trade on true
      left join bot on bot.id = trade.bot_id
      where deposit.hash = any(${[...hashes]})`.execute(db)
    return new Map(rows.map((row) => [row.hash, viewOf(row, communityUrl)]))
  }
}

const CREATING: readonly (TradeStateColumn | null)[] = ['intended', 'sending', 'unknown']

function viewOf(row: Row, communityUrl: string): View {
  const payment = paymentOf(row, communityUrl)
  const { timeLeft: _, ...lasting } = payment
  const etag = `"${createHash('sha256').update(JSON.stringify(lasting)).digest('base64url').slice(0, 22)}"`
  const open = row.trade_state === 'active' && row.trade_id !== null && row.bot_id !== null
  return {
    depositId: row.id,
    payment,
    etag,
    body: JSON.stringify(payment),
    openTrade: open && row.trade_id && row.bot_id ? { tradeId: row.trade_id, botId: row.bot_id } : null,
  }
}

function paymentOf(row: Row, communityUrl: string): Payment {
  const creating = row.status === 'created' && CREATING.includes(row.trade_state)
  const offer = creating ? null : row.steam_offer_id
  const amount =
    row.status === 'succeeded' ? row.credited_amount : row.status === 'pending' ? row.total : null
  return {
    hash: row.hash,
    id: String(row.id),
    storeName: row.store_name,
    storeAccent: row.store_accent,
    status: row.status,
    currency: row.currency,
    amount: numberOrNull(amount),
    user: userOf(row),
    bot: offer === null ? null : botOf(row),
    timeLeft: timeLeftOf(row),
    technicalWorks: row.technical_works,
    endedAtOnce: row.trade_reason?.endsWith(AT_ONCE) ?? false,
    steamTradeId: offer,
    steamTradeMessage: offer === null ? null : row.secret_code,
    acceptUrl: offer === null ? null : `${communityUrl}/tradeoffer/${offer}/`,
    clientUrl: offer === null ? null : `steam://url/ShowTradeOffer/${offer}`,
    backToStoreUrl: row.back_to_store_url,
    ...(row.status === 'succeeded' && row.redirect_url !== null ? { redirectUrl: row.redirect_url } : {}),
    language: row.language,
    creating,
    itemCount: row.item_count ?? 0,
    heldAmount: Number(row.held_amount),
    heldUntil: row.held_until?.toISOString() ?? null,
    minAmount: numberOrNull(row.min_amount),
    maxAmount: numberOrNull(row.max_amount),
  }
}

const numberOrNull = (value: bigint | null): number | null => (value === null ? null : Number(value))

/**
 * To the expiry while created, to the trade's deadline while pending; void once the shopper has accepted, and
 * while time stands still.
 */
function timeLeftOf(row: Row): number | null {
  if (isFinal(row.status)) return null
  if (row.status === 'created') return row.deposits_stopped ? null : row.seconds_to_expiry
  return row.accepted || row.trades_stopped ? null : row.seconds_to_deadline
}

function userOf(row: Row): Payment['user'] {
  if (row.user_name === null || row.user_avatar_url === null || row.user_profile_url === null) return null
  const link = `https://steamcommunity.com/tradeoffer/new/?partner=${row.user_account}&token=${row.user_token}`
  return {
    name: row.user_name,
    avatarUrl: row.user_avatar_url,
    profileUrl: row.user_profile_url,
    tradeUrl: link,
  }
}

function botOf(row: Row): Payment['bot'] {
  if (row.bot_name === null || row.bot_profile_url === null || row.bot_avatar_url === null) return null
  return {
    name: row.bot_name,
    profileUrl: row.bot_profile_url,
    avatarUrl: row.bot_avatar_url,
    level: row.bot_level ?? 0,
  }
}
