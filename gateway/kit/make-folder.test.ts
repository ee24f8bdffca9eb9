import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeFolder } from './make-folder.ts'

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tradetill-make-folder-'))
  writeFileSync(join(root, 'file'), '')
  symlinkSync(join(root, 'nowhere'), join(root, 'link'))
})
afterAll(() => rmSync(root, { recursive: true }))

describe('a folder', () => {
  it('is created with its parents, all with the given mode, and may exist already', () => {
    const path = join(root, 'a/b/c/')
    makeFolder(path, { mode: 0o700 })
    const modes = ['a', 'a/b', 'a/b/c'].map((each) => statSync(join(root, each)).mode & 0o777)
    expect(modes).toEqual([0o700, 0o700, 0o700])
    makeFolder(path)
    makeFolder('/')
  })

  it.each([
    // Node's own recursive mkdir never ends for the first of these.
    ['in a place where the system creates no files', () => '/proc/none/deeper', '/proc/none/deeper'],
    ['in a file', () => join(root, 'file/deeper'), 'file/deeper'],
    ['with the name of a file', () => join(root, 'file'), 'file'],
    ['behind a link to nowhere', () => join(root, 'link/deeper'), 'link/deeper'],
  ])('%s is refused, and the error names it', (_title, path, named) => {
    expect(() => makeFolder(path())).toThrow(
      new RegExp(`^The folder \\S*${named} cannot be created: E[A-Z]+: `),
    )
    expect(existsSync(join(root, 'nowhere'))).toBe(false)
  })
})
