import { type ExpressionBuilder, type Selectable, sql, type Updateable } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { DELIVERED_TRADE_STATES, OPEN_TRADE_STATES, type Tables, type TradeTable } from '../db/schema.ts'
import { type DepositRow, lockDeposit } from '../deposits/store.ts'
import type { CancelReason, Trade } from './trade.ts'

export type TradeRow = Selectable<TradeTable>

const LIVE_STATES = [...OPEN_TRADE_STATES, ...DELIVERED_TRADE_STATES]

/** The newest trade of a deposit that is open or was delivered, with the ids of its assets. */
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

export type LoadedTrade = { trade: Trade; row: TradeRow }

/** The trade as its states name it, or undefined if there is none. */
export async function loadTrade(db: Db | Tx, id: bigint): Promise<LoadedTrade | undefined> {
  const row = await db.selectFrom('trade').selectAll().where('id', '=', id).executeTakeFirst()
  return row && { trade: await withItems(db, row), row }
}

export async function withItems(db: Db | Tx, row: TradeRow): Promise<Trade> {
  const items = await db
    .selectFrom('trade_item')
    .select(['app_id', 'context_id', 'asset_id', 'reversed_at'])
    .where('trade_id', '=', row.id)
    .orderBy('asset_id')
    .execute()
  const assets = items.map((item) => ({
    appId: item.app_id,
    contextId: item.context_id,
    assetId: item.asset_id,
  }))
  const reversed = items.filter((item) => item.reversed_at !== null).map((item) => item.asset_id)
  return tradeOf(row, assets, reversed)
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
        startedAt: must(row, 'send_started_at'),
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
        reason: must(row, 'reason'),
        endedAt: must(row, 'ended_at'),
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
    startedAt: must(row, 'send_started_at'),
    offerId: must(row, 'steam_offer_id'),
    deadline: must(row, 'deadline'),
    acceptedAt: row.accepted_at,
    steamTradeId: row.steam_trade_id,
    cancelling: row.cancelling,
    badEnd: badEnd === null || seenAt === null ? null : { state: badEnd, seenAt },
  }
}

function deliveredOf(row: TradeRow, common: Common, reversed: string[]): Trade {
  const delivered = {
    ...common,
    startedAt: must(row, 'send_started_at'),
    offerId: must(row, 'steam_offer_id'),
    steamTradeId: must(row, 'steam_trade_id'),
    acceptedAt: must(row, 'accepted_at'),
    reversed,
  }
  if (row.state === 'held') return { ...delivered, state: 'held', settlesAt: must(row, 'settles_at') }
  const endedAt = must(row, 'ended_at')
  if (row.state === 'reversed') return { ...delivered, state: 'reversed', endedAt }
  return { ...delivered, state: 'final', lastLookAt: row.last_look_at, endedAt }
}

/** A column that a state promises to hold. */
function must<K extends keyof TradeRow>(row: TradeRow, column: K): NonNullable<TradeRow[K]> {
  const value = row[column]
  if (value === null || value === undefined)
    throw new Error(`trade ${row.id} is ${row.state} without ${column}`)
  return value
}

/** The columns that hold a trade's state. What the state does not have stays as it was. */
export function columnsOf(trade: Trade): Updateable<TradeTable> {
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
    ...('reason' in trade ? { reason: trade.reason } : { reason: null }),
    ...('settlesAt' in trade && { settles_at: trade.settlesAt }),
    ...('lastLookAt' in trade && { last_look_at: trade.lastLookAt }),
    ended_at: 'endedAt' in trade ? trade.endedAt : null,
  }
}

/** The lease under which a trade is written: a write under an older one than the bot's matches no row. */
export type Writer = { epoch: bigint }

const botsOf =
  ({ epoch }: Writer) =>
  (eb: ExpressionBuilder<Tables, 'trade'>) =>
    eb.selectFrom('bot').select('bot.id').where('lease_epoch', '=', epoch)

type Fenced = { id: bigint; from: readonly TradeRow['state'][]; writer: Writer }

/**
 * Changes a trade that is still in one of `from`; false when it moved on, or the writer's lease is old.
 * Without a writer only what was never said to Steam may be changed.
 */
export async function writeTrade(
  db: Db | Tx,
  at: Fenced | { id: bigint; from: ['intended'] },
  change: Updateable<TradeTable>,
): Promise<boolean> {
  const query = db.updateTable('trade').where('id', '=', at.id).where('state', 'in', at.from)
  const fenced =
    'writer' in at
      ? query.set({ ...change, lease_epoch: at.writer.epoch }).where('bot_id', 'in', botsOf(at.writer))
      : query.set(change)
  return (await fenced.returning('id').execute()).length === 1
}

/**
 * Begins a cancel without a lease, which its holder carries out: nothing that was learnt from Steam is touched. To be
 * called for a trade that was judged under its lock.
 */
