import { type Insertable, type Selectable, sql } from 'kysely'
import type { Game } from '../../contract/games.ts'
import type { Db, Tx } from '../db/client.ts'
import type { DepositTable } from '../db/schema.ts'
import { DELIVERED_TRADE_STATES, OPEN_TRADE_STATES } from '../db/trade-tables.ts'
import type { Profile } from '../steam/steam.ts'

export type DepositRow = Selectable<DepositTable>

type SealedToken = Pick<DepositRow, 'user_token' | 'user_token_sealed'>

/** Locks the deposit. Every change of a deposit's status, or of the state of its trades, starts here. */
export function lockDeposit(tx: Tx, by: { id: bigint } | { hash: string }): Promise<DepositRow | undefined> {
  const query = tx.selectFrom('deposit').selectAll().forUpdate()
  const narrowed = 'id' in by ? query.where('id', '=', by.id) : query.where('hash', '=', by.hash)
  return narrowed.executeTakeFirst()
}

export function findByHash(db: Db, hash: string): Promise<DepositRow | undefined> {
  return db.selectFrom('deposit').selectAll().where('hash', '=', hash).executeTakeFirst()
}

export async function depositExists(db: Db, hash: string): Promise<boolean> {
  const row = await db.selectFrom('deposit').select('id').where('hash', '=', hash).executeTakeFirst()
  return row !== undefined
}

/** Returns the origin that may frame the deposit's page, if there is one and the store still has it registered. */
export async function embedOriginOf(db: Db, hash: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('deposit')
    .innerJoin('store', 'store.id', 'deposit.store_id')
    .select('embed_origin')
    .where('hash', '=', hash)
    .where(sql<boolean>`embed_origin = any(store.origins)`)
    .executeTakeFirst()
  return row?.embed_origin ?? undefined
}

/** The part of a row that `decideDeposit` needs. */
export const lifeOf = ({ status, expires_at: expiresAt }: DepositRow) => ({ status, expiresAt })

/** Returns the deposit's id; undefined if the store already has a deposit with this externalId. */
export async function insertDeposit(tx: Tx, values: Insertable<DepositTable>): Promise<bigint | undefined> {
  const inserted = await tx
    .insertInto('deposit')
    .values(values)
    .onConflict((conflict) => conflict.columns(['store_id', 'external_id']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted?.id
}

/** Returns the games that the operator allows the store; null for all. */
export async function gamesOfStore(db: Db | Tx, storeId: bigint): Promise<Game[] | null> {
  const row = await db.selectFrom('store').select('games').where('id', '=', storeId).executeTakeFirst()
  return row?.games ?? null
}

/** A disabled store can open no deposit, and its deposits get no new offers. Open offers continue. */
export async function isStoreDisabled(tx: Tx, storeId: bigint): Promise<boolean> {
  const row = await tx.selectFrom('store').select('disabled_at').where('id', '=', storeId).executeTakeFirst()
  return row !== undefined && row.disabled_at !== null
}

/** Counts the store's open deposits, up to `most`. */
export async function countOpenDeposits(tx: Tx, storeId: bigint, most: number): Promise<number> {
  const openDeposits = tx
    .selectFrom('deposit')
    .select('id')
    .where('store_id', '=', storeId)
    .where('status', 'in', ['created', 'pending'])
    .limit(most)
  const { count } = await tx
    .selectFrom(openDeposits.as('open'))
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Returns the row of the store's deposit with this externalId. Rejects if there is none. */
export function depositOfOrder(tx: Tx, { storeId, externalId }: { storeId: bigint; externalId: string }) {
  return tx
    .selectFrom('deposit')
    .selectAll()
    .where('store_id', '=', storeId)
    .where('external_id', '=', externalId)
    .executeTakeFirstOrThrow()
}

/**
 * Returns the trade link that the store gave; undefined once the shopper is known, or if the deposit is not `created`.
 */
export function linkToResolve(db: Db, id: bigint) {
  return db
    .selectFrom('deposit')
    .select(['hash', 'user_steam_id as steamId', 'user_token', 'user_token_sealed'])
    .where('id', '=', id)
    .where('status', '=', 'created')
    .where('user_name', 'is', null)
    .executeTakeFirst()
}

export async function setShopper(
  tx: Tx,
  depositId: bigint,
  { steamId, sealed, profile }: { steamId: string; sealed: SealedToken; profile: Profile },
): Promise<void> {
  await tx
    .updateTable('deposit')
    .set({
      user_steam_id: steamId,
      ...sealed,
      user_name: profile.name,
      user_avatar_url: profile.avatarUrl,
      user_profile_url: profile.profileUrl,
    })
    .where('id', '=', depositId)
    .execute()
}

/** True if a trade of the deposit is open or was delivered, even if it was reversed since. */
export async function hasOpenOrDeliveredTrade(tx: Tx, depositId: bigint): Promise<boolean> {
  const row = await tx
    .selectFrom('trade')
    .select('id')
    .where('deposit_id', '=', depositId)
    .where('state', 'in', [...OPEN_TRADE_STATES, ...DELIVERED_TRADE_STATES])
    .executeTakeFirst()
  return row !== undefined
}
