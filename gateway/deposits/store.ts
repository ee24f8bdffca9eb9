import type { Selectable } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import type { DepositTable } from '../db/schema.ts'
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
