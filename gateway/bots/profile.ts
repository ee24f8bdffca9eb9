import type { Db } from '../db/client.ts'
import type { Steam } from '../steam/steam.ts'
import { type Lease, noteProfile } from './lease-store.ts'

/**
 * Asks Steam for the day on which the account joined, if it is unknown, and stores it with the level. A private profile
 * does not show the day, so nothing changes. Writes nothing once `stop` aborts.
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
