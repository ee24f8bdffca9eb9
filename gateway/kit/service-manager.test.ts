import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { notifyReady } from './service-manager.ts'

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

it('the program that notifies systemd is called with --ready', async () => {
  // The file is moved into place, so it is complete as soon as it exists.
  const [received, unfinished] = [join(folder, 'received'), join(folder, 'unfinished')]
  notifyReady(program(`echo "$@" > ${unfinished} && mv ${unfinished} ${received}`))
  await expect.poll(() => existsSync(received)).toBe(true)
  expect(readFileSync(received, 'utf8')).toBe('--ready\n')
})

it('a failure of the program that notifies systemd is printed, and the gateway continues', async () => {
  const errors = vi.spyOn(console, 'error').mockReturnValue(undefined)
  notifyReady(join(folder, 'missing'))
  notifyReady(program('exit 3'))
  await expect.poll(() => errors.mock.calls.length).toBe(2)
  const text = errors.mock.calls.flat().join()
  expect(text).toContain('ENOENT')
  expect(text).toContain('ended with 3')
})
