import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { preparePostgresFiles } from './postgres-files.ts'
import { putBack } from './put-back.ts'

test('a restore that fails halfway leaves no part of the database, which may have filled the disk', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'tradetill-put-back-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  // If root runs the tests, PostgreSQL runs as another account, which must be able to reach the folder.
  chmodSync(root, 0o711)
  const [copy, dataDir] = [join(root, 'copy'), join(root, 'data')]
  mkdirSync(join(copy, 'cluster'), { recursive: true })
  writeFileSync(join(copy, 'cluster', 'PG_VERSION'), '18\n')
  writeFileSync(join(copy, 'database.json'), '{}')
  // A folder in the place of the file makes the restore fail after the cluster was copied.
  mkdirSync(join(dataDir, 'database.json', 'in the way'), { recursive: true })

  await expect(putBack(copy, dataDir)).rejects.toThrow('database.json')
  const { home } = preparePostgresFiles(dataDir)
  expect(existsSync(home)).toBe(true)
  expect(existsSync(join(home, 'cluster.new'))).toBe(false)
  expect(existsSync(join(home, 'cluster'))).toBe(false)
})
