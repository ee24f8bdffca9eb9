import { type Selectable, sql, type Updateable } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { DELIVERED_TRADE_STATES, OPEN_TRADE_STATES, type TradeTable } from '../db/schema.ts'
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
  if (row === undefined) return undefined
  const items = await db
    .selectFrom('trade_item')
    .select(['app_id', 'context_id', 'asset_id'])
    .where('trade_id', '=', id)
    .orderBy('asset_id')
    .execute()
  const assets = items.map((item) => ({
    appId: item.app_id,
    contextId: item.context_id,
    assetId: item.asset_id,
  }))
  return { trade: tradeOf(row, assets), row }
}

const CANCEL_REASONS: readonly string[] = [
  'deadline',
  'escrow',
  'needs_confirmation',
] satisfies CancelReason[]

function tradeOf(row: TradeRow, items: Trade['items']): Trade {
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
    case 'active': {
      const { bad_end: state, bad_end_seen_at: seenAt, reason } = row
      const isCancel = (text: string | null): text is CancelReason =>
        text !== null && CANCEL_REASONS.includes(text)
      return {
        ...common,
        state: row.state,
        offerId: must(row, 'steam_offer_id'),
        deadline: must(row, 'deadline'),
        acceptedAt: row.accepted_at,
        steamTradeId: row.steam_trade_id,
        cancelling: isCancel(reason) ? reason : null,
        badEnd: state === null || seenAt === null ? null : { state, seenAt },
      }
    }
    case 'held':
      return {
        ...common,
        state: row.state,
        steamTradeId: must(row, 'steam_trade_id'),
        settlesAt: must(row, 'settles_at'),
      }
    case 'final':
      return { ...common, state: row.state }
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
        endedAt: must(row, 'ended_at'),
      }
    default:
      return row.state satisfies never
  }
}

/** A column that a state promises to hold. */
function must<K extends keyof TradeRow>(row: TradeRow, column: K): NonNullable<TradeRow[K]> {
  const value = row[column]
  if (value === null || value === undefined)
    throw new Error(`trade ${row.id} is ${row.state} without ${column}`)
  return value
}

/** The lease under which a trade is written: a write under an older one than the bot's matches no row. */
export type Writer = { epoch: bigint }

/**
 * Changes a trade that is still in one of `from`; false when it moved on, or the writer's lease is old.
 * Without a writer only what was never said to Steam may be changed.
 */
export async function writeTrade(
  db: Db | Tx,
  at: { id: bigint; from: readonly TradeRow['state'][]; writer: Writer } | { id: bigint; from: ['intended'] },
  change: Updateable<TradeTable>,
): Promise<boolean> {
  const query = db.updateTable('trade').where('id', '=', at.id).where('state', 'in', at.from)
  const fenced =
    'writer' in at
      ? query
          .set({ ...change, lease_epoch: at.writer.epoch })
          .where('bot_id', 'in', (eb) =>
            eb.selectFrom('bot').select('bot.id').where('lease_epoch', '=', at.writer.epoch),
          )
      : query.set(change)
  return (await fenced.returning('id').execute()).length === 1
}

/** Puts off the next look at a trade that is as it was loaded; null when none is needed. */
export async function later(
  db: Db,
  at: { loaded: LoadedTrade; writer: Writer; when: Date | null },
): Promise<void> {
  const { row } = at.loaded
  await writeTrade(db, { id: row.id, from: [row.state], writer: at.writer }, { due_at: at.when })
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
