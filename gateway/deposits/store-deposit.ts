/** Deposits as their store sees them, in the answers to its calls and in its events. */
import type { Selectable } from 'kysely'
import { GAMES, type Phase } from '../../contract/games.ts'
import { isFinal } from '../../contract/statuses.ts'
import type { ListDepositsQuery, StoreDeposit } from '../../contract/store-api.ts'
import type { Db, Tx } from '../db/client.ts'
import type { TradeTable } from '../db/trade-tables.ts'
import { numberOrNull } from '../kit/number-or-null.ts'
import { receiptPath } from './receipt-link.ts'
import type { DepositRow } from './store.ts'
import {
  type DepositKey,
  findDeposit,
  itemsOfTrades,
  type NumberedDeposit,
  pageOfDeposits,
  shownTradesOf,
} from './view-store.ts'

type Trade = NonNullable<StoreDeposit['trade']>

/** The trade shown with a deposit; its items are ordered by asset id. */
export type ShownTrade = Pick<
  Selectable<TradeTable>,
  'game' | 'partner_steam_id' | 'steam_offer_id' | 'steam_trade_id' | 'reason'
> & { items: readonly ShownItem[] }

type ShownItem = {
  asset_id: string
  name: string
  market_hash_name: string
  phase: Phase | null
  price: bigint
  isReversed: boolean
}

export async function storeDepositOf(
  db: Db | Tx,
  by: DepositKey,
  publicUrl: string,
): Promise<StoreDeposit | undefined> {
  const row = await findDeposit(db, by)
  return row && (await toStoreDeposits(db, [row], publicUrl))[0]
}

export async function withShownTrade(db: Db | Tx, row: DepositRow, publicUrl: string): Promise<StoreDeposit> {
  return toStoreDeposit(row, (await tradesOf(db, [row.id])).get(row.id) ?? null, publicUrl)
}

export type DepositPage = { deposits: StoreDeposit[]; next: string | null }

/** Lists deposits, newest first. Runs one query for the rows, and two for their trades and items. */
export async function listDeposits(
  db: Db,
  storeId: bigint,
  { query, publicUrl }: { query: ListDepositsQuery; publicUrl: string },
): Promise<DepositPage> {
  const rows = await pageOfDeposits(db, storeId, query)
  const shown = rows.slice(0, query.limit)
  const last = shown.at(-1)
  return {
    deposits: await toStoreDeposits(db, shown, publicUrl),
    next: rows.length > query.limit && last !== undefined ? String(last.id) : null,
  }
}

async function toStoreDeposits(
  db: Db | Tx,
  rows: readonly NumberedDeposit[],
  publicUrl: string,
): Promise<StoreDeposit[]> {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.id)
  const trades = await tradesOf(db, ids)
  return rows.map((row) => toStoreDeposit(row, trades.get(row.id) ?? null, publicUrl))
}

/**
 * Returns a deposit as its store sees it. Without `last_sequence` its sequence is 0: an event is stored before it gets
 * its number, and readers add the number later.
 */
export function toStoreDeposit(
  row: DepositRow & Partial<Pick<NumberedDeposit, 'last_sequence'>>,
  shown: ShownTrade | null,
  publicUrl: string,
): StoreDeposit {
  const trade = shown && tradeOf(shown)
  const credited = row.credited_amount ?? 0n
  return {
    id: String(row.id),
    externalId: row.external_id,
    sequence: Number(row.last_sequence ?? 0n),
    url: `${publicUrl}/deposit/${row.hash}`,
    receiptUrl: isFinal(row.status) ? `${publicUrl}${receiptPath(row.id, row.hash)}` : null,
    status: row.status,
    endReason: endReasonOf(row, trade),
    currency: row.currency,
    amount: numberOrNull(row.credited_amount),
    heldAmount: Number(row.held_amount),
    heldUntil: row.held_until?.toISOString() ?? null,
    reversedAmount: Number(row.reversed_amount),
    chargedAmount: Number(row.charged_amount),
    availableAmount: Number(credited - row.held_amount - row.charged_amount),
    minAmount: numberOrNull(row.min_amount),
    maxAmount: numberOrNull(row.max_amount),
    targetAmount: numberOrNull(row.target_amount),
    games: row.games ?? [...GAMES],
    language: row.language,
    embedOrigin: row.embed_origin,
    customerReference: row.customer_reference,
    customerLabel: row.customer_label,
    shopper:
      row.shopper_steam_id === null ? null : { steamId: row.shopper_steam_id, lock: row.shopper_locked },
    metadata: row.metadata,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    trade,
  }
}

function endReasonOf({ status, cancelled_at: cancelledAt }: DepositRow, trade: Trade | null): string | null {
  switch (status) {
    case 'created':
    case 'pending':
    case 'succeeded':
      return null
    case 'paymentTimeout':
      return cancelledAt === null ? 'expired' : 'cancelled_by_store'
    case 'tradeTimeout':
    case 'tradeDeclined':
    case 'tradeCountered':
    case 'tradeHasInvalidItems':
      return trade?.reason ?? null
    default:
      return status satisfies never
  }
}

async function tradesOf(db: Db | Tx, depositIds: readonly bigint[]): Promise<Map<bigint, ShownTrade>> {
  const trades = await shownTradesOf(db, depositIds)
  if (trades.length === 0) return new Map()
  const ids = trades.map(({ id }) => id)
  const items = (await itemsOfTrades(db, ids)).map((item) => ({
    ...item,
    isReversed: item.reversed_at !== null,
  }))
  const byTrade = Map.groupBy(items, (item) => item.trade_id)
  return new Map(trades.map((trade) => [trade.deposit_id, { ...trade, items: byTrade.get(trade.id) ?? [] }]))
}

const tradeOf = ({ items, ...trade }: ShownTrade): Trade => ({
  game: trade.game,
  partnerSteamId: trade.partner_steam_id,
  steamOfferId: trade.steam_offer_id,
  steamTradeId: trade.steam_trade_id,
  reason: trade.reason,
  items: items.map((item) => ({
    assetId: item.asset_id,
    name: item.name,
    marketHashName: item.market_hash_name,
    phase: item.phase,
    price: Number(item.price),
    reversed: item.isReversed,
  })),
})
