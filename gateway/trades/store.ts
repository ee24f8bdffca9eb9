/** Reads trades from their rows, and turns a trade's state into columns. */
import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { DELIVERED_TRADE_STATES, OPEN_TRADE_STATES, type TradeTable } from '../db/trade-tables.ts'
import type { Trade } from './trade.ts'
import type { LoadedTrade, SteamNumbers, TradeSummary } from './trade-store.ts'

export type TradeRow = Selectable<TradeTable>

/** The name of a signal about a trade. */
export const tradeTopic = (id: bigint): string => `trade:${id}`

const LIVE_STATES = [...OPEN_TRADE_STATES, ...DELIVERED_TRADE_STATES]

/** The newest open or delivered trade of a deposit, with its asset ids. */
export async function liveTradeOf(
  tx: Tx,
  depositId: bigint,
): Promise<{ row: TradeRow; assetIds: string[] } | undefined> {
  const row = await tx
    .selectFrom('trade')
    .selectAll()
    .where('deposit_id', '=', depositId)
    .where('state', 'in', LIVE_STATES)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const items = await tx.selectFrom('trade_item').select('asset_id').where('trade_id', '=', row.id).execute()
  return { row, assetIds: items.map((item) => item.asset_id) }
}

/** The row with the trade's items, ordered by asset id. */
type TradeWithAssets = TradeRow & {
  bot_gone: boolean
  items: { appId: number; contextId: string; assetId: string; isReversed: boolean }[]
}

/** Returns the trade and its facts, or undefined if there is none. */
export async function loadTrade(db: Db | Tx, id: bigint): Promise<LoadedTrade | undefined> {
  const row = await db
    .selectFrom('trade')
    .selectAll()
    .select(botGone)
    .select(
      sql<
        TradeWithAssets['items']
      >`(select coalesce(jsonb_agg(jsonb_build_object('appId', app_id, 'contextId', context_id,
        'assetId', asset_id, 'isReversed', reversed_at is not null) order by asset_id), '[]')
        from trade_item where trade_id = trade.id)`.as('items'),
    )
    .where('id', '=', id)
    .executeTakeFirst()
  return row && loadedOf(row)
}

export const loadedOf = (row: TradeWithAssets): LoadedTrade => ({
  trade: withItems(row),
  facts: factsOf(row),
})

/** True if the trade's bot was retired or removed. */
export const botGone =
  sql<boolean>`(select bot.state in ('retired', 'removed') from bot where bot.id = trade.bot_id)`.as(
    'bot_gone',
  )

const factsOf = (row: TradeRow & { bot_gone: boolean }): LoadedTrade['facts'] => ({
  id: row.id,
  depositId: row.deposit_id,
  botId: row.bot_id,
  game: row.game,
  dueAt: row.due_at,
  attempt: { intendedAt: row.intended_at, tried: row.tried_bots, doubted: row.doubted_bot },
  isBotGone: row.bot_gone,
})

export const summaryOf = (row: TradeRow): TradeSummary => ({
  id: row.id,
  depositId: row.deposit_id,
  state: row.state,
  createdAt: row.created_at,
  dueAt: row.due_at,
  offerId: row.steam_offer_id,
  steamTradeId: row.steam_trade_id,
  acceptedAt: row.accepted_at,
  isDelivered: row.delivered_at !== null,
})

function withItems({ items, ...row }: TradeWithAssets): Trade {
  const assets = items.map(({ appId, contextId, assetId }) => ({ appId, contextId, assetId }))
  return tradeOf(
    row,
    assets,
    items.filter(({ isReversed }) => isReversed).map(({ assetId }) => assetId),
  )
}

function tradeOf(row: TradeRow, items: Trade['items'], reversed: string[]): Trade {
  const common = {
    tradeId: row.id,
    partnerSteamId: row.partner_steam_id,
    secretCode: row.secret_code,
    items,
  }
  switch (row.state) {
    case 'intended':
      return { ...common, state: row.state, createdAt: row.created_at }
    case 'sending':
    case 'unknown':
      return {
        ...common,
        state: row.state,
        startedAt: required(row, 'send_started_at'),
        missedReads: row.missed_reads,
      }
    case 'active':
      return activeOf(row, common)
    case 'refused':
    case 'abandoned':
    case 'declined':
    case 'countered':
    case 'invalid':
    case 'timed_out':
      return {
        ...common,
        state: row.state,
        startedAt: row.send_started_at,
        offerId: row.steam_offer_id,
        reason: required(row, 'reason'),
        refusal: row.refusal,
        steamHoldUntil: row.steam_hold_until,
        settlesAt: row.settles_at,
        endedAt: required(row, 'ended_at'),
      }
    case 'held':
    case 'final':
    case 'reversed':
      return deliveredOf(row, common, reversed)
    default:
      return row.state satisfies never
  }
}

