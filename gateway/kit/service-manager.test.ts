import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { tellReady } from './service-manager.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tradetill-notify-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

function program(script: string): string {
  const file = join(folder, 'notify')
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}

it('systemd is notified through its own program', async () => {
  const [told, almost] = [join(folder, 'told'), join(folder, 'almost')]
  tellReady(program(`echo "$@" > ${almost} && mv ${almost} ${told}`))
  await expect.poll(() => existsSync(told)).toBe(true)
  expect(readFileSync(told, 'utf8')).toBe('--ready\n')
})

it('a failure of that program is logged, and the gateway continues', async () => {
  const errors = vi.spyOn(console, 'error').mockReturnValue(undefined)
  tellReady(join(folder, 'none'))
  tellReady(program('exit 3'))
  await expect.poll(() => errors.mock.calls.length).toBe(2)
  const said = errors.mock.calls.flat().join()
  expect(said).toContain('ENOENT')
  expect(said).toContain('ended with 3')
})
