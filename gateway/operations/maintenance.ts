import { setMaintenance } from '../outages/service.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, unchanged } from './operation.ts'

export type MaintenanceView = { on: boolean }

/** While it is on, no new trade begins and no deposit expires. */
export function switchMaintenance(deps: ActDeps, on: boolean): Promise<Answer<MaintenanceView>> {
  const view = { on }
  return act(deps, { name: `maintenance ${on ? 'on' : 'off'}`, recorded: () => ({}) }, async (tx) => {
    const changed = await setMaintenance({ db: tx, clock: deps.clock }, on)
    if (!changed) return unchanged(view, `Maintenance was ${on ? 'on' : 'off'} already.`)
    return done(view, on ? ON : OFF)
  })
}

const ON = 'Maintenance is on: no new trade begins and no deposit expires. Trades under way go on.'
const OFF = 'Maintenance is off: trades begin again, and deposits got back the time that stood still.'
