import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const SCRIPT = `
  const { createLoadedSteam } = await import(process.argv[1])
  // No account has this id, so Steam is not asked.
  await createLoadedSteam().readProfile('1')
  process.kill(process.pid, 'SIGKILL')`

it('keeps what Node compiled of the Steam libraries, even of a process that is killed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-compiled-'))
  try {
    const file = new URL('loaded.ts', import.meta.url).href
    const env = { ...process.env, NODE_COMPILE_CACHE: folder }
    const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', SCRIPT, file], { env })
    expect(signal).toBe('SIGKILL')
    expect(readdirSync(folder, { recursive: true }).length).toBeGreaterThan(100)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
