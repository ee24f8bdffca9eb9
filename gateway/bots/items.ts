import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import { recordCustody } from '../ledger/store.ts'
import { type HeldItem, heldItems } from './held-item-store.ts'
import { lockTradeOfItem } from './item-store.ts'

/**
 * `not_an_item`: the id has the wrong form. `not_held`: no bot has the item. `protected`: its trade is still `held`, so
 * its sender may still take it back.
 */
export type MoveAnswer =
  | { kind: 'moved'; item: HeldItem }
  | { kind: 'refused'; reason: 'not_an_item' | 'not_held' | 'protected' }

const ITEM = /^([1-9]\d{0,17})-(\d{1,20})$/

/**
 * Reads the id of an item: trade id and shopper's asset id, such as `12-345`. Accepts one spelling only, because the
 * check of the ledger compares the texts in the records of acts.
 */
export function parseItem(item: string): { tradeId: bigint; assetId: string } | undefined {
  const [, trade = '', assetId = ''] = ITEM.exec(item) ?? []
  return assetId === '' ? undefined : { tradeId: BigInt(trade), assetId }
}

/** Records that the operator took the item from the bot. */
export function moveItem({ db, clock }: { db: Db | Tx; clock: Clock }, item: string): Promise<MoveAnswer> {
  const key = parseItem(item)
  if (key === undefined) return Promise.resolve({ kind: 'refused', reason: 'not_an_item' })
  const { tradeId, assetId } = key
  return inTransaction(db, async (tx): Promise<MoveAnswer> => {
    const row = await lockTradeOfItem(tx, tradeId)
    const [held] = await heldItems(tx, { item: { tradeId, assetId } })
    if (row === undefined || held === undefined) return { kind: 'refused', reason: 'not_held' }
    if (row.state === 'held') return { kind: 'refused', reason: 'protected' }
    const moved = { tradeId, botId: held.botId, at: clock.now(), moved: 'out' } as const
    await recordCustody(tx, moved, [{ assetId, receivedAssetId: held.assetId }])
    return { kind: 'moved', item: held }
  })
}
