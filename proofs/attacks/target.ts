/**
 * The attacked till: the gateway in live mode behind a proxy, with two stores and three shoppers. It serves the page,
 * the shopper's calls and the store API, but no receipts.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { depositRoutes, paymentRoute } from '../../gateway/deposits/routes.ts'
import { viewReader } from '../../gateway/deposits/shopper-view.ts'
import { createViewCache } from '../../gateway/deposits/view-cache.ts'
import { createApp } from '../../gateway/http/app.ts'
import { createLimits } from '../../gateway/http/limits.ts'
import { pageMetricsRoute } from '../../gateway/http/page-metrics.ts'
import { inventoryRoutes } from '../../gateway/inventory/routes.ts'
import { createMetrics } from '../../gateway/metrics.ts'
import { createCallerLookups } from '../../gateway/store-api/caller-lookups.ts'
import { storeRoutes } from '../../gateway/store-api/routes.ts'
import { BACK_URL, startStoreApi } from '../../gateway/testing/store-api.ts'
import { aDeposit, aStore, type Till } from '../../gateway/testing/till.ts'
import { NONE_ALLOWED } from '../../gateway/testing/webhooks.ts'
import { tradeRoutes } from '../../gateway/trades/routes.ts'
import { createSender } from '../../gateway/webhooks/sender.ts'

export const ORIGIN = 'https://till.test'
const HOST = 'till.test'
const PROXY = '127.0.0.1'
const IMAGES = 'https://images.test'
/** The page's token against cross-site requests. */
export const TOKEN = 'A'.repeat(43)

export type Ask = {
  method?: string
  url: string
  /** Changes to the usual headers; undefined omits one. */
  headers?: Record<string, string | undefined>
  body?: unknown
  /** Address of the caller, as the proxy reports it; by default a different one for each call. */
  ip?: string
  /** Address of the connection; the proxy's by default. */
  peer?: string
}

export type Store = { id: bigint; key: string; depositIds: string[] }

export type Target = {
  till: Till
  app: FastifyInstance
  victim: Store
  attacker: Store
  /** The deposit of each shopper: two deposits at the victim, then one at the attacker. */
  shoppers: { id: bigint; hash: string; quoteId: string }[]
  /** Calls with only the headers that every caller or the proxy sets. A body is sent as JSON. */
  ask(ask: Ask): Promise<LightMyRequestResponse>
  /** Calls as the till's page does, with POST unless `method` says otherwise. */
  callAsPage(ask: Ask): Promise<LightMyRequestResponse>
  /** Calls as a store does: the victim, unless `key` belongs to another. */
  callAsStore(ask: Ask & { key?: string }): Promise<LightMyRequestResponse>
  /** Adds a key of the victim. */
  newKey(scopes: readonly ('deposits:read' | 'deposits:write')[]): Promise<string>
  /** Contains three files that no caller may read: a secret, a source map and a hidden file. */
  folder: string
  close(): Promise<void>
}

let externalIds = 0
/** The body of a valid deposit. */
export const aBody = () => ({
  externalId: `attack ${++externalIds}`,
  currency: 'USD',
  backToStoreUrl: BACK_URL,
})

export async function openTarget(plain: Till): Promise<Target> {
  const till: Till = { ...plain, deps: { ...plain.deps, publicUrl: ORIGIN } }
  const api = await startStoreApi(till, {
    hasLimits: false,
    change: {
      keyMode: 'live',
      mode: 'live',
      findAllowance: NONE_ALLOWED,
      send: createSender({ mode: 'live', findAllowance: NONE_ALLOWED }),
    },
  })
  // The server of this API is not needed: the app below serves its routes, as a live gateway does.
  await api.app.close()
  const folder = writePage()
  const { db, queue, log, clock } = till.deps
  const views = createViewCache({ read: viewReader(db, 'https://steam.test'), log, nowMs: () => 0 })
  const inventory = { ...till.deps, imageBase: IMAGES, maxItems: 50 }
  const app = await createApp({
    log,
    mode: 'live',
    publicUrl: new URL(ORIGIN),
    imageOrigins: [IMAGES],
    widgetFolder: join(folder, 'page'),
    trustedProxies: [PROXY],
    limits: createLimits(() => 0),
    callerLookups: createCallerLookups({ db, clock, keyMode: 'live', views }),
    healthy: async () => true,
    routes: {
      polled: [paymentRoute({ db, queue, log, views, nowMs: () => 0, unableReason: () => undefined })],
      widget: [
        depositRoutes(till.deps),
        inventoryRoutes(inventory),
        tradeRoutes(till.deps),
        pageMetricsRoute(createMetrics()),
      ],
      store: [storeRoutes(api.deps)],
    },
  })
  const ask = asker(app)
  const otherStore = await aStore(till)
  const victim: Store = { id: api.store.id, key: api.key, depositIds: [] }
  const attacker: Store = { id: otherStore.id, key: await api.newKey(otherStore), depositIds: [] }
  const shoppers = [
    await aDeposit(till, victim),
    await aDeposit(till, victim, { game: 'cs' }),
    await aDeposit(till, attacker),
  ]
  victim.depositIds.push(...shoppers.slice(0, 2).map(({ id }) => String(id)))
  attacker.depositIds.push(...shoppers.slice(2).map(({ id }) => String(id)))
  return {
    till,
    app,
    victim,
    attacker,
    shoppers,
    folder,
    ask,
    newKey: (scopes) => api.newKey(victim, scopes),
    callAsPage: ({ headers, ...rest }) =>
      ask({ method: 'POST', ...rest, headers: { ...PAGE_HEADERS, ...headers } }),
    callAsStore: ({ key = victim.key, headers, ...rest }) =>
      ask({ ...rest, headers: { authorization: `Bearer ${key}`, ...headers } }),
    async close() {
      views.stop()
      await app.close()
      rmSync(folder, { recursive: true })
    },
  }
}

const PAGE_HEADERS = {
  cookie: `__Host-csrf=${TOKEN}`,
  'x-csrf-token': TOKEN,
  origin: ORIGIN,
  'sec-fetch-site': 'same-origin',
}

let callers = 0

/** Gives each call a different address, so limits that other cases reached do not affect it. */
function asker(app: FastifyInstance): Target['ask'] {
  return async ({ method = 'GET', url, headers = {}, body, ip, peer = PROXY }) => {
    callers += 1
    const caller = ip ?? `10.${(callers >> 16) & 255}.${(callers >> 8) & 255}.${callers & 255}`
    const allHeaders = {
      host: HOST,
      'x-forwarded-for': caller,
      'x-forwarded-proto': 'https',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    }
    const sent = Object.entries(allHeaders).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    )
    const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    // inject() accepts more methods than its type lists.
    const knownMethod = method as NonNullable<InjectOptions['method']>
    return app.inject({
      method: knownMethod,
      url,
      headers: Object.fromEntries(sent),
      remoteAddress: peer,
      ...(body === undefined ? {} : { payload }),
    })
  }
}

export const MACHINE_SECRET = 'a secret of the machine'

function writePage(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-attacks-'))
  mkdirSync(join(folder, 'page/assets'), { recursive: true })
  writeFileSync(join(folder, 'secret.txt'), MACHINE_SECRET)
  writeFileSync(join(folder, 'page/index.html'), '<html data-mode="sandbox">')
  writeFileSync(join(folder, 'page/.env'), MACHINE_SECRET)
  writeFileSync(join(folder, 'page/assets/app.js'), 'let plain')
  writeFileSync(join(folder, 'page/assets/app.js.map'), MACHINE_SECRET)
  return folder
}
