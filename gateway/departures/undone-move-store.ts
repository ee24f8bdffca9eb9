/** Takes back an operator's record that an item left its bot. */
import { sql } from 'kysely'
import type { Tx } from '../db/client.ts'
import { recordCustody } from '../ledger/store.ts'
import { currentSaleOf, type ItemKey } from './sale-store.ts'

/**
 * `unchanged`: the record was taken back before. `unknown`: no bot ever had the item. `not_moved`: the last change of
 * the item's custody is not an operator's record that it left. `sold`: a sale of the item is recorded too. `left`: the
 * bot gave the item away in a Steam trade.
 */
export type UndoAnswer =
  | { kind: 'undone' | 'unchanged'; bot: string }
  | { kind: 'refused'; reason: 'unknown' | 'not_moved' | 'sold' | 'left' }

type LastEntry = {
  id: bigint
  moved: 'in' | 'back' | 'out'
  departureId: bigint | null
  undoes: bigint | null
  botId: bigint
  bot: string
  receivedAssetId: string | null
  hasLeft: boolean
}

/** Books the item to its bot again. Locks its trade, as every change of custody does. */
export async function undoMove(tx: Tx, item: ItemKey, at: Date): Promise<UndoAnswer> {
  await tx.selectFrom('trade').select('id').where('id', '=', item.tradeId).forUpdate().execute()
  const last = await lastEntryOf(tx, item)
  if (last === undefined) return { kind: 'refused', reason: 'unknown' }
  const { id, moved, departureId, undoes, botId, bot, receivedAssetId, hasLeft } = last
  if (undoes !== null) return { kind: 'unchanged', bot }
  if (moved !== 'out' || departureId !== null) return { kind: 'refused', reason: 'not_moved' }
  if ((await currentSaleOf(tx, item)) !== undefined) return { kind: 'refused', reason: 'sold' }
  if (hasLeft) return { kind: 'refused', reason: 'left' }
  const { tradeId, assetId } = item
  await recordCustody(tx, { tradeId, botId, at, moved: 'in', undoes: id }, [{ assetId, receivedAssetId }])
  return { kind: 'undone', bot }
}

async function lastEntryOf(tx: Tx, { tradeId, assetId }: ItemKey): Promise<LastEntry | undefined> {
  const { rows } = await sql<LastEntry>`
    select entry.id, entry.moved, entry.departure_id as "departureId", entry.undoes, entry.bot_id as "botId", bot.name as bot,
      entry.received_asset_id as "receivedAssetId", exists (
        select from departure join departed_item gone on gone.departure_id = departure.id
        where departure.bot_id = entry.bot_id and departure.stage in ('under_way', 'gone') and not gone.is_back
          and gone.asset_id = entry.received_asset_id and gone.app_id = item.app_id) as "hasLeft"
    from custody_entry entry join bot on bot.id = entry.bot_id
    join trade_item item on item.trade_id = entry.trade_id and item.asset_id = entry.asset_id
    where entry.trade_id = ${tradeId} and entry.asset_id = ${assetId}
    order by entry.id desc limit 1`.execute(tx)
  return rows[0]
}
