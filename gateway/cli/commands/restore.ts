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
import type { Session } from '../session.ts'

const status = command({
  does: 'show whether the database was restored to an earlier state, and what stops the till',
  example: 'restore status',
  parameters: { flags: FIND },
  load: async () => {
    const { showRestore } = await import('../../operations/restore.ts')
    return async (session: Session, _flags: FindFlags) => showRestore(await session.findDeps())
  },
})

/** How long each statement of `finish` and `recount` may run: one of them counts all items that ever moved. */
const COUNT_MS = 3_600_000

const finish = command({
  does: 'begin a new epoch after a restore: event numbers skip a million or more, and stores are informed',
  example: "restore finish --reason 'backup of this morning'",
  parameters: {
    flags: {
      ...SERIOUS_ACT,
      unnoticed: {
        kind: 'boolean',
        brief: 'even if no gateway has noticed the restore',
        optional: true,
        withNegated: false,
      },
    },
  },
  load: async () => {
    const { finishRestore } = await import('../../operations/restore.ts')
    return async (
      session: Session,
      { unnoticed = false, ...flags }: SeriousFlags & { unnoticed?: boolean },
    ) => finishRestore(await session.actDeps(flags, COUNT_MS), unnoticed)
  },
})

const recount = command({
  does: "recount the bots' items and the stores' credit at risk",
  example: 'restore recount',
  parameters: { flags: ACT },
  load: async () => {
    const operations = await import('../../operations/restore.ts')
    return async (session: Session, flags: ActFlags) =>
      operations.recount(await session.actDeps(flags, COUNT_MS))
  },
})

export const restore = buildRouteMap({
  routes: { status, finish, recount },
  docs: { brief: 'after a restore of the database' },
})
