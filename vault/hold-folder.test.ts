/** The lock that keeps a second vault off the folder of a running one. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { holdFolder } from './vault.ts'

it('a second vault on the same folder is refused, however the path of the folder is written', async () => {
  const path = mkdtempSync(join(tmpdir(), 'vault-lock-'))
  const link = `${path}-link`
  symlinkSync(path, link)
  const lock = await holdFolder(path)
  onTestFinished(() => {
    lock.close()
    rmSync(path, { recursive: true })
    rmSync(link)
  })
  for (const written of [path, `${path}/`, relative(process.cwd(), path), link])
    await expect(holdFolder(written)).rejects.toThrow('Another vault is using')
})
