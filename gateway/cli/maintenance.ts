import type { Db } from '../db/client.ts'
import { systemClock } from '../kit/clock.ts'
import { setMaintenance } from '../outages/service.ts'

/** `maintenance on|off`: pauses new trades and the time of deposits. */
export async function switchMaintenance(db: Db, on: boolean): Promise<void> {
  await setMaintenance({ db, clock: systemClock }, on)
  console.log(
    on
      ? 'Maintenance is on: no new trade begins and no deposit expires. Trades under way go on.'
      : 'Maintenance is off: trades begin again, and deposits got back the time that stood still.',
  )
}