export async function writeCancel(
  tx: Tx,
  id: bigint,
  change: { cancelling: CancelReason; due_at: Date },
): Promise<void> {
  await tx.updateTable('trade').set(change).where('id', '=', id).execute()
}

/**
 * Puts off the next look at a trade that is as it was loaded; null when none is needed. A cancel that the store began
 * meanwhile is not put off: `when` knows nothing of it.
 */
export async function later(
  db: Db,
  { row, writer }: { row: TradeRow; writer: Writer },
  when: Date | null,
): Promise<void> {
  await db
    .updateTable('trade')
    .set({ due_at: when, lease_epoch: writer.epoch })
    .where('id', '=', row.id)
    .where('state', '=', row.state)
    .where('cancelling', 'is not distinct from', row.cancelling)
    .where('bot_id', 'in', botsOf(writer))
    .execute()
}

/** The items stay with the shopper, or have left them for good: other trades may name the assets again. */
export async function freeItems(tx: Tx, tradeId: bigint): Promise<void> {
  await tx.updateTable('trade_item').set({ live: false }).where('trade_id', '=', tradeId).execute()
}

export async function writeReceived(
  tx: Tx,
  tradeId: bigint,
  received: readonly { assetId: string; newAssetId: string | null }[],
): Promise<void> {
  for (const { assetId, newAssetId } of received) {
    await tx
      .updateTable('trade_item')
      .set({ live: false, received_asset_id: newAssetId })
      .where('trade_id', '=', tradeId)
      .where('asset_id', '=', assetId)
      .execute()
  }
}

/** Trades of a bot whose offer is, or may be, open. */
export async function openTradesOf(db: Db, botId: bigint): Promise<TradeRow[]> {
  return db
    .selectFrom('trade')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('state', 'in', ['sending', 'unknown', 'active'])
    .orderBy('id')
    .execute()
}

/** Trades of the same deposit whose offers stand, at whichever bot. */
export async function otherOffersOf(tx: Tx, row: TradeRow): Promise<TradeRow[]> {
  return tx
    .selectFrom('trade')
    .selectAll()
    .where('deposit_id', '=', row.deposit_id)
    .where('id', '<>', row.id)
    .where('state', '=', 'active')
    .orderBy('id')
    .execute()
}

/** Partners with whom the bot has had a trade since then. */
export async function partnersSince(db: Db, botId: bigint, since: Date): Promise<Map<string, bigint>> {
  const rows = await db
    .selectFrom('trade')
    .select((eb) => ['partner_steam_id', eb.fn.max('deposit_id').as('deposit_id')])
    .where('bot_id', '=', botId)
    .where('created_at', '>=', since)
    .groupBy('partner_steam_id')
    .execute()
  return new Map(rows.map((row) => [row.partner_steam_id, row.deposit_id]))
}

/** What every line of the log tells of a trade. */
export const aboutTrade = (row: Pick<TradeRow, 'id' | 'deposit_id'>) => ({
  deposit: String(row.deposit_id),
  trade: String(row.id),
})

/** The bot's delivered trades that their sender may yet take back, or may have. */
export function protectedTradesOf(db: Db, botId: bigint): Promise<TradeRow[]> {
  return db
    .selectFrom('trade')
    .selectAll()
    .where('bot_id', '=', botId)
    .where((eb) => eb.or([eb('state', '=', 'held'), eb('last_look_at', 'is not', null)]))
    .where('state', 'in', ['held', 'final'])
    .orderBy('id')
    .execute()
}

/** The bot's trades by their secret codes, whatever became of them. */
export async function tradesByCode(
  db: Db,
  botId: bigint,
  codes: readonly string[],
): Promise<Map<string, TradeRow>> {
  if (codes.length === 0) return new Map()
  const rows = await db
    .selectFrom('trade')
    .selectAll()
    .where('bot_id', '=', botId)
    .where(sql<boolean>`secret_code = any(${[...codes]}::text[])`)
    .execute()
  return new Map(rows.map((row) => [row.secret_code, row]))
}

/** A trade and its deposit as they are now; both exist wherever an event of the trade is followed. */
export async function tradeAndDeposit(
  tx: Tx,
  tradeId: bigint,
): Promise<{ row: TradeRow; deposit: DepositRow }> {
  const row = await tx.selectFrom('trade').selectAll().where('id', '=', tradeId).executeTakeFirstOrThrow()
  const deposit = await lockDeposit(tx, { id: row.deposit_id })
  if (deposit === undefined) throw new Error(`trade ${tradeId} has no deposit`)
  return { row, deposit }
}

/** What every posting of a trade carries. */
export async function postingOf(tx: Tx, { deposit, row }: { deposit: DepositRow; row: TradeRow }) {
  const { rate_id: rateId } = await tx
    .selectFrom('quote')
    .select('rate_id')
    .where('id', '=', row.quote_id)
    .executeTakeFirstOrThrow()
  return {
    storeId: deposit.store_id,
    currency: row.currency,
    tradeId: row.id,
    quoteId: row.quote_id,
    rateId,
  }
}
