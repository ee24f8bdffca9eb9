/** Fakes of PostgreSQL's client programs, for machines without them. Restoring a dump copies the tests' template. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const RESTORE = join(import.meta.dirname, 'fake-restore.ts')

/** libpq trusts no authority on its own: it verifies a server only by a file of certificates. */
const NEEDS_ROOT = `root="\${PGSSLROOTCERT:-$HOME/.postgresql/root.crt}"
case "$PGSSLMODE" in verify-*) [ -f "$root" ] || { echo "root certificate file $root does not exist" >&2; exit 1; };; esac
`

/** Writes the programs into the folder. They claim to have this major version. */
export function fakePrograms(folder: string, major: number): void {
  const write = (name: string, script: string): void =>
    writeFileSync(
      join(folder, name),
      `#!/bin/sh\nif [ "$1" = --version ]; then echo "${name} (PostgreSQL) ${major}.1"; exit; fi\n${script}\n`,
      { mode: 0o755 },
    )
  write(
    'pg_dump',
    `${NEEDS_ROOT}for each; do case $each in --file=*) echo a dump > "\${each#--file=}";; esac; done`,
  )
  write('pg_restore', `exec "${process.execPath}" "${RESTORE}" "$PGDATABASE"`)
}
