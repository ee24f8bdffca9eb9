/** PostgreSQL's client programs for tests on machines without them: a restored dump is the template of tests. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const RESTORE = join(import.meta.dirname, 'fake-restore.ts')

/** Writes them into the folder, as those of this major version. */
export function fakePrograms(folder: string, major: number): void {
  const write = (name: string, does: string): void =>
    writeFileSync(
      join(folder, name),
      `#!/bin/sh\nif [ "$1" = --version ]; then echo "${name} (PostgreSQL) ${major}.1"; exit; fi\n${does}\n`,
      { mode: 0o755 },
    )
  write('pg_dump', `for each; do case $each in --file=*) echo a dump > "\${each#--file=}";; esac; done`)
  write('pg_restore', `exec "${process.execPath}" "${RESTORE}" "$PGDATABASE"`)
}
