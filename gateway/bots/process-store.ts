import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import type { LiveProcess } from './spread.ts'
import { LEASABLE_STATES } from './store.ts'

/** As long as a lease, so a killed process is no longer counted when its bots become free. */
const SILENT_AFTER = '25 seconds'

/** A heartbeat in the future is from before the database's clock was set back. A running process beats again soon. */
const isSilent = sql<boolean>`beat_at not between now() - ${SILENT_AFTER}::interval and now() + ${SILENT_AFTER}::interval`

/** Writes this process's heartbeat, and deletes the rows of processes whose heartbeats have stopped. */
export async function beatProcess(
  db: Db,
  { owner, maxBots, keyFingerprint }: LiveProcess & { keyFingerprint: string },
): Promise<void> {
  const values = { owner, max_bots: maxBots, beat_at: sql<Date>`now()`, key_fingerprint: keyFingerprint }
  await db
    .insertInto('gateway_process')
    .values(values)
    .onConflict((conflict) => conflict.column('owner').doUpdateSet(values))
    .execute()
  await db.deleteFrom('gateway_process').where(isSilent).execute()
}

export async function endProcess(db: Db, owner: string): Promise<void> {
  await db.deleteFrom('gateway_process').where('owner', '=', owner).execute()
}

/**
 * `bots`: the number of bots that the live processes share. `keyFingerprint`: that of the master key with which a
 * process seals; null if its version does not record it.
 */
export async function readSpread(
  db: Db,
): Promise<{ processes: (LiveProcess & { keyFingerprint: string | null })[]; bots: number }> {
  const processes = await db
    .selectFrom('gateway_process')
    .select(['owner', 'max_bots as maxBots', 'key_fingerprint as keyFingerprint'])
    .where((eb) => eb.not(isSilent))
    .orderBy('owner')
    .execute()
  const { bots } = await db
    .selectFrom('bot')
    .select((eb) => eb.fn.countAll<bigint>().as('bots'))
    .where('state', 'in', LEASABLE_STATES)
    .executeTakeFirstOrThrow()
  return { processes, bots: Number(bots) }
}

/** Number of live processes whose recorded key fingerprint is another one or is missing. */
export async function countProcessesWithOtherKeys(db: Db, keyFingerprint: string): Promise<number> {
  const { others } = await db
    .selectFrom('gateway_process')
    .select((eb) => eb.fn.countAll<bigint>().as('others'))
    .where((eb) => eb.not(isSilent))
    .where('key_fingerprint', 'is distinct from', keyFingerprint)
    .executeTakeFirstOrThrow()
  return Number(others)
}
