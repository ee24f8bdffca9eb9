import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

// Whole processes start here, beside others on the same two cores.
vi.setConfig({ testTimeout: 60_000 })

let dataDir: string
let running: ChildProcess[]

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'tradetill-main-'))
  chmodSync(dataDir, 0o711)
  running = []
})

afterEach(async () => {
  for (const child of running) child.kill('SIGKILL')
  await vi.waitFor(() => rmSync(dataDir, { recursive: true, force: true }), 10_000)
})

/** The gateway as the operator runs it, with a Steam that does not answer. */
function launch(port: number, environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    env: {
      TRADETILL_PORT: String(port),
      TRADETILL_DATA: dataDir,
      TRADETILL_STEAM_SANDBOX_URL: 'http://127.0.0.1:9',
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  running.push(child)
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { child, ended, text: () => output.join('') }
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

async function launchReady(environment: Record<string, string> = {}) {
  const port = await freePort()
  const gateway = launch(port, environment)
  await vi.waitFor(() => expect(gateway.text()).toContain('gateway ready at'), 40_000)
  return { ...gateway, base: `http://127.0.0.1:${port}` }
}

test('starts on an empty folder, answers, and ends with code 0 on SIGTERM', async () => {
  const gateway = await launchReady()
  expect((await fetch(`${gateway.base}/healthz`)).status).toBe(200)
  expect((await fetch(`${gateway.base}/api/payment?hash=${'0'.repeat(32)}`)).status).toBe(404)
  gateway.child.kill('SIGTERM')
  expect(await gateway.ended).toBe(0)
})

test('a second gateway on the folder is refused and says why; after a kill -9 the next one starts', async () => {
  const first = await launchReady()
  const second = launch(await freePort())
  expect(await second.ended).toBe(1)
  expect(second.text()).toContain('Another gateway is running')
  first.child.kill('SIGKILL')
  await first.ended
  const third = await launchReady()
  expect((await fetch(`${third.base}/healthz`)).status).toBe(200)
})

test('ends with the stdin of whoever started it', async () => {
  const gateway = await launchReady({ TRADETILL_STDIN: '1' })
  gateway.child.stdin.end()
  expect(await gateway.ended).toBe(0)
})

test('live mode without its settings ends at once with a readable list and no stack', async () => {
  const gateway = launch(await freePort(), { TRADETILL_MODE: 'live' })
  expect(await gateway.ended).toBe(1)
  const text = gateway.text()
  for (const name of ['STEAM_SANDBOX_URL', 'DATABASE_URL', 'MASTER_KEY', 'PUBLIC_URL'])
    expect(text).toContain(name)
  expect(text).not.toContain('    at ')
})
