/** The scripts that make and check backups every night. */
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

const DEPLOY = join(import.meta.dirname, '../deploy')

describe('backup.sh', () => {
  /** Runs the script once, with programs that only make files. `restores`: whether the backup can be restored. */
  function makeBackup({ restores }: { restores: boolean }) {
    const folder = mkdtempSync(join(tmpdir(), 'backup-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [programs, backups] = [join(folder, 'programs'), join(folder, 'backups')]
    for (const directory of [programs, backups]) mkdirSync(directory)
    const addProgram = (name: string, text: string) =>
      writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
    addProgram('pg_dump', 'for last; do :; done; echo dump > "$last"')
    // A file stands for the database into which the backup is restored.
    const restored = join(folder, 'restored')
    addProgram('dropdb', `rm -f ${restored}`)
    addProgram('createdb', `touch ${restored}`)
    addProgram('pg_restore', restores ? 'exit 0' : 'exit 1')
    addProgram('psql', 'echo 0, 0')
    // Ends the script, which would run forever.
    addProgram('sleep', 'exit 1')
    writeFileSync(join(folder, 'owner_password'), 'secret')
    const script = readFileSync(join(DEPLOY, 'backup.sh'), 'utf8')
      .replaceAll('/run/secrets/', `${folder}/`)
      .replaceAll('/backups', backups)
    const { stderr } = spawnSync('bash', ['-c', script], {
      encoding: 'utf8',
      env: { PATH: `${programs}:${process.env.PATH}` },
    })
    return { stderr, backups, restored }
  }

  it('keeps neither the file of a backup that could not be restored nor its test database', () => {
    const { stderr, backups, restored } = makeBackup({ restores: false })
    expect(stderr).toContain('FAILED')
    expect(readdirSync(backups)).toEqual([])
    expect(existsSync(restored)).toBe(false)
  })

  it('makes files that no other user of the machine can read', () => {
    const { backups } = makeBackup({ restores: true })
    const modes = readdirSync(backups).map((name) => statSync(join(backups, name)).mode & 0o777)
    expect(modes).toEqual([0o600])
  })
})

it('nightly.sh keeps two damaged backups under another name, beside good backups and unchecked ones', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nightly-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const till = join(folder, 'till')
  const run = (night: number, exitCode: number) => {
    const made = join(folder, `tradetill-2026-11-0${night}.dump`)
    const text = `#!/bin/sh\ncase $2 in create) touch ${made} ;; check) exit ${exitCode} ;; esac\n`
    writeFileSync(till, text, { mode: 0o755 })
    return spawnSync('sh', [join(DEPLOY, 'nightly.sh'), folder, till], { encoding: 'utf8' })
  }
  expect(run(1, 0).status).toBe(0)
  for (const night of [2, 3, 4])
    expect(run(night, 7)).toMatchObject({ status: 7, stderr: expect.stringContaining('kept as') })
  for (const night of [5, 6, 7])
    expect(run(night, 1)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('could not be checked'),
    })
  expect(readdirSync(folder).sort()).toEqual([
    'till',
    'tradetill-2026-11-01.dump',
    'tradetill-2026-11-03.dump.failed',
    'tradetill-2026-11-04.dump.failed',
    'tradetill-2026-11-05.dump',
    'tradetill-2026-11-06.dump',
    'tradetill-2026-11-07.dump',
  ])
})
