import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../config.ts'
import { claimDatabase } from '../db/identity.ts'
import { withMigrationLock } from '../db/migrate.ts'
import { grantApp } from '../db/roles.ts'
import { doctorProof, isDoctorProof } from '../kit/doctor-proof.ts'
import { fingerprintOf } from '../kit/secret-box.ts'
import { runCommand } from '../testing/command.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { databaseFindings, identityFindings, NEEDED_CONNECTIONS } from './database.ts'
import { type DatabaseProbe, probeDatabase } from './database-store.ts'
import type { Finding } from './finding.ts'
import { MADE_UP_ADDRESS, type PublicAnswer, proxyFindings } from './proxy.ts'
import { botFindings, type ExaminedBot, priceFindings, storeFindings } from './readiness.ts'
import { machineFindings, settingsFindings } from './settings.ts'

const NOW = new Date('2026-11-22T12:00:00Z')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ago = (ms: number): Date => new Date(NOW.getTime() - ms)

const LIVE = {
  TRADETILL_MODE: 'live',
  DATABASE_URL: 'postgres://app@127.0.0.1/till',
  TRADETILL_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  TRADETILL_PUBLIC_URL: 'https://pay.example',
  TRADETILL_TRUSTED_PROXIES: '127.0.0.1',
}

const DATABASE: DatabaseProbe = {
  kind: 'answered',
  version: 180_004,
  role: 'app',
  isSuperuser: false,
  mayCreate: true,
  mayRead: true,
  inRecovery: false,
  readOnly: false,
  backend: { real: 77, named: 77 },
  connections: { used: 20, most: 97 },
  databaseMs: NOW.getTime(),
  machineMs: NOW.getTime(),
  doubtMs: 1,
  sizeBytes: 9_000_000,
  fullDisk: undefined,
  identity: undefined,
  applied: [],
}
const OWNER: DatabaseProbe = { ...DATABASE, role: 'owner' }

const BUILD = { version: '1.2.3', commit: 'abc' }
const OURS = { build: BUILD, publicUrl: new URL(LIVE.TRADETILL_PUBLIC_URL) }

const PUBLIC: Extract<PublicAnswer, { kind: 'answered' }> = {
  kind: 'answered',
  build: BUILD,
  caller: { address: '203.0.113.9', protocol: 'https', isProxy: false },
  certificateEndsMs: NOW.getTime() + 60 * DAY_MS,
  hsts: 'max-age=31536000',
  page: { status: 200, encoding: 'br' },
  largeBody: { status: 401, isOurs: true },
  plain: { kind: 'answered', status: 308, location: 'https://pay.example/' },
}

const BOT: ExaminedBot = {
  botId: 3n,
  name: 'Till One',
  level: 12,
  state: 'active',
  reachable: true,
  hasGateway: true,
  loginAfter: null,
  tokenExpiresAt: new Date(NOW.getTime() + 150 * DAY_MS),
  bars: [],
  noticeAcknowledged: true,
}

const ENDPOINT = {
  endpointId: 5n,
  state: 'enabled',
  url: 'https://store.example/hook',
  answer: { kind: 'answered', status: 204 },
} as const

const settings = (change: Record<string, string>) => settingsFindings(readConfig({ ...LIVE, ...change }))
const database = (change: Partial<DatabaseProbe>) => databaseFindings({ ...DATABASE, ...change })
const page = (status: number) => ({ status, encoding: null })
const proxy = (change: Partial<typeof PUBLIC>) =>
  proxyFindings({ ...PUBLIC, ...change }, { ...OURS, nowMs: NOW.getTime() })
const otherBuild = (change: Partial<typeof BUILD>) => proxy({ build: { ...BUILD, ...change } })
const prices = (change: Partial<Parameters<typeof priceFindings>[0]>) =>
  priceFindings({
    feeds: [{ source: 'market', feed: 'cs', goodAt: ago(60_000), lastError: null }],
    rates: [{ currency: 'EUR', asOf: ago(HOUR_MS) }],
    coverage: [{ game: 'cs', fresh: 20_000, all: 21_000 }],
    now: NOW,
    ...change,
  })
const bot = (change: Partial<ExaminedBot>) => botFindings([{ ...BOT, ...change }], NOW)
const store = (change: object) =>
  storeFindings([{ storeId: 1n, name: 'Ember', isDisabled: false, endpoints: [{ ...ENDPOINT, ...change }] }])
const feedFailed = { source: 'skinport', feed: 'cs', goodAt: ago(9 * HOUR_MS), lastError: 'HTTP 403' }
const caller = { address: '127.0.0.1', protocol: 'https', isProxy: true }

const faults = (findings: readonly Finding[]) => findings.filter(({ state }) => state === 'mend')

