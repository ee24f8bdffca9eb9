import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { botQueue } from './bots/bot.ts'
import { createQueue } from './db/boss-queue.ts'
import { spawnCommand } from './testing/command.ts'
import { type TestDatabase, testDatabase } from './testing/database.ts'
import { freePort } from './testing/free-port.ts'
import { captureLog } from './testing/log.ts'
import { json, silence, startSourceServer } from './testing/source-server.ts'

/** Keeps few connections open, as a proxy does. */
const PROXY = new Agent({ keepAlive: true, maxSockets: 4 })

let dataDir: string
let running: { child: ChildProcess; ended: Promise<number | null> }[]

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'tradetill-main-'))
  chmodSync(dataDir, 0o711)
  running = []
})

afterEach(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGKILL')
    await ended
  }
  // The database's supervisor ends a moment after its gateway. Until then PostgreSQL can write to the folder.
  await expect.poll(() => rmSync(dataDir, { recursive: true, force: true })).toBeUndefined()
})

/** Starts a gateway's process, with a Steam that does not answer. */
function launch(port: number, environment: Record<string, string> = {}, file = 'main.ts') {
  const child = spawn(process.execPath, [join(import.meta.dirname, file)], {
    env: {
      TRADETILL_PORT: String(port),
      TRADETILL_DATA: dataDir,
      TRADETILL_STEAM_SANDBOX_URL: 'http://127.0.0.1:9',
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  running.push({ child, ended })
  return { child, ended, text: () => output.join('') }
}

/** The file that starts a gateway with its own PostgreSQL. */
const WITH_DATABASE = '../embedded-postgres/main.ts'

/** Launches a gateway, and waits until it is ready. */
async function launchReady(environment: Record<string, string> = {}, file = 'main.ts') {
  const port = await freePort()
  const gateway = launch(port, environment, file)
  await becomesReady(gateway)
  return { ...gateway, base: `http://127.0.0.1:${port}` }
}

async function becomesReady({ child, text }: ReturnType<typeof launch>): Promise<void> {
  const ready = () => {
    if (child.exitCode !== null) throw new Error(`the gateway ended:\n${text()}`)
    return text()
  }
  await expect.poll(ready, { message: 'the gateway is ready' }).toContain('gateway ready at')
}

test('only one gateway runs on a data folder, a killed one does not block the next, and SIGTERM ends a gateway with code 0', async () => {
  const first = await launchReady({}, WITH_DATABASE)
  expect((await fetch(`${first.base}/healthz`)).status).toBe(200)
  expect((await fetch(`${first.base}/api/payment?hash=${'0'.repeat(32)}`)).status).toBe(404)
  const second = launch(await freePort(), {}, WITH_DATABASE)
  expect(await second.ended).toBe(1)
  expect(second.text()).toContain('Another gateway or restore is using the data folder')
  first.child.kill('SIGKILL')
  await first.ended
  const third = await launchReady({}, WITH_DATABASE)
  expect((await fetch(`${third.base}/healthz`)).status).toBe(200)
  third.child.kill('SIGTERM')
  expect(await third.ended).toBe(0)
})

test('a gateway logs the settings that nothing reads', async () => {
  const gateway = launch(await freePort(), { TRADETILL_PRICE_MIN_SALE: '20' })
  expect(await gateway.ended).toBe(1)
  const line = gateway
    .text()
    .split('\n')
    .find((text) => text.includes('unknown settings were ignored'))
  expect(JSON.parse(line ?? '')).toMatchObject({
    level: 'warn',
    settings: ['TRADETILL_PRICE_MIN_SALE (did you mean TRADETILL_PRICE_MIN_SALES?)'],
  })
})

/** Makes a deposit with a shopper, and a bot that never answers because the process that holds it does not exist. */
async function depositWithSilentBot({ url, pool }: TestDatabase): Promise<string> {
  const hash = 'ab'.repeat(16)
  const queue = await createQueue({ url, log: captureLog().log })
  await queue.ensure(botQueue(1n))
  await queue.stop()
  await pool.query(`
    insert into bot (steam_id, name, avatar_url, profile_url, level, refresh_token, online, lease_owner, lease_until)
    values ('76561198000000001', 'Silent', 'a', 'p', 1, '', true, gen_random_uuid(), now() + interval '1 hour')`)
  await pool.query(
    `insert into store (name, origins, risk_limit_usd_cents) values ('Ember', '{http://x}', 0)`,
  )
  await pool.query(
    `insert into deposit (hash, store_id, external_id, request_sha256, currency, back_to_store_url, expires_at,
       user_steam_id, user_token, user_name, user_avatar_url, user_profile_url)
     select $1, id, 'a', '', 'USD', 'http://x', now() + interval '1 hour', '76561198000000002', 't', 'n', 'a', 'p'
     from store`,
    [hash],
  )
  return hash
}

test('a gateway works on while its log cannot be written, as on a full disk', async () => {
  const gateway = launch(await freePort(), {}, WITH_DATABASE)
  // Each write fails from now on.
  gateway.child.stderr.destroy()
  await becomesReady(gateway)
  gateway.child.kill('SIGTERM')
  expect(await gateway.ended).toBe(0)
})

test('the gateway reports a missing database address, and ends', async () => {
  const gateway = launch(await freePort())
  expect(await gateway.ended).toBe(1)
  expect(gateway.text()).toContain('The gateway cannot start: DATABASE_URL is not set.')
})

test('a gateway in live mode without its settings ends with a readable list, and no stack trace', async () => {
  const gateway = launch(await freePort(), { TRADETILL_MODE: 'live' })
  expect(await gateway.ended).toBe(1)
  const text = gateway.text()
  for (const name of ['STEAM_SANDBOX_URL', 'DATABASE_URL', 'MASTER_KEY', 'PUBLIC_URL'])
    expect(text).toContain(name)
  expect(text).not.toContain('    at ')
})

/**
 * How many days the gateway's clock is ahead of the machine's. Reads the time of the dollar's rate, which a gateway
 * sets when it starts.
 */
async function daysAhead({ pool }: TestDatabase): Promise<unknown> {
  const { rows } = await pool.query(
    `select round(extract(epoch from as_of - now()) / 86400)::int as days from exchange_rate where source = 'fixed'`,
  )
  return rows[0]?.days
}

/** Makes the database of a till whose clock is 8 days ahead. */
async function makeAdvancedDatabase(): Promise<TestDatabase> {
  const database = await testDatabase()
  onTestFinished(database.close)
  await database.pool.query(`insert into till_clock (ahead_s) values (8 * 86400)`)
  return database
}

test('D-40 a public sandbox keeps the advanced clock of its database, answers at its public host name, and issues test keys', async () => {
  const database = await makeAdvancedDatabase()
  const settings = {
    DATABASE_URL: database.url,
    TRADETILL_DATA: dataDir,
    TRADETILL_PUBLIC_URL: 'https://pay.example',
    TRADETILL_PUBLIC_SANDBOX: '1',
    TRADETILL_PRICE_SOURCES: 'none',
  }
  const gateway = await launchReady(settings)
  expect(await daysAhead(database)).toBe(8)
  const headers = { authorization: `Bearer ${await keyOfNewStore(settings)}` }
  expect(headers.authorization).toContain('tt_test_')
  expect(await throughProxy(Number(new URL(gateway.base).port), '/v1/health', headers)).toBe(200)
  gateway.child.kill('SIGTERM')
  expect(await gateway.ended).toBe(0)
})

test('D-40 live mode ignores the advanced clock of its database, issues live keys, and limits each address behind a proxy', async () => {
  const database = await makeAdvancedDatabase()
  const settings = {
    TRADETILL_MODE: 'live',
    DATABASE_URL: database.url,
    TRADETILL_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    TRADETILL_PUBLIC_URL: 'https://pay.example',
    TRADETILL_TRUSTED_PROXIES: '127.0.0.1',
    TRADETILL_PRICE_SOURCES: 'none',
    TRADETILL_STEAM_SANDBOX_URL: '',
  }
  const gateway = await launchReady(settings)
  expect(await daysAhead(database)).toBe(0)
  for (const path of ['/healthz', '/readyz']) expect((await fetch(gateway.base + path)).status).toBe(200)

  const apiKey = await keyOfNewStore(settings)
  expect(apiKey).toContain('tt_live_')
  const { port } = new URL(gateway.base)
  const statusOf = (path: string, caller: string, headers = {}) =>
    throughProxy(Number(port), path, { 'x-forwarded-for': caller, ...headers })
  const health = await statusOf('/v1/health', '198.51.100.1', { authorization: `Bearer ${apiKey}` })
  expect(health).toBe(200)
  // The answer is 503 if the page is not built on this machine.
  expect([200, 503]).toContain(await statusOf('/help', '198.51.100.1'))

  const guessed = `/api/payment?hash=${'0'.repeat(32)}`
  // Several rounds, because the limit of 200 grows by two a second while a slow machine sends the calls.
  const answers = new Set<number>()
  for (let round = 0; round < 20 && !answers.has(429); round += 1) {
    const guesses = Array.from({ length: 100 }, () => statusOf(guessed, '203.0.113.66'))
    for (const status of await Promise.all(guesses)) answers.add(status)
  }
  expect(answers).toContain(429)
  expect(await statusOf(guessed, '203.0.113.67')).toBe(404)
  gateway.child.kill('SIGTERM')
  expect(await gateway.ended).toBe(0)
})

/** Adds a store by a command with these settings. Resolves to its API key. */
async function keyOfNewStore(env: Record<string, string>): Promise<string> {
  const store = ['--name', 'Ember Forge', '--origin', 'https://store.example', '--risk-limit-usd', '0']
  const { out } = await spawnCommand(['store', 'add', ...store, '--json'], { env })
  return z.object({ apiKey: z.string() }).parse(JSON.parse(out)).apiKey
}

/** Makes a call like one forwarded by a proxy that terminates TLS for pay.example. Resolves to the status. */
function throughProxy(port: number, path: string, headers: Record<string, string>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const proxied = { host: 'pay.example', 'x-forwarded-proto': 'https', ...headers }
  request({ port, path, headers: proxied, agent: PROXY }, (answer) => {
    answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
  })
    .once('error', reject)
    .end()
  return promise
}

test('the gateway reads prices from a configured source, and stops without delay despite a silent source and a waiting call', async () => {
  const source = await startSourceServer()
  onTestFinished(async () => void (await source.close()))
  source.answer('/v1/prices', json({ success: true, items: [{ name: 'Knife', count: 90, min: 12_500 }] }))
  source.answer('/v6/latest/USD', silence)
  const database = await testDatabase()
  onTestFinished(database.close)
  const gateway = await launchReady({
    DATABASE_URL: database.url,
    TRADETILL_PRICE_SOURCES: 'waxpeer,rates',
    TRADETILL_WAXPEER_URL: source.url,
    TRADETILL_RATES_URL: source.url,
  })
  const rowsOf = async (sql: string) => (await database.pool.query(sql)).rows
  const storedPrice = `select usd_micros::text from price where source = 'waxpeer' and market_hash_name = 'Knife'`
  await expect
    .poll(() => rowsOf(storedPrice), { message: 'the price that a source gives' })
    .toEqual([{ usd_micros: '12500000' }])
  await expect
    .poll(() => source.requests.map(({ url }) => url), { message: 'the silent source receives a call' })
    .toContain('/v6/latest/USD')

  const hash = await depositWithSilentBot(database)
  const answer = fetch(`${gateway.base}/api/inventory?hash=${hash}&game=cs`)
  const waiting = () => rowsOf('select game from inventory_request')
  await expect.poll(waiting, { message: 'the call waits for the bot' }).toHaveLength(1)
  gateway.child.kill('SIGTERM')
  expect(await (await answer).json()).toMatchObject({ inventoryError: true })
  expect(await gateway.ended).toBe(0)
  // No part of the shutdown reached its limit: the waiting call was answered long before the call's own timeout.
  expect(gateway.text()).not.toContain('cut off')
})

test('a web process holds no bots, notifies systemd, and drains from the end of its input until SIGTERM', async () => {
  const database = await testDatabase()
  onTestFinished(database.close)
  const settings = { TRADETILL_ROLES: 'web', TRADETILL_DRAIN_SECONDS: '300', TRADETILL_STDIN: '1' }
  const notified = join(dataDir, 'notified')
  writeFileSync(join(dataDir, 'systemd-notify'), `#!/bin/sh\necho "$@" > ${notified}\n`, { mode: 0o755 })
  const systemd = { NOTIFY_SOCKET: '/run/systemd/notify', PATH: dataDir }
  const gateway = await launchReady({ DATABASE_URL: database.url, ...settings, ...systemd })
  await expect.poll(() => existsSync(notified) && readFileSync(notified, 'utf8')).toBe('--ready\n')
  const ready = async () => (await fetch(`${gateway.base}/readyz`)).json()
  await expect.poll(ready).toEqual({ status: 'ready' })
  const processes = async () => (await database.pool.query('select max_bots from gateway_process')).rows
  await expect.poll(processes).toEqual([{ max_bots: 0 }])
  // This process reads no prices: other processes do that work.
  expect((await database.pool.query('select from price limit 1')).rowCount).toBe(0)
  gateway.child.stdin.end()
  await expect.poll(ready).toEqual({ status: 'draining' })
  expect((await fetch(`${gateway.base}/api/payment?hash=${'0'.repeat(32)}`)).status).toBe(404)
  gateway.child.kill('SIGTERM')
  expect(await gateway.ended).toBe(0)
  expect(await processes()).toEqual([])
})

test('a process for bots serves neither the shoppers’ page nor the store API', async () => {
  const database = await testDatabase()
  onTestFinished(database.close)
  const gateway = await launchReady({ DATABASE_URL: database.url, TRADETILL_ROLES: 'bots' })
  const statusOf = async (path: string) => (await fetch(gateway.base + path)).status
  await expect.poll(() => statusOf('/readyz')).toBe(200)
  const paths = ['/help', `/api/payment?hash=${'0'.repeat(32)}`, '/v1/health', '/v1/openapi.json']
  expect(await Promise.all(paths.map(statusOf))).toEqual([404, 404, 404, 404])
  gateway.child.kill('SIGTERM')
  expect(await gateway.ended).toBe(0)
})
