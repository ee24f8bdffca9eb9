import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readNeeds } from '../alerts/needs-store.ts'
import { withMigrationLock } from '../db/migrate.ts'
import { grantVault } from '../db/roles.ts'
import { startConsole } from '../testing/console.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { type ConsoleAnswer, type ConsoleProbe, consoleFindings, operatorFindings } from './console.ts'
import { probeConsole } from './console-probe.ts'
import type { Finding } from './finding.ts'
import {
  alarmFindings,
  epochFindings,
  keyFindings,
  type Pause,
  pauseFindings,
  type VaultState,
  vaultFindings,
} from './till-state.ts'
import { awaitVault, readPauses, readVault } from './till-state-store.ts'

const DAY_MS = 86_400_000
const OURS = { mode: 'live', publicUrl: new URL('https://pay.example'), nowMs: 0 } as const
const ANSWER: Extract<ConsoleAnswer, { kind: 'answered' }> = {
  kind: 'answered',
  status: 200,
  page: 'live',
  refusal: undefined,
  certificateEndsMs: 60 * DAY_MS,
}
const PROBE: ConsoleProbe = {
  url: new URL('https://till-ops.example'),
  listener: { place: '127.0.0.1:4304', isThere: true },
  answer: ANSWER,
}
const VAULT: VaultState = { role: 'granted', connected: 1, unanswered: 0 }

const console = (change: Partial<ConsoleProbe>) => consoleFindings({ ...PROBE, ...change }, OURS)
/** The findings for an answer from something other than a console, unless `change` says otherwise. */
const answer = (change: Partial<typeof ANSWER>) =>
  console({ answer: { ...ANSWER, page: undefined, ...change } })
const epoch = (change: Partial<Parameters<typeof epochFindings>[0]>) =>
  epochFindings({ epoch: 1n, breakKind: undefined, isDisarmed: false, ...change })
const pause = (kind: Pause['kind'], until: Date | null = null) =>
  pauseFindings([{ kind, since: new Date(0), until }], new Date(3 * DAY_MS))
const vault = (change: Partial<VaultState>) => vaultFindings({ ...VAULT, ...change })
const faults = (findings: readonly Finding[]) => findings.filter(({ state }) => state === 'mend')

it.each([
  ['console', () => console({})],
  ['console behind a proxy that refuses strangers', () => answer({ status: 403 })],
  ['operators', () => operatorFindings([{ name: 'nina', passkeys: 2 }])],
  ['epoch', () => epoch({})],
  ['gateways with one master key', () => keyFindings(0)],
  ['no pause', () => pauseFindings([], new Date())],
  ['maintenance with a planned end', () => pause('maintenance', new Date(4 * DAY_MS))],
  ['alarms', () => alarmFindings({ departuresUnexplained: 0, itemsMissing: 0, vaultNeeds: 0 })],
])('no fault is found in a correct set-up: %s', (_what, findings) => {
  expect(findings().length).toBeGreaterThan(0)
  expect(findings().filter(({ state }) => state !== 'good')).toEqual([])
})

