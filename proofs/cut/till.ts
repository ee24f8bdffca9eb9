/** A till whose crediting runs through a proxy, and deliveries that wait to be credited. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { DEFAULT_FLEET_LIMITS } from '../../gateway/bots/fleet.ts'
import { createQueue } from '../../gateway/db/boss-queue.ts'
import { type Database, openDatabase } from '../../gateway/db/client.ts'
import { migrate } from '../../gateway/db/migrate.ts'
import { createSignals } from '../../gateway/db/pg-signals.ts'
import { createDepartureStore } from '../../gateway/departures/store.ts'
import { ensureDepositQueues } from '../../gateway/deposits/jobs.ts'
import { ensureEventQueue } from '../../gateway/events/jobs.ts'
import { systemIds } from '../../gateway/kit/ids.ts'
import { DEFAULT_RULES } from '../../gateway/pricing/price.ts'
import { fakeClock } from '../../gateway/testing/clock.ts'
import { acceptedDelivery, type Delivery } from '../../gateway/testing/delivery.ts'
import { captureLog } from '../../gateway/testing/log.ts'
import { aBot, aStore, TEST_BOX, type Till } from '../../gateway/testing/till.ts'
import { CORE } from '../../gateway/trades/core.ts'
import type { TradeDeps } from '../../gateway/trades/deps.ts'
import type { IntentDeps } from '../../gateway/trades/intent-store.ts'
import { createTradeStore } from '../../gateway/trades/postgres-store.ts'
import { record } from '../../gateway/trades/record.ts'
import { deliveryWriter } from '../../gateway/webhooks/store.ts'
import { type CutProxy, startCutProxy } from './proxy.ts'

export type CutTill = {
  /** URL of the database, without the proxy. */
  url: string
  proxy: CutProxy
  direct: Database
  deps: Till['deps']
  /** Makes a trade with an accepted offer, and Steam's record of it, for a new store by default. */
  accepted(of?: { storeId: bigint }): Promise<Delivery>
  /** Credits through the proxy. */
  credit(delivery: Delivery): Promise<void>
  close(): Promise<void>
}

/**
 * The part of each delivery that is credited at the operator's risk. The rest is held, so every kind of posting occurs.
 */
const RISK_CENTS = 1_000n

export async function openCutTill(serverUrl: string): Promise<CutTill> {
  const name = `cut_${randomBytes(6).toString('hex')}`
  await onServer(serverUrl, `create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  await migrate({ url: url.href })
  const { log, lines } = captureLog()
  const queue = await createQueue({ url: url.href, log })
  const signals = await createSignals({ url: url.href, log })
  const direct = openDatabase(url.href, 8)
  const proxy = await startCutProxy({ host: url.hostname, port: Number(url.port) })
  const proxied = new URL(url)
  proxied.port = String(proxy.port)
  const cut = openDatabase(proxied.href, 1)
  const common = {
    db: direct.db,
    queue,
    signals,
    clock: fakeClock(new Date()),
    ids: systemIds,
    box: TEST_BOX,
    log,
    steam: {
      openSession: async () => ({ kind: 'refused', reason: 'token_dead' }),
      readProfile: async () => ({ kind: 'unknown_account' }),
    },
    publicUrl: 'http://till.test',
    limits: { maxItems: 50, fleet: DEFAULT_FLEET_LIMITS },
  } satisfies IntentDeps
  const deps: Till['deps'] = {
    ...common,
    addDeliveries: deliveryWriter(common),
    trades: createTradeStore(common),
    departures: createDepartureStore(common),
    destinations: new Map(),
    core: CORE,
    rules: DEFAULT_RULES,
    protectionDays: () => 8,
    historyEveryMs: 3_600_000,
  }
  await ensureEventQueue(deps)
  await ensureDepositQueues(deps)
  const clock = fakeClock(new Date())
  const till: Till = { deps, lines, clock, db: direct.db, url: url.href, close: async () => {} }
  const { bot } = await aBot(till)
  const through: TradeDeps = { ...deps, trades: createTradeStore({ ...common, db: cut.db }) }
  return {
    url: url.href,
    proxy,
    direct,
    deps,
    async accepted(of) {
      const store = of ? { id: of.storeId } : await aStore(till, { riskLimitUsdCents: RISK_CENTS })
      return acceptedDelivery(till, { botId: bot.botId, store })
    },
    async credit({ tradeId, offerId, steamTrade }) {
      const fact = { kind: 'steam_trade_read', offerId, steamTrade } as const
      await record(through, { tradeId, writer: { epoch: 1n } }, fact)
    },
    async close() {
      await Promise.all([queue.stop(), signals.close()])
      await Promise.all([cut.close(), direct.close()])
      await proxy.close()
      await onServer(serverUrl, `drop database ${name} with (force)`)
    },
  }
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
