/** Rows that only operators read or write. */
import type { Db, Tx } from '../db/client.ts'

export type NewAct = {
  at: Date
  operator: string
  act: string
  /** JSON without secrets. */
  arguments: string
  reason: string | null
}

export async function insertAct(tx: Tx, act: NewAct): Promise<void> {
  await tx.insertInto('operator_act').values(act).execute()
}

export type ActFilter = {
  act?: string | undefined
  operator?: string | undefined
  since?: Date | undefined
  /** Only acts with a smaller number: the next page. */
  before?: bigint | undefined
  limit: number
}

/** Newest first. */
export function selectActs(db: Db, { act, operator, since, before, limit }: ActFilter) {
  return db
    .selectFrom('operator_act')
    .select(['id as actId', 'at', 'operator', 'act', 'arguments', 'reason'])
    .$if(act !== undefined, (query) => query.where('act', '=', act ?? ''))
    .$if(operator !== undefined, (query) => query.where('operator', '=', operator ?? ''))
    .$if(since !== undefined, (query) => query.where('at', '>=', since ?? new Date(0)))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0n))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** A store's settings. */
export function findStore(db: Db | Tx, storeId: bigint) {
  return db.selectFrom('store').selectAll().where('id', '=', storeId).executeTakeFirst()
}
