import type { Db, Tx } from '../db/client.ts'
import type { Address, Allowance, FindAllowance } from './url.ts'

export type AllowedAddress = Address & Allowance & { allowedAt: Date }

/** Returns a function that resolves to the operator's permission for an address; undefined if there is none. */
export const allowanceFinder =
  (db: Db | Tx): FindAllowance =>
  (storeId, { host, port }) =>
    db
      .selectFrom('webhook_address')
      .select('inside')
      .where('store_id', '=', storeId)
      .where('host', '=', host)
      .where('port', '=', port)
      .executeTakeFirst()

/** Returns the allowed addresses of a store, ordered by host and port. */
export const allowedAddresses = (db: Db | Tx, storeId: bigint): Promise<AllowedAddress[]> =>
  db
    .selectFrom('webhook_address')
    .select(['host', 'port', 'inside', 'allowed_at as allowedAt'])
    .where('store_id', '=', storeId)
    .orderBy('host')
    .orderBy('port')
    .execute()

type NewAllowance = { storeId: bigint; address: Address; inside: boolean; now: Date }

/** Allows an address. An address that was allowed to lead inside the network keeps that permission. */
export async function allowAddress(tx: Tx, { storeId, address, inside, now }: NewAllowance): Promise<void> {
  await tx
    .insertInto('webhook_address')
    .values({ store_id: storeId, ...address, inside, allowed_at: now })
    .onConflict((conflict) => {
      const sameAddress = conflict.columns(['store_id', 'host', 'port'])
      return inside ? sameAddress.doUpdateSet({ inside }) : sameAddress.doNothing()
    })
    .execute()
}

/** Forbids an address. Resolves to false if it was not allowed. */
export async function forbidAddress(tx: Tx, storeId: bigint, { host, port }: Address): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('webhook_address')
    .where('store_id', '=', storeId)
    .where('host', '=', host)
    .where('port', '=', port)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
