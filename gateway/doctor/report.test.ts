import { randomBytes, randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Game } from '../../contract/games.ts'
import { beatProcess } from '../bots/process-store.ts'
import { readConfig } from '../config.ts'
import { claimDatabase } from '../db/identity.ts'
import { systemClock } from '../kit/clock.ts'
import { createSecretBox, fingerprintOf } from '../kit/secret-box.ts'
import { DEFAULT_RULES } from '../pricing/price.ts'
import { savePrices } from '../pricing/store.ts'
import { createStore } from '../stores/service.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { type SilentProxy, startSilentProxy } from '../testing/silent-proxy.ts'
import { identityFindings } from './database.ts'
import { probeDatabase } from './database-store.ts'
import { examine } from './doctor.ts'
import { commissionFindings, storeFindings } from './readiness.ts'
import { readCoverage, readStores } from './readiness-store.ts'
import { readStoreStates, type TestsDeps } from './store-states.ts'

const KEY = Buffer.alloc(32, 7)

let database: TestDatabase
beforeEach(async () => {
  database = await testDatabase()
})
afterEach(() => database.close())

it('a price from the future is not counted as valid', async () => {
  const now = new Date()
  const row = (marketHashName: string, asOf: Date) => ({
    marketHashName,
    usdMicros: 10n,
    levelUsdMicros: null,
    popularity: 9,
    popularityKind: 'listings' as const,
    asOf,
  })
  const rows = [row('Knife', now), row('Case', new Date(now.getTime() + 600_000))]
  await savePrices(database.db, { source: 'market', game: 'cs' }, rows)
  expect(await readCoverage(database.db, DEFAULT_RULES, now)).toContainEqual({ game: 'cs', all: 2, fresh: 1 })
})

it('the report names a gateway that seals with another master key', async () => {
  await claimDatabase(database.pool, { mode: 'sandbox', keyFingerprint: fingerprintOf(KEY) })
  const other = { owner: randomUUID(), maxBots: 50, keyFingerprint: fingerprintOf(Buffer.alloc(32, 8)) }
  await beatProcess(database.db, other)
  const env = {
    DATABASE_URL: database.url,
    TRADETILL_MASTER_KEY: KEY.toString('base64'),
    TRADETILL_PUBLIC_URL: 'http://127.0.0.1:9',
  }
  const answer = await examine({ settings: readConfig(env), sendsWebhooks: false })
  if (answer.kind === 'unchanged' || answer.data === undefined) throw new Error('there is no report')
  expect(answer.data.findings.find(({ check }) => check === 'gateways.key')).toMatchObject({
    state: 'mend',
    says: '1 running gateway seals with another master key',
  })
})

describe('a database that disappears during the checks', () => {
  let proxy: SilentProxy
  let publicServer: Server | undefined

  beforeEach(async () => {
    proxy = await startSilentProxy(database.url)
  })
  afterEach(async () => {
    vi.useRealTimers()
    publicServer?.close().closeAllConnections()
    await proxy.close()
  })

  /** Starts a server for the public URL, which the doctor calls right after it has checked the database. */
  async function startPublicServer(onCall: () => void): Promise<string> {
    const server = createServer((_request, answer) => {
      onCall()
      answer.end('no till')
    })
    publicServer = server
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('is reported for each part that could not be checked, and the other parts have their results', async () => {
    await claimDatabase(database.pool, { mode: 'sandbox', keyFingerprint: fingerprintOf(KEY) })
    const env = {
      DATABASE_URL: proxy.url,
      TRADETILL_MASTER_KEY: KEY.toString('base64'),
      TRADETILL_PUBLIC_URL: await startPublicServer(() => proxy.refuse()),
    }
    const answer = await examine({ settings: readConfig(env), sendsWebhooks: true })
    if (answer.kind === 'unchanged' || answer.data === undefined) throw new Error('there is no report')
    const { findings, notChecked } = answer.data
    const byCheck = new Map(findings.map((finding) => [finding.check, finding]))
    expect(byCheck.get('database.version')?.state).toBe('good')
    expect(byCheck.get('database.identity')?.state).toBe('good')
    expect(byCheck.get('public')?.state).toBe('mend')
    for (const check of ['epoch', 'gateways', 'prices', 'bots', 'maintenance', 'alarms', 'vault', 'stores']) {
      expect(byCheck.get(check), check).toMatchObject({
        state: 'not_checked',
        says: expect.stringContaining('the check failed: '),
      })
    }
    expect(notChecked).toBeGreaterThanOrEqual(6)
  })

  it('makes the probe fail if the server stops answering queries', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let isSilent = false
    // The probe reads the time between two queries, so the second one gets no answer.
    const nowMs = () => {
      proxy.swallow()
      isSilent = true
      return 0
    }
    const probing = probeDatabase(proxy.url, nowMs)
    await expect.poll(() => isSilent).toBe(true)
    await vi.advanceTimersByTimeAsync(12_000)
    expect(await probing).toEqual({ kind: 'failed', reason: 'the database did not answer in time' })
  })
})