it.each<[what: string, findings: () => Finding[], check: string, advice: RegExp]>([
  [
    'no answer at the public name',
    () => console({ answer: { kind: 'failed', reason: 'no' } }),
    'console',
    /DNS/,
  ],
  ['a page that is not the console’s', () => answer({}), 'console', /CONSOLE_HOST/],
  ['a console of a sandbox', () => answer({ page: 'sandbox' }), 'console', /CONSOLE_URL/],
  ['a proxy that replaces Host', () => answer({ status: 421, refusal: 'wrong_host' }), 'console', /Host/],
  ['a proxy that hides https', () => answer({ status: 403, refusal: 'https_required' }), 'console', /Proto/],
  [
    'a certificate that expires soon',
    () => answer({ page: 'live', certificateEndsMs: DAY_MS }),
    'console.tls',
    /renew/,
  ],
  [
    'no listener',
    () =>
      console({
        listener: { place: 'x', isThere: false },
        answer: { ...ANSWER, page: undefined, status: 403 },
      }),
    'console.listener',
    /role console/,
  ],
  [
    'a console under the host name of the shoppers’ page',
    () => console({ url: OURS.publicUrl }),
    'console.origin',
    /own host name/,
  ],
  ['no operator', () => operatorFindings([]), 'console.operators', /operator add/],
  [
    'an operator without a passkey',
    () => operatorFindings([{ name: 'nina', passkeys: 0 }]),
    'console.operators',
    /operator link nina/,
  ],
  ['a restore that was not finished', () => epoch({ breakKind: 'system' }), 'epoch', /restore finish/],
  ['a gateway with another master key', () => keyFindings(1), 'gateways.key', /Another master key/],
  ['bots that are disarmed', () => epoch({ isDisarmed: true }), 'bots.armed', /bot arm/],
  ['forgotten maintenance', () => pause('maintenance'), 'maintenance', /maintenance off/],
  ['offers that fail at every bot', () => pause('offers'), 'steam.offers', /wait until Steam answers/],
  ['inventories that fail at every bot', () => pause('inventories'), 'steam.inventories', /wait until Steam/],
  [
    'unexplained departures',
    () => alarmFindings({ departuresUnexplained: 2, itemsMissing: 0, vaultNeeds: 0 }),
    'alarms.departures',
    /--unexplained/,
  ],
  [
    'items that are missing on Steam',
    () => alarmFindings({ departuresUnexplained: 0, itemsMissing: 1, vaultNeeds: 0 }),
    'alarms.drift',
    /items drift/,
  ],
  [
    'a report of the vault that needs a person',
    () => alarmFindings({ departuresUnexplained: 0, itemsMissing: 0, vaultNeeds: 1 }),
    'alarms.vault',
    /market list/,
  ],
  ['a vault without rights', () => vault({ role: 'not_granted' }), 'vault.rights', /OWNER_DATABASE_URL/],
  ['a vault that is not running', () => vault({ connected: 0 }), 'vault', /start the vault/],
  ['a vault that does not answer wishes', () => vault({ unanswered: 3 }), 'vault', /see its log/],
])('a fault is reported, with advice: %s', (_what, findings, check, advice) => {
  const [first, ...others] = faults(findings())
  expect(others).toEqual([])
  expect(first).toMatchObject({ check, advice: expect.stringMatching(advice) })
})

it('the report about maintenance says for how long it has been on', async () => {
  const database = await testDatabase()
  try {
    const since = new Date('2026-11-26T12:00:00Z')
    await database.db.insertInto('outage').values({ kind: 'maintenance', since }).execute()
    const [finding] = pauseFindings(await readPauses(database.db), new Date('2026-11-28T12:00:00Z'))
    expect(finding?.says).toBe('has been on for 2 days, without a planned end: no new trade begins')
  } finally {
    await database.close()
  }
})

it.each([
  ['1 operator has a passkey', () => operatorFindings([{ name: 'nina', passkeys: 2 }])],
  [
    '2 operators have passkeys',
    () =>
      operatorFindings([
        { name: 'nina', passkeys: 1 },
        { name: 'olaf', passkeys: 1 },
      ]),
  ],
  ['nina has no passkey yet', () => operatorFindings([{ name: 'nina', passkeys: 0 }])],
  [
    'nina, olaf have no passkey yet',
    () =>
      operatorFindings([
        { name: 'nina', passkeys: 0 },
        { name: 'olaf', passkeys: 0 },
      ]),
  ],
  [
    '1 unexplained departure',
    () => alarmFindings({ departuresUnexplained: 1, itemsMissing: 0, vaultNeeds: 0 }),
  ],
  [
    '2 unexplained departures',
    () => alarmFindings({ departuresUnexplained: 2, itemsMissing: 0, vaultNeeds: 0 }),
  ],
])('a finding is in the singular or plural, as its count requires: %s', (says, findings) => {
  expect(findings()[0]?.says).toBe(says)
})

it('parts that are absent, or on another machine, are reported as not checked', () => {
  expect(consoleFindings(undefined, OURS)).toMatchObject([
    { state: 'not_checked', says: expect.stringContaining('TRADETILL_CONSOLE_PORT') },
  ])
  expect(vault({ role: 'absent' })).toMatchObject([
    { state: 'not_checked', says: expect.stringContaining('by hand') },
  ])
  const elsewhere = console({ listener: { place: '127.0.0.1:4304', isThere: false } })
  expect(elsewhere.map(({ state }) => state)).toEqual(['good', 'not_checked', 'good', 'good'])
})