describe('a correct set-up', () => {
  it.each([
    ['settings', () => settings({})],
    ['machine', () => machineFindings({ node: '24.1.0', freeBytes: 9e9, folder: '/' })],
    ['database with one role', () => database({})],
    ['database with two roles', () => databaseFindings({ ...DATABASE, mayCreate: false }, OWNER)],
    ['proxy', () => proxy({})],
    ['prices', () => prices({})],
    ['bots', () => bot({})],
    ['stores', () => store({})],
  ])('has only good findings: %s', (_what, findings) => {
    expect(findings().length).toBeGreaterThan(0)
    expect(findings().filter(({ state }) => state !== 'good')).toEqual([])
  })
})

/** Faulty set-ups, each with the one check that must fail, and a pattern for its advice. */
const BROKEN: [what: string, findings: () => Finding[], check: string, advice: RegExp][] = [
  ['a sandbox', () => settingsFindings(readConfig({})), 'mode', /TRADETILL_MODE=live/],
  ['no key', () => settings({ TRADETILL_MASTER_KEY: '' }), 'settings', /TRADETILL_MASTER_KEY/],
  ['a short key', () => settings({ TRADETILL_MASTER_KEY: 'abc' }), 'settings', /TRADETILL_MASTER_KEY/],
  ['a misspelt setting', () => settings({ TRADETILL_PORTS: '1' }), 'settings.unknown', /unset TRADETILL_P/],
  ['no proxies', () => settings({ TRADETILL_TRUSTED_PROXIES: '' }), 'settings', /TRUSTED_PROXIES/],
  ['a plain http URL', () => settings({ TRADETILL_PUBLIC_URL: 'http://a.b' }), 'settings', /PUBLIC_URL/],
  ['an old Node', () => machineFindings({ node: '22.1.0', freeBytes: 9e9, folder: '/' }), 'node', /Node 24/],
  [
    'a full disk',
    () => machineFindings({ node: '24.1.0', freeBytes: 9e6, folder: '/' }),
    'disk',
    /make room/,
  ],
  ['an old PostgreSQL', () => database({ version: 140_009 }), 'database.version', /PostgreSQL 15/],
  ['a replica', () => database({ inRecovery: true, readOnly: true }), 'database.recovery', /primary/],
  ['a pooler', () => database({ backend: { real: 9, named: 1 } }), 'database.pooler', /directly/],
  [
    'too few free connections',
    () => database({ connections: { used: 77, most: 97 } }),
    'database.connections',
    /max_conn/,
  ],
  ['a clock that is off', () => database({ databaseMs: ago(9_000).getTime() }), 'clock', /set-ntp/],
  [
    'a role for the app that is a superuser',
    () => databaseFindings({ ...DATABASE, isSuperuser: true }, OWNER),
    'database.rights',
    /Two roles/,
  ],
  [
    'an owner that cannot connect',
    () => databaseFindings(DATABASE, { kind: 'failed', reason: 'no' }),
    'database.owner',
    /OWNER_DATABASE_URL/,
  ],
  [
    'a public name without DNS',
    () => proxyFindings({ kind: 'failed', reason: 'ENOTFOUND' }, { ...OURS, nowMs: 0 }),
    'public',
    /DNS/,
  ],
  ['another program at the public name', () => proxy({ build: undefined }), 'public', /forward everything/],
  ['a stopped gateway', () => proxy({ build: undefined, page: page(502) }), 'public', /^start the gateway/],
  ['a proxy that replaces Host', () => proxy({ page: page(421) }), 'public', /Host header/],
  ['another version at the public name', () => otherBuild({ version: '1.2.2' }), 'public', /^restart/],
  ['another commit at the public name', () => otherBuild({ commit: 'a' }), 'public', /^restart/],
  [
    'a proxy that passes on an address made up by the caller',
    () => proxy({ caller: { ...caller, address: MADE_UP_ADDRESS } }),
    'proxy.caller',
    /append/,
  ],
  ['a proxy that hides its callers', () => proxy({ caller }), 'proxy.caller', /X-Forwarded-For.*etc.hosts/],
  [
    'a proxy that hides https',
    () => proxy({ caller: { ...caller, protocol: 'http' } }),
    'proxy.caller',
    /X-Forwarded-Proto/,
  ],
  [
    'a certificate that expires soon',
    () => proxy({ certificateEndsMs: NOW.getTime() + 3 * DAY_MS }),
    'proxy.tls',
    /renew/,
  ],
  ['no HSTS', () => proxy({ hsts: null }), 'proxy.hsts', /pass on the header/],
  ['HSTS twice', () => proxy({ hsts: 'max-age=1, max-age=2' }), 'proxy.hsts', /remove it from/],
  ['a page without compression', () => proxy({ page: page(200) }), 'proxy.compression', /Accept-Encoding/],
  [
    'a small limit on bodies',
    () => proxy({ largeBody: { status: 413, isOurs: false } }),
    'proxy.body',
    /client_max_body_size/,
  ],
  [
    'plain http',
    () => proxy({ plain: { kind: 'answered', status: 200, location: '' } }),
    'proxy.http',
    /redirect/,
  ],
  ['no source of prices', () => prices({ feeds: [] }), 'prices', /PRICE_SOURCES/],
  ['a source that fails', () => prices({ feeds: [feedFailed] }), 'prices.skinport.cs', /price list/],
  [
    'a game without prices',
    () => prices({ coverage: [{ game: 'tf', fresh: 0, all: 9 }] }),
    'prices.of.tf',
    /price list/,
  ],
  [
    'an old exchange rate',
    () => prices({ rates: [{ currency: 'BRL', asOf: ago(3 * DAY_MS) }] }),
    'rates.BRL',
    /ecb/,
  ],
  ['no exchange rate', () => prices({ rates: [{ currency: 'EUR', asOf: null }] }), 'rates.EUR', /ecb/],
  ['no bot', () => botFindings([], NOW), 'bots', /bot enrol/],
  ['a dead bot', () => bot({ state: 'dead' }), 'bots.3', /bot renew 3/],
  [
    'a bot without a gateway',
    () => bot({ hasGateway: false, reachable: false }),
    'bots.3',
    /start a gateway/,
  ],
  ['a bot that is offline', () => bot({ reachable: false }), 'bots.3', /bot list/],
  [
    'a bot whose trades Steam would hold',
    () => bot({ bars: [{ scope: 'all', reason: 'own_hold', until: NOW }] }),
    'bots.3',
    /authenticator/,
  ],
  [
    'a barred bot',
    () => bot({ bars: [{ scope: 'cs', reason: 'inventory_full', until: NOW }] }),
    'bots.3',
    /operating/,
  ],
  ['a notice that is not acknowledged', () => bot({ noticeAcknowledged: false }), 'bots.3', /acknowledges/],
  [
    'a token that expires soon',
    () => bot({ tokenExpiresAt: new Date(NOW.getTime() + 9 * DAY_MS) }),
    'bots.3',
    /bot renew 3/,
  ],
  [
    'a token that has expired',
    () => bot({ tokenExpiresAt: new Date(NOW.getTime() - DAY_MS) }),
    'bots.3',
    /bot renew 3/,
  ],
  ['no store', () => storeFindings([]), 'stores', /store add/],
  [
    'a store without a webhook',
    () => storeFindings([{ storeId: 1n, name: 'E', isDisabled: false, endpoints: [] }]),
    'stores.1',
    /webhook-url/,
  ],
  ['an unproved webhook', () => store({ state: 'pending' }), 'stores.1.webhook.5', /challenge/],
  [
    'a webhook that fails',
    () => store({ answer: { kind: 'answered', status: 500 } }),
    'stores.1.webhook.5',
    /2xx/,
  ],
  [
    'a webhook that does not answer',
    () => store({ answer: { kind: 'failed', reason: 'no' } }),
    'stores.1.webhook.5',
    /allow-address/,
  ],
]

