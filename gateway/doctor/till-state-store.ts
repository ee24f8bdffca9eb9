import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { VAULT_ROLE } from '../db/roles.ts'
import type { Pause, VaultState } from './till-state.ts'

const MOST_PAUSES = 5
const PAUSE_MS = 1_000

/** Waits some seconds for a vault that was started a moment ago, as at the end of an upgrade. */
export async function awaitVault(
  db: Db,
  pause = () => delay(PAUSE_MS),
  vaultRole = VAULT_ROLE,
): Promise<VaultState> {
  for (let pauses = 0; ; pauses += 1) {
    const state = await readVault(db, vaultRole)
    if (state.role !== 'granted' || state.connected > 0 || pauses === MOST_PAUSES) return state
    await pause()
  }
}

export async function readVault(db: Db, vaultRole = VAULT_ROLE): Promise<VaultState> {
  const { rows } = await sql<{ hasRights: boolean | null; connected: number; unanswered: number }>`
    select (select has_table_privilege(oid, 'wish', 'select')
          and has_function_privilege(oid, 'hold_open_wish(bigint)', 'execute')
        from pg_roles where rolname = ${vaultRole}) as "hasRights",
      (select count(*)::int from pg_stat_activity where usename = ${vaultRole} and datname = current_database())
        as connected,
      (select count(*)::int from wish left join vault_deed on wish_id = wish.id
        where closed_at is null and wish_id is null and created_at < till_now() - interval '15 minutes') as unanswered`.execute(
    db,
  )
  const [row] = rows
  if (row === undefined) throw new Error('the database did not answer')
  const { hasRights, ...state } = row
  return { ...state, role: hasRights === null ? 'absent' : hasRights ? 'granted' : 'not_granted' }
}

export const readPauses = (db: Db): Promise<Pause[]> =>
  db.selectFrom('outage').select(['kind', 'since', 'ends_at as until']).orderBy('kind').execute()
