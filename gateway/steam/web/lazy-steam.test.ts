import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** Prints the number of cached files while the process still runs: at its end, Node would write the cache anyway. */
const SCRIPT = `
  const { readdirSync } = await import('node:fs')
  const [, file, folder] = process.argv
  const { createLazySteam } = await import(file)
  // No account has this id, so no request is sent.
  await createLazySteam().readProfile('1')
  console.log(readdirSync(folder, { recursive: true }).length)`

it('the compile cache has the Steam libraries as soon as they are loaded', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-compiled-'))
  try {
    const file = new URL('lazy-steam.ts', import.meta.url).href
    const env = { ...process.env, NODE_COMPILE_CACHE: folder }
    const args = ['--input-type=module', '-e', SCRIPT, file, folder]
    const cachedFiles = execFileSync(process.execPath, args, { env, encoding: 'utf8' })
    // Without the libraries there are far fewer.
    expect(Number(cachedFiles)).toBeGreaterThan(100)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