it('the doctor asks for as many connections as docs/scaling.md lists for a gateway', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/scaling.md'), 'utf8')
  const [, count, table = ''] = /opens up to (\d+) connections([\s\S]*?)A command takes/.exec(text) ?? []
  const rows = [...table.matchAll(/^\|[^|]*\|(.*)\|$/gm)].map(([, cell = '']) => cell.match(/\d+/g) ?? [])
  const sum = rows.flat().reduce((total, number) => total + Number(number), 0)
  expect([Number(count), sum]).toEqual([NEEDED_CONNECTIONS, NEEDED_CONNECTIONS])
})

describe('a faulty set-up', () => {
  it.each(BROKEN)('is reported, with advice: %s', (_what, findings, check, advice) => {
    const [first, ...others] = faults(findings())
    expect(others).toEqual([])
    expect(first).toMatchObject({ check, advice: expect.stringMatching(advice) })
  })

  it('is reported with its unchecked parts, each with the reason', () => {
    const untested = store({ answer: undefined })
    expect(untested).toMatchObject([
      { state: 'not_checked', says: expect.stringContaining('--send-webhooks') },
    ])
    const unreachable = proxyFindings({ kind: 'failed', reason: 'x' }, { ...OURS, nowMs: 0 })
    const says = unreachable.filter(({ state }) => state === 'not_checked').map((finding) => finding.says)
    expect(says).toEqual(Array(6).fill('the public URL does not answer'))
    const [unread] = prices({ feeds: [{ ...feedFailed, goodAt: null, lastError: null }] })
    expect(unread).toMatchObject({ state: 'not_checked', says: expect.stringContaining('its turn') })
  })
})

