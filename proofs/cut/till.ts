/** A till whose crediting runs through a proxy, and deliveries that wait to be credited. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { createQueue } from '../../gateway/db/boss-queue.ts'
import { type Database, openDatabase } from '../../gateway/db/client.ts'
import { migrate } from '../../gateway/db/migrate.ts'
import { createSignals } from '../../gateway/db/pg-signals.ts'
import { type Delivery, uncreditedDelivery } from '../../gateway/testing/delivery.ts'
import { captureLog } from '../../gateway/testing/log.ts'
import { aBot, aStore, type Till, tillOn } from '../../gateway/testing/till.ts'
import type { TradeDeps } from '../../gateway/trades/deps.ts'
import { createTradeStore } from '../../gateway/trades/postgres-store.ts'
import { record } from '../../gateway/trades/record.ts'
import { type CutProxy, startCutProxy } from './proxy.ts'

export type CutTill = {
  /** URL of the database, without the proxy. */
  url: string
  proxy: CutProxy
  direct: Database
  deps: Till['deps']
  /** Makes a trade whose offer is accepted, and Steam's record of it. The store is a new one by default. */
  makeDelivery(owner?: { storeId: bigint }): Promise<Delivery>
  /** Credits through the proxy. */
  credit(delivery: Delivery): Promise<void>
  close(): Promise<void>
}

/**
 * The limit of a new store for credit at risk. A delivery exceeds it, so the rest is held, and the delivery is posted
 * to the available and the held account of the store.
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
  const proxiedUrl = new URL(url)
  proxiedUrl.port = String(proxy.port)
  const proxied = openDatabase(proxiedUrl.href, 1)
  const till = await tillOn({
    db: direct.db,
    url: url.href,
    queue,
    signals,
    log,
    lines,
    // The parts are closed below.
    close: async () => {},
  })
  // Every delivery is protected, whatever its game, so it counts towards the limit.
  const deps: Till['deps'] = { ...till.deps, protectionDays: () => 8 }
  const { bot } = await aBot(till)
  const proxiedDeps: TradeDeps = { ...deps, trades: createTradeStore({ ...deps, db: proxied.db }) }
  return {
    url: url.href,
    proxy,
    direct,
    deps,
    async makeDelivery(owner) {
      const store = owner ? { id: owner.storeId } : await aStore(till, { riskLimitUsdCents: RISK_CENTS })
      return uncreditedDelivery(till, { botId: bot.botId, store })
    },
    async credit({ tradeId, offerId, steamTrade }) {
      const fact = { kind: 'steam_trade_read', offerId, steamTrade } as const
      // The number of the bot's first lease.
      await record(proxiedDeps, { tradeId, writer: { leaseEpoch: 1n } }, fact)
    },
    async close() {
      await Promise.all([queue.stop(), signals.close()])
      await Promise.all([proxied.close(), direct.close()])
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
