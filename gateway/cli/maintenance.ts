import { setMaintenance } from '../outages/service.ts'
import type { Run } from './commands.ts'

/** `maintenance on|off`: pauses new trades and the time of deposits. */
export function switchMaintenance(on: boolean): Run {
  return async ({ db, clock, terminal }) => {
    await setMaintenance({ db, clock }, on)
    terminal.print(
      on
        ? 'Maintenance is on: no new trade begins and no deposit expires. Trades under way go on.'
        : 'Maintenance is off: trades begin again, and deposits got back the time that stood still.',
    )
  }
}
