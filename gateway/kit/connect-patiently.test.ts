import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CONNECT_MS } from './connect-patiently.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Prints, when the process ends, how long Node waits for a connection to one address. */
const PRINT_WAIT = `import net from 'node:net'
process.on('exit', () => console.log('wait', net.getDefaultAutoSelectFamilyAttemptTimeout()))`

it.each([
  ['gateway/main.ts', []],
  ['embedded-postgres/main.ts', []],
  ['gateway/cli/main.ts', ['--help']],
  ['vault/main.ts', ['--help']],
])('%s waits longer for a connection to each address of a host than Node’s 250 ms', (file, args) => {
  const preload = `data:text/javascript,${encodeURIComponent(PRINT_WAIT)}`
  // The gateways refuse this mode, and end.
  const env = { PATH: process.env.PATH, TRADETILL_MODE: 'none' }
  const { stdout } = spawnSync(process.execPath, ['--import', preload, join(ROOT, file), ...args], {
    env,
    encoding: 'utf8',
  })
  expect(stdout).toContain(`wait ${CONNECT_MS}\n`)
})
