/** `maintenance …`. */
import { buildRouteMap } from '@stricli/core'
import { ACT, type ActFlags, command } from '../command.ts'
import type { Session } from '../session.ts'

const on = command({
  does: 'pause new trades and the time of deposits',
  example: "maintenance on --reason 'moving the database'",
  parameters: { flags: ACT },
  load: async () => {
    const { switchMaintenance } = await import('../../operations/maintenance.ts')
    return async (session: Session, flags: ActFlags) => switchMaintenance(await session.act(flags), true)
  },
})

const off = command({
  does: 'let trades and the time of deposits go on',
  example: 'maintenance off',
  parameters: { flags: ACT },
  load: async () => {
    const { switchMaintenance } = await import('../../operations/maintenance.ts')
    return async (session: Session, flags: ActFlags) => switchMaintenance(await session.act(flags), false)
  },
})

export const maintenance = buildRouteMap({ routes: { on, off }, docs: { brief: 'technical works' } })
