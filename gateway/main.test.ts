import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { botQueue } from './bots/bot.ts'
import { createQueue } from './db/boss-queue.ts'
import { runningEmbeddedUrl } from './db/embedded.ts'
import { captureLog } from './testing/log.ts'
import { json, silence, startSourceServer } from './testing/source-server.ts'

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

/** A deposit with a shopper, and a bot that another process is said to hold and that never answers. */
async function depositWithSilentBot(): Promise<{ hash: string; client: pg.Client }> {
  const hash = 'ab'.repeat(16)
  const url = runningEmbeddedUrl(dataDir) ?? ''
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  const queue = await createQueue({ url, log: captureLog().log })
  await queue.ensure(botQueue(1n))
  await queue.stop()
  await client.query(`
    insert into bot (steam_id, name, avatar_url, profile_url, level, refresh_token, online, lease_owner, lease_until)
    values ('76561198000000001', 'Silent', 'a', 'p', 1, '', true, gen_random_uuid(), now() + interval '1 hour')`)
  await client.query(
    `insert into store (name, origins, risk_limit_usd_cents) values ('Ember', '{http://x}', 0)`,
  )
  await client.query(
    `insert into deposit (hash, store_id, external_id, request_sha256, currency, back_to_store_url, expires_at,
       user_steam_id, user_token, user_name, user_avatar_url, user_profile_url)
     select $1, id, 'a', '', 'USD', 'http://x', now() + interval '1 hour', '76561198000000002', 't', 'n', 'a', 'p'
     from store`,
    [hash],
  )
  return { hash, client }
}

test('ends soon and with code 0 while a call waits for a bot, and answers that call', async () => {
  const gateway = await launchReady()
  const { hash, client } = await depositWithSilentBot()
  const answer = fetch(`${gateway.base}/api/inventory?hash=${hash}&game=cs`)
  await vi.waitFor(async () => {
    const { rowCount } = await client.query('select from inventory_request')
    expect(rowCount).toBe(1)
  }, 10_000)
  await client.end()
  const begin = performance.now()
  gateway.child.kill('SIGTERM')
  expect(await (await answer).json()).toMatchObject({ inventoryError: true })
  expect(await gateway.ended).toBe(0)
  expect(performance.now() - begin).toBeLessThan(8_000)
  expect(gateway.text()).not.toContain('cut off')
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

test('prices come from the sources that are set; one that is silent keeps neither the start nor the stop', async () => {
  const source = await startSourceServer()
  source.answer('/v1/prices', json({ success: true, items: [{ name: 'Knife', count: 90, min: 12_500 }] }))
  source.answer('/v6/latest/USD', silence)
  const gateway = await launchReady({
    TRADETILL_PRICE_SOURCES: 'waxpeer,rates',
    TRADETILL_WAXPEER_URL: source.url,
    TRADETILL_RATES_URL: source.url,
  })
  const client = new pg.Client({ connectionString: runningEmbeddedUrl(dataDir) ?? '' })
  client.on('error', () => {})
  await client.connect()
  const named = `select usd_micros from price where source = 'waxpeer' and market_hash_name = 'Knife'`
  await vi.waitFor(
    async () => expect((await client.query(named)).rows).toEqual([{ usd_micros: '12500000' }]),
    20_000,
  )
  await vi.waitFor(() => expect(source.asked.map(({ url }) => url)).toContain('/v6/latest/USD'), 20_000)
  await client.end()
  gateway.child.kill('SIGTERM')
  expect(await gateway.ended).toBe(0)
  await source.close()
})
