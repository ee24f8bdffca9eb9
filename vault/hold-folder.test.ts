/** The lock that keeps a second vault off the folder of a running one. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { holdFolder } from './vault.ts'

it('a second vault on a folder is refused, however the path of the folder is written', async () => {
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

/** Binds the socket and then kills itself, so the socket's file stays behind. */
const HOLDER = `
  Object.defineProperty(process, 'platform', { value: 'darwin' })
  const { holdFolder } = await import(process.argv[1])
  await holdFolder(process.argv[2])
  process.kill(process.pid, 'SIGKILL')`

it('where the lock is a file, as on macOS, a vault that was killed leaves its folder free', async () => {
  const path = mkdtempSync(join(tmpdir(), 'vault-lock-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  const module = join(import.meta.dirname, 'vault.ts')
  const killed = spawnSync(process.execPath, ['--input-type=module', '-e', HOLDER, module, path])
  expect(killed.signal).toBe('SIGKILL')
  const platform = process.platform
  Object.defineProperty(process, 'platform', { value: 'darwin' })
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }))
  const lock = await holdFolder(path)
  onTestFinished(() => void lock.close())
  await expect(holdFolder(path)).rejects.toThrow('Another vault is using')
})
