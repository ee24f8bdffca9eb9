import { buildRouteMap } from '@stricli/core'
import {
  ACT,
  type ActFlags,
  command,
  FIND,
  type FindFlags,
  SERIOUS_ACT,
  type SeriousFlags,
} from '../command.ts'
import { keyRingLines } from '../lines.ts'
import type { Session } from '../session.ts'

const status = command({
  does: 'show which master keys the database knows, and how much the old ones still seal',
  example: 'key-ring status',
  parameters: { flags: FIND },
  load: async () => {
    const { showKeyRing } = await import('../../operations/key-ring.ts')
    return async (session: Session, _flags: FindFlags) => showKeyRing(await session.findDeps())
  },
  lines: keyRingLines,
})

const rotate = command({
  does: 'reseal every secret with the newest master key while the till runs; can be repeated',
  example: 'key-ring rotate',
  parameters: { flags: ACT },
  load: async () => {
    const { rotateKeyRing } = await import('../../operations/key-ring.ts')
    return async (session: Session, flags: ActFlags) => rotateKeyRing(await session.actDeps(flags))
  },
})

const forget = command({
  does: 'erase everything that a lost master key sealed; the till must be stopped',
  example: "key-ring forget --reason 'the key was lost with its server'",
  parameters: { flags: SERIOUS_ACT },
  load: async () => {
    const { forgetLostKey } = await import('../../operations/key-ring.ts')
    return async (session: Session, flags: SeriousFlags) =>
      forgetLostKey(await session.actDepsWithoutMasterKey(flags))
  },
})

export const keyRing = buildRouteMap({
  routes: { status, rotate, forget },
  docs: { brief: 'the master keys' },
})
