/** Trades that a transaction has locked, with everything that the lock keeps unchanged. */
import { type Selectable, sql } from 'kysely'
import type { Phase } from '../../contract/games.ts'
import type { Tx } from '../db/client.ts'
import { RETRYABLE_TRADE_STATES, type TradeStateColumn, type TradeTable } from '../db/trade-tables.ts'
import type { DepositRow } from '../deposits/store.ts'
import type { ShownTrade } from '../deposits/store-deposit.ts'
import type { SeenRoom } from '../ledger/room-store.ts'
import type { Accounts } from '../ledger/store.ts'
import { botGone, type TradeRow } from './store.ts'

/** Amounts as text: a JSON number would be a float. */
type LockedItem = {
  appId: number
  contextId: string
  assetId: string
  name: string
  marketHashName: string
  phase: Phase | null
  price: string
  gross: string
  isReversed: boolean
}

/** Another trade of the same deposit, in a state that the deposit can show. */
type OtherTrade = { id: string; state: TradeStateColumn; deliveredAtMs: number | null }

export type LockedTrade = TradeRow & { bot_gone: boolean; items: LockedItem[]; others: OtherTrade[] }

/**
 * The money of a trade, as read. `seen`: what was promised of the store's limit; undefined unless the trade can use
 * the limit.
 */
export type Money = { rateId: bigint; accounts: Accounts; seen: SeenRoom | undefined }

/** The locked rows, and the columns written since. */
export type LockedRows = {
  deposit: DepositRow
  row: LockedTrade
  written: Partial<Selectable<TradeTable>>
  money: Money | undefined
}

/** Lock the deposit in an earlier statement: only then does this one see the current items and other trades. */
export function lockTradeRow(tx: Tx, id: bigint): Promise<LockedTrade | undefined> {
  return tx
    .selectFrom('trade')
    .selectAll()
    .select([
      botGone,
      sql<
        LockedItem[]
      >`(select coalesce(jsonb_agg(jsonb_build_object('appId', app_id, 'contextId', context_id,
          'assetId', asset_id, 'name', name, 'marketHashName', market_hash_name, 'phase', phase,
          'price', price::text, 'gross', gross::text, 'isReversed', reversed_at is not null) order by asset_id), '[]')
        from trade_item where trade_id = trade.id)`.as('items'),
      sql<
        OtherTrade[]
      >`(select coalesce(jsonb_agg(jsonb_build_object('id', other.id::text, 'state', other.state,
          'deliveredAtMs', (extract(epoch from other.delivered_at) * 1000)::bigint) order by other.id), '[]')
        from trade other where other.deposit_id = trade.deposit_id and other.id <> trade.id
          and other.state <> all(${[...RETRYABLE_TRADE_STATES]}::text[]))`.as('others'),
    ])
    .where('id', '=', id)
    .forUpdate('trade')
    .executeTakeFirst()
}

/** The trade as its deposit will show it; undefined if the deposit will not show it. */
export function shownAs(
  { id, items, others, ...row }: LockedTrade,
  reversed: ReadonlySet<string>,
): ShownTrade | undefined {
  if (RETRYABLE_TRADE_STATES.some((state) => state === row.state)) return undefined
  const deliveredAt = row.delivered_at?.getTime() ?? Number.NEGATIVE_INFINITY
  for (const other of others) {
    const otherAt = other.deliveredAtMs ?? Number.NEGATIVE_INFINITY
    if (otherAt > deliveredAt || (otherAt === deliveredAt && BigInt(other.id) > id)) return undefined
  }
  return {
    ...row,
    items: items.map((item) => ({
      asset_id: item.assetId,
      name: item.name,
      market_hash_name: item.marketHashName,
      phase: item.phase,
      price: BigInt(item.price),
      isReversed: item.isReversed || reversed.has(item.assetId),
    })),
  }
}
