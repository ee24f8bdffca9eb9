/** `backup …`: makes, checks and restores backups. */
import { buildRouteMap } from '@stricli/core'
import { text } from '../arguments.ts'
import { command, FIND, type FindFlags } from '../command.ts'
import { backupLines } from '../lines.ts'
import type { Session } from '../session.ts'

const DUMP_OR_COPY = { parse: text, brief: 'a dump, or the folder of a copy', placeholder: 'FILE' } as const

const create = command({
  does: 'back up the database while the till runs: as a dump, or a copy of the embedded database',
  example: 'backup create --to /var/backups/tradetill',
  parameters: {
    flags: {
      ...FIND,
      to: { kind: 'parsed', parse: text, brief: 'folder for the backup', placeholder: 'FOLDER' },
    },
  },
  load: async () => {
    const { createBackup } = await import('../../operations/backups.ts')
    return async (session: Session, { to }: FindFlags & { to: string }) =>
      createBackup(await session.standaloneDeps(), to)
  },
})

const check = command({
  does: 'restore a backup to a separate place, verify its ledger, and say what it contains',
  example: 'backup check /var/backups/tradetill/tradetill-2026-11-22T03-00-00.dump',
  parameters: {
    flags: {
      ...FIND,
      server: {
        kind: 'parsed',
        parse: text,
        brief: 'URL of another server on which to restore a dump for the check',
        placeholder: 'URL',
        optional: true,
      },
    },
    positional: { kind: 'tuple', parameters: [DUMP_OR_COPY] },
  },
  load: async () => {
    const { checkBackup } = await import('../../operations/backups.ts')
    return async (session: Session, { server }: FindFlags & { server?: string }, file: string) =>
      checkBackup(await session.standaloneDeps(), file, server)
  },
  lines: backupLines,
})

const restore = command({
  does: 'restore a copy of the embedded database into the data folder, which must not have a database',
  example: 'backup restore /var/backups/tradetill/tradetill-2026-11-22T03-00-00',
  parameters: {
    flags: FIND,
    positional: {
      kind: 'tuple',
      parameters: [{ parse: text, brief: 'the folder of a copy', placeholder: 'FOLDER' }],
    },
  },
  load: async () => {
    const { restoreBackup } = await import('../../operations/backups.ts')
    return async (session: Session, _flags: FindFlags, folder: string) =>
      restoreBackup(await session.standaloneDeps(), folder)
  },
})

export const backup = buildRouteMap({
  routes: { create, check, restore },
  docs: { brief: 'backups of the database' },
})
