import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { preparePostgresFiles } from './postgres-files.ts'
import { putBack } from './put-back.ts'

/** Makes a copy of a cluster, and chooses a data folder that does not exist yet. */
function newFolders(): { copy: string; dataDir: string } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'tradetill-put-back-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  // If the tests run as the root user, PostgreSQL runs as another account, which must be able to reach the folder.
  chmodSync(root, 0o711)
  const [copy, dataDir] = [join(root, 'copy'), join(root, 'data')]
  mkdirSync(join(copy, 'cluster'), { recursive: true })
  writeFileSync(join(copy, 'cluster', 'PG_VERSION'), '18\n')
  writeFileSync(join(copy, 'database.json'), '{}')
  return { copy, dataDir }
}

test('one of two simultaneous restores into the same folder is refused, and the other succeeds', async () => {
  const { copy, dataDir } = newFolders()
  const results = await Promise.allSettled([putBack(copy, dataDir), putBack(copy, dataDir)])
  expect(results).toEqual([
    { status: 'fulfilled', value: expect.stringMatching(/cluster$/) },
    { status: 'rejected', reason: expect.objectContaining({ message: expect.stringContaining('Another') }) },
  ])
})

test('a restore that fails halfway leaves no part of the database behind, because the disk may be full', async () => {
  const { copy, dataDir } = newFolders()
  // A folder in the place of the file makes the restore fail after the cluster was copied.
  mkdirSync(join(dataDir, 'database.json', 'in the way'), { recursive: true })

  await expect(putBack(copy, dataDir)).rejects.toThrow('database.json')
  const { home } = preparePostgresFiles(dataDir)
  expect(existsSync(home)).toBe(true)
  expect(existsSync(join(home, 'cluster.new'))).toBe(false)
  expect(existsSync(join(home, 'cluster'))).toBe(false)
})

test('a first start on a full disk leaves no incomplete file behind, which would stop every later start', () => {
  const { dataDir } = newFolders()
  mkdirSync(dataDir)
  const code = `
    import { preparePostgresFiles } from ${JSON.stringify(join(import.meta.dirname, 'postgres-files.ts'))}
    preparePostgresFiles(${JSON.stringify(dataDir)})`
  // A limit of no bytes for each file fails like a full disk.
  const command = ['ulimit -f 0; exec "$0" --input-type=module -e "$1"', process.execPath, code]
  const { status } = spawnSync('/bin/sh', ['-c', ...command])
  // Only root makes a file here.
  expect(status).toBe(process.getuid?.() === 0 ? 1 : 0)
  expect(preparePostgresFiles(dataDir).home).toContain(dataDir)
})

test('a restore that fails keeps the former password and key, and removes its own files', async () => {
  const { copy, dataDir } = newFolders()
  writeFileSync(join(copy, 'master.key'), 'of the copy')
  mkdirSync(dataDir)
  for (const name of ['database.json', 'master.key']) writeFileSync(join(dataDir, name), 'before')
  // A pipe cannot be copied. By its name it comes last, after the password and the key.
  execFileSync('mkfifo', [join(copy, 'zz')])

  await expect(putBack(copy, dataDir)).rejects.toThrow('zz')
  for (const name of ['database.json', 'master.key'])
    expect(readFileSync(join(dataDir, name), 'utf8')).toBe('before')
  expect(readdirSync(dataDir).filter((name) => name.endsWith('.new'))).toEqual([])
})
