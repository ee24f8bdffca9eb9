/** The doctor's report if parts fail during the checks: each failure is a line, and the report is complete. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { claimDatabase } from '../db/identity.ts'
import { systemClock } from '../kit/clock.ts'
import { createSecretBox, fingerprintOf } from '../kit/secret-box.ts'
import { createStore } from '../stores/service.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { type SilentProxy, startSilentProxy } from '../testing/silent-proxy.ts'
import { probeDatabase } from './database-store.ts'
import { examine } from './doctor.ts'
import { storeFindings } from './readiness.ts'
import { readStoreStates, type TestsDeps } from './store-states.ts'

const KEY = Buffer.alloc(32, 7)

let database: TestDatabase
beforeEach(async () => {
  database = await testDatabase()
})
afterEach(() => database.close())

describe('a database that disappears during the checks', () => {
  let proxy: SilentProxy
  let publicAddress: Server | undefined

  beforeEach(async () => {
    proxy = await startSilentProxy(database.url)
  })
  afterEach(async () => {
    vi.useRealTimers()
    publicAddress?.close().closeAllConnections()
    await proxy.close()
  })

  /** The public URL is checked after the database, so the database disappears then. */
  async function addressThat(disappear: () => void): Promise<string> {
    publicAddress = createServer((_request, answer) => {
      disappear()
      answer.end('no till')
    })
    const server = publicAddress
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('is reported for each part that could not be checked, along with all results', async () => {
    await claimDatabase(database.pool, { mode: 'sandbox', keyFingerprint: fingerprintOf(KEY) })
    const env = {
      DATABASE_URL: proxy.url,
      TRADETILL_MASTER_KEY: KEY.toString('base64'),
      TRADETILL_PUBLIC_URL: await addressThat(() => proxy.refuse()),
    }
    const answer = await examine({ env, sendsWebhooks: true })
    if (answer.kind === 'unchanged' || answer.data === undefined) throw new Error('there is no report')
    const { findings, notChecked } = answer.data
    const states = new Map(findings.map((finding) => [finding.check, finding]))
    expect(states.get('database.version')?.state).toBe('good')
    expect(states.get('database.identity')?.state).toBe('good')
    expect(states.get('public')?.state).toBe('mend')
    for (const check of ['epoch', 'prices', 'bots', 'alarms', 'vault', 'stores']) {
      expect(states.get(check), check).toMatchObject({
        state: 'not_checked',
        says: expect.stringContaining('the check failed: '),
      })
    }
    expect(notChecked).toBeGreaterThanOrEqual(6)
  })

  it('fails the probe if the server does not answer a query', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let isSilent = false
    // Called between two queries.
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

describe('tests of webhooks', () => {
  const box = createSecretBox(KEY, [])
  const deps = (send: NonNullable<TestsDeps['send']>): TestsDeps => ({
    config: Object.assign(Object.create(null), { masterKey: KEY, oldMasterKeys: [] }),
    db: database.db,
    clock: systemClock,
    sendsWebhooks: true,
    send,
  })
  const answered = { kind: 'answered', status: 200, text: '' } as const

  /** Stores with one webhook each. */
  async function someStores(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const answer = await createStore(
        { db: database.db, box, mode: 'live', clock: systemClock },
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
    await someStores(18)
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

  it('begin within a minute, and the others are reported as not tested', async () => {
    await someStores(2)
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
})
