import type { Selectable } from 'kysely'
import type { StoreDeposit } from '../../contract/store-api.ts'
import type { Db, Tx } from '../db/client.ts'
import { type DepositTable, FORGOTTEN_TRADE_STATES } from '../db/schema.ts'
import { type DepositCause, decideDeposit } from './deposit.ts'

export type DepositRow = Selectable<DepositTable>

/** Locks the deposit: every change of a deposit or of its trades begins here. */
export function lockDeposit(tx: Tx, by: { id: bigint } | { hash: string }): Promise<DepositRow | undefined> {
  const query = tx.selectFrom('deposit').selectAll().forUpdate()
  const found = 'id' in by ? query.where('id', '=', by.id) : query.where('hash', '=', by.hash)
  return found.executeTakeFirst()
}

export function findByHash(db: Db, hash: string): Promise<DepositRow | undefined> {
  return db.selectFrom('deposit').selectAll().where('hash', '=', hash).executeTakeFirst()
}

/** What the pure rules need to know of a row. */
export const lifeOf = ({ status, expires_at: expiresAt }: DepositRow) => ({ status, expiresAt })

/** Moves a locked deposit where the cause leads; null when that is nowhere. */
export async function moveDeposit(
  tx: Tx,
  deposit: DepositRow,
  cause: Exclude<DepositCause, { kind: 'delivered' }>,
): Promise<ReturnType<typeof decideDeposit>> {
  const status = decideDeposit(lifeOf(deposit), cause)
  if (status === null) return null
  await tx.updateTable('deposit').set({ status }).where('id', '=', deposit.id).execute()
  return status
}

/** The deposit as its store sees it, or undefined if the store has no such deposit. */
export async function storeDepositOf(
  db: Db | Tx,
  by: { depositId: bigint; storeId?: bigint },
  publicUrl: string,
): Promise<StoreDeposit | undefined> {
  const query = db.selectFrom('deposit').selectAll().where('id', '=', by.depositId)
  const owned = by.storeId === undefined ? query : query.where('store_id', '=', by.storeId)
  const deposit = await owned.executeTakeFirst()
  if (deposit === undefined) return undefined
  return {
    id: String(deposit.id),
    externalId: deposit.external_id,
    url: `${publicUrl}/deposit/${deposit.hash}`,
    status: deposit.status,
    currency: deposit.currency,
    amount: deposit.credited_amount === null ? null : Number(deposit.credited_amount),
    heldAmount: Number(deposit.held_amount),
    heldUntil: deposit.held_until?.toISOString() ?? null,
    reversedAmount: Number(deposit.reversed_amount),
    createdAt: deposit.created_at.toISOString(),
    expiresAt: deposit.expires_at.toISOString(),
    trade: await tradeOf(db, deposit.id),
  }
}

async function tradeOf(db: Db | Tx, depositId: bigint): Promise<StoreDeposit['trade']> {
  const trade = await db
    .selectFrom('trade')
    .select(['id', 'game', 'steam_offer_id', 'reason'])
    .where('deposit_id', '=', depositId)
    .where('state', 'not in', FORGOTTEN_TRADE_STATES)
    // Of several the one that brought the items.
    .orderBy('delivered_at', (order) => order.desc().nullsLast())
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (trade === undefined) return null
  const items = await db
    .selectFrom('trade_item')
    .select(['asset_id', 'name', 'price'])
    .where('trade_id', '=', trade.id)
    .orderBy('asset_id')
    .execute()
  return {
    game: trade.game,
    steamOfferId: trade.steam_offer_id,
    reason: trade.reason,
    items: items.map((item) => ({ assetId: item.asset_id, name: item.name, price: Number(item.price) })),
  }
}