describe('the probe of the console', () => {
  const cleanup: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of cleanup.splice(0)) await close()
  })
  const at = (port: number) => ({
    url: new URL(`http://127.0.0.1:${port}`),
    host: '127.0.0.1',
    port,
    sandboxKey: undefined,
  })
  /** Serves the text on a free port, and resolves to the port. */
  async function serve(text: string): Promise<number> {
    const server = createServer((_request, reply) => reply.end(text))
    cleanup.push(() => server.close().closeAllConnections())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }

  it('recognises the page of the console and its mode, and no other page', async () => {
    const sandbox = readFileSync(join(import.meta.dirname, '../../console/index.html'), 'utf8')
    const live = sandbox.replace('data-mode="sandbox"', 'data-mode="live"')
    const pages = [sandbox, live, '<html lang="en"><title>Tradetill</title>']
    const probes = await Promise.all(pages.map(async (text) => probeConsole(at(await serve(text)))))
    expect(probes.map((probe) => probe.answer)).toMatchObject([
      { page: 'sandbox' },
      { page: 'live' },
      { page: undefined, status: 200 },
    ])
    expect(probes.map(({ listener }) => listener.isThere)).toEqual([true, true, true])
  })

  it('reports why a console refuses, or that nothing listens', async () => {
    const console = await startConsole()
    cleanup.push(console.close)
    await console.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = console.app.server.address() as AddressInfo
    expect(await probeConsole(at(port))).toMatchObject({
      listener: { isThere: true },
      answer: { status: 421, refusal: 'wrong_host' },
    })
    expect(await probeConsole(at(9))).toMatchObject({
      listener: { isThere: false },
      answer: { kind: 'failed' },
    })
  })
})

describe('the doctor on a real PostgreSQL', () => {
  const ROLE = `doctor_vault_${randomBytes(4).toString('hex')}`
  let till: TestDatabase
  beforeAll(async () => {
    till = await testDatabase()
  })
  afterAll(async () => {
    await till.pool.query(`drop owned by ${ROLE}`)
    await till.pool.query(`drop role ${ROLE}`)
    await till.close()
  })

  it('sees no alarm in an empty till', async () => {
    expect(await readNeeds(till.db)).toMatchObject({
      departuresUnexplained: 0,
      itemsMissing: 0,
      vaultNeeds: 0,
    })
  })

  it('reads the vault’s role, its rights, its connection, and the wishes that it has not answered within 15 minutes', async () => {
    expect(await readVault(till.db, ROLE)).toEqual({ role: 'absent', connected: 0, unanswered: 0 })
    await till.pool.query(`create role ${ROLE} login password 'secret'`)
    expect(await readVault(till.db, ROLE)).toMatchObject({ role: 'not_granted' })
    await withMigrationLock(till.url, {}, (client) => grantVault(client, ROLE))
    const asVault = Object.assign(new URL(till.url), { username: ROLE, password: 'secret' }).href
    const client = new pg.Client({ connectionString: asVault })
    // A vault that was started a moment ago connects while the doctor waits for it.
    const pauses: unknown[] = []
    const connect = async () => void pauses.push(await client.connect())
    expect(await awaitVault(till.db, connect, ROLE)).toMatchObject({ role: 'granted', connected: 1 })
    expect(pauses).toHaveLength(1)
    await till.pool.query(
      `insert into bot (steam_id, name, avatar_url, profile_url, level, refresh_token)
         values ('76561198000000001', 'Bot', 'a', 'p', 1, '');
       insert into wish (kind, bot_id, destination, asked_by, created_at)
         select 'send', id, 'storage', 'operator', till_now() - interval '16 minutes' from bot;
       insert into wish (kind, bot_id, destination, asked_by, created_at)
         select 'send', id, 'storage', 'operator', till_now() from bot`,
    )
    expect(await readVault(till.db, ROLE)).toEqual({ role: 'granted', connected: 1, unanswered: 1 })
    // As after a rollback to a release that does not grant this right.
    const takeUp = `execute on function hold_open_wish(bigint)`
    await till.pool.query(`revoke ${takeUp} from public, ${ROLE}`)
    expect(await readVault(till.db, ROLE)).toMatchObject({ role: 'not_granted' })
    await till.pool.query(`grant ${takeUp} to ${ROLE}`)
    await client.end()
    await expect.poll(() => readVault(till.db, ROLE)).toMatchObject({ connected: 0 })
    expect(await awaitVault(till.db, async () => void pauses.push('no vault'), ROLE)).toMatchObject({
      connected: 0,
    })
    expect(pauses.slice(1)).toEqual(Array(5).fill('no vault'))
  })
})