type Common = Pick<Trade, 'tradeId' | 'partnerSteamId' | 'secretCode' | 'items'>

function activeOf(row: TradeRow, common: Common): Trade {
  const { bad_end: badEnd, bad_end_seen_at: seenAt } = row
  return {
    ...common,
    state: 'active',
    startedAt: required(row, 'send_started_at'),
    offerId: required(row, 'steam_offer_id'),
    deadline: required(row, 'deadline'),
    acceptedAt: row.accepted_at,
    steamTradeId: row.steam_trade_id,
    settlesAt: row.settles_at,
    cancelling: row.cancelling,
    badEnd: badEnd === null || seenAt === null ? null : { state: badEnd, seenAt },
  }
}

function deliveredOf(row: TradeRow, common: Common, reversed: string[]): Trade {
  const delivered = {
    ...common,
    startedAt: required(row, 'send_started_at'),
    offerId: required(row, 'steam_offer_id'),
    steamTradeId: required(row, 'steam_trade_id'),
    acceptedAt: required(row, 'accepted_at'),
    deliveredAt: required(row, 'delivered_at'),
    reversed,
  }
  if (row.state === 'held') {
    return { ...delivered, state: 'held', settlesAt: required(row, 'settles_at'), lookAt: row.look_at }
  }
  const endedAt = required(row, 'ended_at')
  if (row.state === 'reversed') return { ...delivered, state: 'reversed', endedAt }
  return { ...delivered, state: 'final', lookAt: row.look_at, endedAt }
}

/** Returns a column that the trade's state requires. */
function required<K extends keyof TradeRow>(row: TradeRow, column: K): NonNullable<TradeRow[K]> {
  const value = row[column]
  if (value === null || value === undefined)
    throw new Error(`trade ${row.id} is ${row.state} without ${column}`)
  return value
}

/**
 * The columns of a trade's state. Columns that the state does not have stay unchanged, except those that are set to null
 * here.
 */
export function columnsOf(trade: Trade): Partial<TradeRow> {
  const { state } = trade
  return {
    state,
    ...('startedAt' in trade && { send_started_at: trade.startedAt }),
    ...('createdAt' in trade && { created_at: trade.createdAt, send_started_at: null }),
    ...('missedReads' in trade && { missed_reads: trade.missedReads }),
    ...('offerId' in trade && { steam_offer_id: trade.offerId }),
    ...('steamTradeId' in trade && { steam_trade_id: trade.steamTradeId }),
    ...('acceptedAt' in trade && { accepted_at: trade.acceptedAt }),
    ...(state === 'active' && {
      deadline: trade.deadline,
      cancelling: trade.cancelling,
      bad_end: trade.badEnd?.state ?? null,
      bad_end_seen_at: trade.badEnd?.seenAt ?? null,
    }),
    ...('reason' in trade
      ? { reason: trade.reason, refusal: trade.refusal, steam_hold_until: trade.steamHoldUntil }
      : { reason: null, steam_hold_until: null }),
    ...('settlesAt' in trade && { settles_at: trade.settlesAt }),
    look_at: 'lookAt' in trade ? trade.lookAt : null,
    ended_at: 'endedAt' in trade ? trade.endedAt : null,
  }
}

/** Returns another trade that has one of these numbers of Steam. */
export function ownerOf(db: Db | Tx, { tradeId, offerId, steamTradeId }: SteamNumbers) {
  return db
    .selectFrom('trade')
    .select(['id as tradeId', 'steam_trade_id as steamTradeId'])
    .where((eb) =>
      eb.or([eb('steam_trade_id', '=', steamTradeId ?? ''), eb('steam_offer_id', '=', offerId ?? '')]),
    )
    .where('id', '<>', tradeId)
    .orderBy('id')
    .executeTakeFirst()
}

export function readOutcome(db: Db, tradeId: bigint) {
  return db
    .selectFrom('trade')
    .select(['state', 'reason', 'refusal', 'moved_to', 'partner_steam_id', 'game', 'tried_bots', 'bot_id'])
    .where('id', '=', tradeId)
    .executeTakeFirstOrThrow()
}
