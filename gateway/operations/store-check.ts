import type { Db } from '../db/client.ts'
import { type Refused, refused } from './operation.ts'
import { findStore } from './store.ts'

/** Refuses a store that does not exist, which would otherwise look like a store without any rows. */
export async function unknownStore(db: Db, storeId: bigint | undefined): Promise<Refused | undefined> {
  if (storeId === undefined || (await findStore(db, storeId)) !== undefined) return undefined
  return noStore(storeId)
}

export const noStore = (storeId: bigint): Refused => refused('not_found', `There is no store ${storeId}.`)
