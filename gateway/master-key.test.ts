import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeOwnKey } from './master-key.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tradetill-key-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a sandbox that cannot write its master key says so, and what to check', () => {
  symlinkSync(join(folder, 'missing/key'), join(folder, 'master.key'))
  expect(() => makeOwnKey(folder)).toThrow(/^The master key cannot be written to .*master\.key: check /)
})

test('a sandbox that cannot read its master key says why', () => {
  mkdirSync(join(folder, 'master.key'))
  expect(() => makeOwnKey(folder)).toThrow(
    /^The master key in .*master\.key cannot be read \(EISDIR\): check /,
  )
})

test('a sandbox on a full disk leaves no empty master key behind', () => {
  const module = join(import.meta.dirname, 'master-key.ts')
  const script = `import { makeOwnKey } from '${module}'; makeOwnKey('${folder}')`
  // With a limit of 0 on the size of files, a write fails as on a full disk.
  const shell = 'ulimit -f 0 && exec "$0" --input-type=module --eval "$1"'
  const { stderr } = spawnSync('sh', ['-c', shell, process.execPath, script], { encoding: 'utf8' })
  expect(stderr).toMatch(/The master key cannot be written to .*master\.key: check /)
  expect(existsSync(join(folder, 'master.key'))).toBe(false)
})
