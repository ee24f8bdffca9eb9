/** Completes the stored profile of a bot. */
import type { Db } from '../db/client.ts'
import type { Steam } from '../steam/steam.ts'
import { type Lease, noteProfile } from './lease-store.ts'

/**
 * Reads the profile if the day on which the account joined Steam is unknown, and writes it with the level. It asks once
 * for each opened session, beside the bot's work, and within the deadline of a call to Steam. A private profile does
 * not show the day, so nothing changes. Writes nothing once `stop` aborts.
 */
export async function completeProfile(
  { db, steam }: { db: Db; steam: Pick<Steam, 'readProfile'> },
  lease: Lease,
  stop: AbortSignal,
): Promise<void> {
  if (lease.memberSince !== null) return
  const answer = await steam.readProfile(lease.steamId)
  if (stop.aborted || answer.kind !== 'profile') return
  const { memberSince, level } = answer.profile
  if (memberSince === null) return
  await noteProfile(db, lease, { memberSince, level })
  lease.memberSince = memberSince
}
