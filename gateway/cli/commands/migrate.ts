import { buildRouteMap } from '@stricli/core'
import type { Migrated, Plan } from '../../operations/migrations.ts'
import type { Answer } from '../../operations/operation.ts'
import { command, FIND, type FindFlags } from '../command.ts'
import { migrationLines, planLines } from '../lines.ts'
import type { Session } from '../session.ts'

const status = command({
  does: 'show which migrations are applied and which are missing',
  example: 'migrate status',
  parameters: { flags: FIND },
  load: async () => {
    const { showMigrations } = await import('../../operations/migrations.ts')
    return async (session: Session, _flags: FindFlags) => showMigrations(await session.standaloneDeps())
  },
  lines: migrationLines,
})

const run = command({
  does: 'apply the missing migrations, as a gateway does at its start',
  example: 'migrate run --dry-run',
  parameters: {
    flags: {
      ...FIND,
      dryRun: {
        kind: 'boolean',
        brief: 'only show what would run, and which queries it would block',
        optional: true,
        withNegated: false,
      },
    },
  },
  load: async () => {
    const { planMigrations, runMigrations } = await import('../../operations/migrations.ts')
    return async (
      session: Session,
      { dryRun }: FindFlags & { dryRun?: boolean },
    ): Promise<Answer<Plan | Migrated>> => {
      const deps = await session.standaloneDeps()
      return dryRun === true ? planMigrations(deps) : runMigrations(deps, session.terminal.warn)
    }
  },
  lines: planLines,
})

export const migrate = buildRouteMap({
  routes: { status, run },
  defaultCommand: 'run',
  docs: { brief: 'the schema of the database' },
})