describe('the doctor on a real PostgreSQL', () => {
  const ROLE = `doctor_${randomBytes(4).toString('hex')}`
  const KEY = Buffer.alloc(32, 7)
  let till: TestDatabase
  const nowMs = () => Date.now()
  const config: Parameters<typeof identityFindings>[1] = { mode: 'live', masterKey: KEY, oldMasterKeys: [] }

  beforeAll(async () => {
    till = await testDatabase()
    await till.pool.query(`create role ${ROLE} login password 'secret'`)
    await claimDatabase(till.pool, { mode: 'live', keyFingerprint: fingerprintOf(KEY) })
  })
  afterAll(async () => {
    await till.pool.query(`drop owned by ${ROLE}`)
    await till.pool.query(`drop role ${ROLE}`)
    await till.close()
  })

  const asRole = () => Object.assign(new URL(till.url), { username: ROLE, password: 'secret' }).href

  it('finds no fault in a direct connection to a primary', async () => {
    const answer = await probeDatabase(till.url, nowMs)
    expect(faults(databaseFindings(answer))).toEqual([])
    expect(identityFindings(answer, config).map(({ state }) => state)).toEqual(['good', 'good'])
  })

  it('reports a role that may not create or read tables, and finds no fault in one that may read them', async () => {
    const [answer, owner] = await Promise.all([asRole(), till.url].map((url) => probeDatabase(url, nowMs)))
    if (answer === undefined || owner === undefined) throw new Error('a probe has no answer')
    for (const findings of [databaseFindings(answer), databaseFindings(answer, owner)])
      expect(faults(findings).map(({ check }) => check)).toEqual(['database.rights'])
    await withMigrationLock(till.url, {}, (client) => grantApp(client, asRole()))
    expect(faults(databaseFindings(await probeDatabase(asRole(), nowMs), owner))).toEqual([])
  })

  it('reports that DATABASE_URL uses the role of the owner too', async () => {
    const owner = await probeDatabase(till.url, nowMs)
    expect(faults(databaseFindings(owner, owner)).map(({ check }) => check)).toEqual(['database.rights'])
  })

  it('reports a database that accepts no writes', async () => {
    await till.pool.query(`alter role ${ROLE} set default_transaction_read_only = on`)
    const findings = databaseFindings(
      await probeDatabase(asRole(), nowMs),
      await probeDatabase(till.url, nowMs),
    )
    expect(faults(findings).map(({ check }) => check)).toEqual(['database.recovery'])
  })

  it('reports another master key, another mode and an unreachable server', async () => {
    const answer = await probeDatabase(till.url, nowMs)
    const otherKey = { ...config, masterKey: Buffer.alloc(32, 8) }
    const otherMode = { ...config, mode: 'sandbox' as const }
    for (const other of [otherKey, otherMode])
      expect(faults(identityFindings(answer, other)).map(({ check }) => check)).toEqual(['database.identity'])
    const nowhere = await probeDatabase('postgres://nobody@127.0.0.1:9/none', nowMs)
    expect(faults(databaseFindings(nowhere))).toMatchObject([{ check: 'database' }])
  })

  it('ends with exit code 1 after a fault, but makes all checks that the fault does not prevent', async () => {
    const env = { ...LIVE, DATABASE_URL: till.url, TRADETILL_PUBLIC_URL: 'https://127.0.0.1:9' }
    const { out, errors, code } = await runCommand(['doctor', '--json'], { env })
    const { findings, toMend } = JSON.parse(out)
    const states = Object.fromEntries(findings.map(({ check, state }: Finding) => [check, state]))
    expect(states).toMatchObject({ mode: 'good', 'database.identity': 'good', public: 'mend', bots: 'mend' })
    expect({ code, errors }).toEqual({
      code: 1,
      errors: expect.stringContaining(`${toMend} to fix`),
    })
    const printed = await runCommand(['doctor'], {
      env: { ...LIVE, TRADETILL_PUBLIC_URL: 'http://pay.example' },
    })
    expect(printed.out).toContain('TO FIX       settings: TRADETILL_PUBLIC_URL must be set in live mode')
    expect(printed.out).toContain('not checked  database: fix the settings first')
    expect(printed.code).toBe(1)
  })
})

describe('the doctor’s proof that it has the master key', () => {
  const key = Buffer.alloc(32, 7)

  it('is valid for a minute, and only for a till with that key', () => {
    const proof = doctorProof(key, NOW)
    expect(isDoctorProof(key, proof, new Date(NOW.getTime() + 50_000))).toBe(true)
    expect(isDoctorProof(key, proof, new Date(NOW.getTime() + 61_000))).toBe(false)
    expect(isDoctorProof(Buffer.alloc(32, 8), proof, NOW)).toBe(false)
    for (const other of [undefined, '', 'x', `${NOW.getTime()}.${'0'.repeat(64)}`])
      expect(isDoctorProof(key, other, NOW)).toBe(false)
  })
})
