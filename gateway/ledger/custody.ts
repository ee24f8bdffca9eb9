/** The ledger of items: every change of hands is one row that nobody changes later. */
import type { Tx } from '../db/client.ts'

type Moved = { assetId: string; receivedAssetId: string | null }

/** The items of a trade came to the bot (`in`), went back to their sender (`back`), or left for good (`out`). */
export async function recordCustody(
  tx: Tx,
  of: { tradeId: bigint; botId: bigint; at: Date; moved: 'in' | 'back' | 'out' },
  items: readonly Moved[],
): Promise<void> {
  if (items.length === 0) return
  await tx
    .insertInto('custody_entry')
    .values(
      items.map(({ assetId, receivedAssetId }) => ({
        trade_id: of.tradeId,
        asset_id: assetId,
        received_asset_id: receivedAssetId,
        bot_id: of.botId,
        moved: of.moved,
        created_at: of.at,
      })),
    )
    .execute()
}
