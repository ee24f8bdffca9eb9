/** Accounts that may not pay: the till's own bots, and those that the operator denied. */
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'

/** Retired bots too: their accounts hold items of stores. */
export async function isOwnBot(db: Db | Tx, steamId: string): Promise<boolean> {
  const row = await db
    .selectFrom('bot')
    .select('id')
    .where('steam_id', '=', steamId)
    .where('state', '!=', 'removed')
    .executeTakeFirst()
  return row !== undefined
}

/** True of an account with which nobody may pay. */
export async function isRefused(db: Db | Tx, steamId: string): Promise<boolean> {
  const { rows } = await sql<{ isRefused: boolean }>`
    select exists (select from denied_shopper where steam_id = ${steamId})
      or exists (select from bot where steam_id = ${steamId} and state <> 'removed') as "isRefused"`.execute(
    db,
  )
  return rows[0]?.isRefused === true
}