it('every part that reads the tables of an unreachable database is listed as not checked', async () => {
  const env = {
    DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
    TRADETILL_MASTER_KEY: KEY.toString('base64'),
    TRADETILL_PUBLIC_URL: 'http://127.0.0.1:9',
    TRADETILL_CONSOLE_PORT: '4304',
  }
  const answer = await examine({ settings: readConfig(env), sendsWebhooks: false })
  if (answer.kind === 'unchanged' || answer.data === undefined) throw new Error('there is no report')
  const waiting = answer.data.findings.filter(({ says }) => says === 'fix the database first')
  expect(waiting.map(({ check }) => check)).toEqual([
    'epoch',
    'gateways',
    'console.operators',
    'prices',
    'bots',
    'maintenance',
    'alarms',
    'vault',
    'stores',
  ])
})

it.each([
  [1, '1 migration is missing'],
  [2, '2 migrations are missing'],
])('the report counts %i missing migrations', async (missing, says) => {
  const answer = await probeDatabase(database.url, () => Date.now())
  if (answer.kind === 'failed') throw new Error(answer.reason)
  const applied = answer.applied.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, -missing)
  const settings = { mode: 'sandbox' as const, masterKey: KEY, oldMasterKeys: [] }
  const findings = identityFindings({ ...answer, applied }, settings)
  expect(findings.find(({ check }) => check === 'database.schema')).toMatchObject({ state: 'mend', says })
})

describe('tests of webhooks', () => {
  const box = createSecretBox(KEY, [])
  const deps = (send: NonNullable<TestsDeps['send']>): TestsDeps => ({
    config: { masterKey: KEY, oldMasterKeys: [], webhookMode: 'live' },
    db: database.db,
    clock: systemClock,
    sendsWebhooks: true,
    send,
  })
  const answered = { kind: 'answered', status: 200, text: '' } as const

  /** Adds stores with one webhook each. */
  async function addStores(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const answer = await createStore(
        { db: database.db, box, mode: 'live', webhookMode: 'live', clock: systemClock },
        {
          name: `Store ${index}`,
          origins: ['https://store.example'],
          webhookUrl: `https://store.example/${index}`,
          riskLimitUsdCents: 0n,
        },
      )
      expect(answer.kind).toBe('created')
    }
    await database.db.updateTable('webhook_endpoint').set({ state: 'enabled', proved: true }).execute()
  }

  it('run sixteen at a time', async () => {
    await addStores(18)
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    let [underWay, most] = [0, 0]
    const states = readStoreStates(
      deps(async () => {
        underWay += 1
        most = Math.max(most, underWay)
        await gate
        underWay -= 1
        return answered
      }),
    )
    await expect.poll(() => underWay).toBe(16)
    open()
    expect(storeFindings(await states).map(({ state }) => state)).toEqual(Array(18).fill('good'))
    expect(most).toBe(16)
  })

  it('that could not begin within a minute are omitted, and their webhooks are reported as not tested', async () => {
    await addStores(2)
    // The beginning of all tests, then the turns of the first and the second.
    const times = [0, 60_000, 60_001]
    const states = await readStoreStates(
      deps(async () => answered),
      () => times.shift() ?? Number.POSITIVE_INFINITY,
    )
    expect(storeFindings(states)).toMatchObject([
      { state: 'good' },
      { state: 'not_checked', says: expect.stringContaining('more than a minute') },
    ])
  })

  it('are not sent to a disabled store, which needs nothing of the operator', async () => {
    await addStores(2)
    const [withWebhook, withoutWebhook] = await readStores(database.db)
    const disabled = { disabled_at: new Date(), commission_bps: 0 }
    await database.db.updateTable('store').set(disabled).execute()
    await database.db
      .deleteFrom('webhook_endpoint')
      .where('store_id', '=', withoutWebhook?.id ?? 0n)
      .execute()
    let sent = 0
    const states = await readStoreStates(
      deps(async () => {
        sent += 1
        return answered
      }),
    )
    const says = expect.stringContaining('is disabled')
    expect(storeFindings(states)).toMatchObject([
      { check: `stores.${withWebhook?.id}`, state: 'not_checked', says },
      { check: `stores.${withoutWebhook?.id}`, state: 'not_checked', says },
    ])
    const config = { priceRules: DEFAULT_RULES, mayPayAboveLevel: new Set<Game>() }
    expect(commissionFindings(await readStores(database.db), config)).toEqual([])
    expect(sent).toBe(0)
  })

  it('are not sent to a webhook whose secret the configured keys cannot decrypt: it is reported', async () => {
    await addStores(1)
    let sent = 0
    const states = await readStoreStates({
      ...deps(async () => {
        sent += 1
        return answered
      }),
      config: { masterKey: randomBytes(32), oldMasterKeys: [], webhookMode: 'live' },
    })
    expect(storeFindings(states)).toMatchObject([
      { state: 'mend', advice: expect.stringMatching(/webhook rotate \d+ --reason/) },
    ])
    expect(sent).toBe(0)
  })
})
