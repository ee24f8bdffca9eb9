/** The composition root: wires the parts together, with the help of the *-parts.ts files. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { EventType } from '../contract/event-types.ts'
import type { Game } from '../contract/games.ts'
import { startBots } from './bots/runner.ts'
import { createFollower } from './clock/service.ts'
import type { Config, Role } from './config.ts'
import { serveConsole } from './console-parts.ts'
import type { Build } from './db/build.ts'
import type { Signals } from './db/signals.ts'
import { createDepartureStore } from './departures/store.ts'
import { createDeposit } from './deposits/create.ts'
import { ensureDepositQueues, workOnPrefills } from './deposits/jobs.ts'
import { depositRoutes, paymentRoute } from './deposits/routes.ts'
import { viewReader } from './deposits/shopper-view.ts'
import { embedOriginOf } from './deposits/store.ts'
import { listDeposits, storeDepositOf } from './deposits/store-deposit.ts'
import { createViewCache } from './deposits/view-cache.ts'
import { createDriftStore } from './drift/store.ts'
import { driftHandler } from './drift/watch.ts'
import { createMemory } from './epochs/memory.ts'
import { type EpochWatch, watchEpoch } from './epochs/service.ts'
import { ensureEventQueue, workOnEvents } from './events/jobs.ts'
import { createApp, type ObservedCall } from './http/app.ts'
import { createEmbedTokens } from './http/embed-token.ts'
import { createLimits, type Limits } from './http/limits.ts'
import { serveMetrics } from './http/metrics.ts'
import { registerStorageMetrics } from './http/metrics-store.ts'
import { pageMetricsRoute } from './http/page-metrics.ts'
import type { Progress } from './http/readiness.ts'
import { inventoryHandler } from './inventory/jobs.ts'
import { inventoryRoutes } from './inventory/routes.ts'
import { systemClock } from './kit/clock.ts'
import { isDoctorProof } from './kit/doctor-proof.ts'
import { HOUR_MS, MINUTE_MS } from './kit/duration.ts'
import { systemIds } from './kit/ids.ts'
import type { Log } from './kit/log.ts'
import { type Repeating, repeat } from './kit/repeat.ts'
import { scrub } from './kit/scrub.ts'
import { type Shutdown, STOP_MS } from './kit/shutdown.ts'
import { createMetrics, type Metrics, watchProcess } from './metrics.ts'
import { pageFacts } from './page-facts.ts'
import { startPricing } from './pricing/jobs.ts'
import { priceSources } from './pricing/sources/all.ts'
import { SANDBOX_PRICES } from './pricing/sources/file.ts'
import { receiptRoute } from './receipts/routes.ts'
import { type Startup, startUp } from './startup.ts'
import { cacheProfiles } from './steam/profile-cache.ts'
import { createSteam, type SteamParts } from './steam-parts.ts'
import { openStorage, type Storage, unableReasonOf } from './storage-parts.ts'
import { logCall } from './store-api/call-log.ts'
import { createCallerLookups } from './store-api/caller-lookups.ts'
import type { StoreApiDeps } from './store-api/deps.ts'
import { storeRoutes } from './store-api/routes.ts'
import { alertSweeps, processSweeps, type Sweep, sweepsOf } from './sweeps.ts'
import { tradeHandlers } from './trades/advance.ts'
import { cancelDeposit } from './trades/cancellation.ts'
import { CORE } from './trades/core.ts'
import { workOnExpiry } from './trades/expiry.ts'
import { createTradeStore } from './trades/postgres-store.ts'
import { tradeRoutes } from './trades/routes.ts'
import { allowanceFinder } from './webhooks/address-store.ts'
import { createChallengePlaces } from './webhooks/challenge.ts'
import type { AttemptFacts } from './webhooks/delivery.ts'
import { secretsOf } from './webhooks/endpoints.ts'
import { startLanes } from './webhooks/lanes.ts'
import { createSender } from './webhooks/sender.ts'
import { deliveryWriter, type Signer } from './webhooks/store.ts'

const WIDGET_FOLDER = join(import.meta.dirname, '../widget/dist')
/** How often to read a sandbox's clock. */
const CLOCK_MS = 1_000

export type Gateway = {
  url: string
  /** Resolves to a reason when a part that the gateway needs has ended unexpectedly. */
  died: Promise<string>
  stop(): Promise<void>
  /** Ends the wait of `stop` in which load balancers notice that the gateway stops. */
  hurry(): void
}

/** Starts all parts. If one fails to start, stops those that had started. */
export async function startGateway(config: Config, startup: Startup = startUp(config)): Promise<Gateway> {
  const { log, shutdown } = startup
  try {
    const store = await openStorage(config, startup)
    const stopping = new AbortController()
    const signals = endWaitsAt(stopping.signal, store.signals)
    const metrics = createMetrics(startup.build)
    registerStorageMetrics(metrics.registry, store.database.db)
    const progress: Progress = { state: 'starting' }
    const steam = createSteam(config, store.clock, metrics)
    const parts = { config, log, metrics, progress, build: startup.build, ...store, signals, ...steam }
    const features = await prepareFeatures(parts, shutdown)
    const app = await createHttp(parts, features, shutdown)
    const hurry = new AbortController()
    shutdown.add('readiness', 'readiness', async () => {
      const wasReady = progress.state === 'ready'
      progress.state = 'draining'
      // An abort ends the wait early.
      if (wasReady) await delay(config.drainMs, undefined, { signal: hurry.signal }).catch(() => {})
    })
    shutdown.add('calls', 'http', () => {
      const closed = app.close()
      stopping.abort()
      return closed
    })
    await app.listen({ host: config.host, port: config.port })
    await serveConsole(parts, shutdown)
    // The gateway already answers calls here. Those that need a bot wait a moment longer.
    await startWork(parts, features, shutdown)
    if (config.metricsPort !== undefined) {
      const { metricsHost: host, metricsPort: port } = config
      watchProcess(metrics.registry, store.database.pool)
      const server = await serveMetrics(metrics.registry, { host, port })
      shutdown.add('calls', 'metrics', () => server.close())
    }
    progress.state = 'ready'
    const roles = [...config.roles].join()
    log.info({ url: config.publicUrl.origin, mode: config.mode, roles }, 'the gateway is ready')
    const stop = () => shutdown.run()
    return { url: config.publicUrl.origin, died: store.died, stop, hurry: () => hurry.abort() }
  } catch (error) {
    await shutdown.run()
    throw error
  }
}

/** Ends every wait when the gateway stops, as if it had timed out, so calls that wait for a bot are still answered. */
function endWaitsAt(stop: AbortSignal, signals: Signals): Signals {
  return {
    ...signals,
    until: (topic, check, { timeoutMs, signal }) =>
      signals.until(topic, check, {
        timeoutMs,
        signal: signal ? AbortSignal.any([signal, stop]) : stop,
      }),
  }
}

type Parts = Storage &
  SteamParts & { config: Config; log: Log; metrics: Metrics; progress: Progress; build: Build }

function createFeatures(parts: Parts, mayPublish: () => boolean) {
  const { config, log, metrics, database, queue, signals, steam, box, clock, imageBase } = parts
  const common = { db: database.db, queue, signals, clock, ids: systemIds, log, box, keep: config.keep }
  const readProfile = cacheProfiles(steam.readProfile, () => performance.now())
  const deposits = { ...common, steam: { ...steam, readProfile }, publicUrl: config.publicUrl.origin }
  const { maxItems, fleetLimits: fleet, priceRules: rules } = config
  const limits = { maxItems, fleet }
  const findAllowance = allowanceFinder(database.db)
  const protectionDays = (game: Game) => config.protectionDays[game]
  return {
    common,
    deposits,
    trades: {
      ...deposits,
      trades: createTradeStore({ ...deposits, limits }),
      departures: createDepartureStore(common),
      destinations: config.destinations,
      drift: createDriftStore(database.db),
      core: CORE,
      limits,
      rules,
      protectionDays,
      // In a sandbox, a reversal should show within a minute.
      historyEveryMs: config.mode === 'live' ? HOUR_MS : MINUTE_MS,
    },
    inventory: { ...common, rules, imageBase, maxItems, protectionDays },
    events: {
      ...common,
      addDeliveries: deliveryWriter(common),
      mayPublish,
      onPublished: (type: EventType) => metrics.events.inc({ type }),
    },
    webhooks: {
      ...common,
      findAllowance,
      send: createSender({ mode: config.webhookMode, findAllowance }),
      secretsOf: (endpoint: Signer) => secretsOf(box, endpoint, clock.now()),
      random: Math.random,
      onAttempt: ({ outcome, isFirst, sinceEventMs }: AttemptFacts) => {
        metrics.webhookAttempts.inc({ outcome })
        if (isFirst) metrics.webhookFirstAttempt.observe(sinceEventMs / 1000)
      },
    },
  }
}

type Features = ReturnType<typeof createFeatures> & { pricing: Repeating | undefined; epochs: EpochWatch }

const hasRole = ({ config }: Pick<Parts, 'config'>, role: Role): boolean => config.roles.has(role)

async function prepareFeatures(parts: Parts, shutdown: Shutdown): Promise<Features> {
  const features = createFeatures(parts, () => epochs.whyStopped() === undefined)
  const epochs = createEpochWatch(parts, features)
  await epochs.check()
  await ensureEventQueue(features.events)
  await ensureDepositQueues(features.deposits)
  const pricing = hasRole(parts, 'work') ? await startPrices(parts, shutdown) : undefined
  return { ...features, epochs, pricing }
}

function createEpochWatch(
  { config, log, metrics }: Parts,
  { common, events }: ReturnType<typeof createFeatures>,
) {
  const onFailure = (error: unknown) =>
    log.warn({ err: error }, 'the file seen-*.json could not be read or written: check TRADETILL_DATA')
  return watchEpoch({
    ...common,
    memory: createMemory(config.dataDir, onFailure),
    addDeliveries: events.addDeliveries,
    afterFailover: config.afterFailover,
    monotonicMs: () => performance.now(),
    gauge: metrics.stoppedByRestore,
  })
}

/** Starts the work outside of calls: bots, jobs, webhooks and sweeps. */
async function startWork(parts: Parts, features: Features, shutdown: Shutdown): Promise<void> {
  const { config, log, queue, steam, box } = parts
  const { common, trades, epochs, pricing } = features
  const bots = startBots({
    db: parts.leases.db,
    queue,
    steam,
    box,
    log,
    clock: common.clock,
    owner: randomUUID(),
    handlers: { inventory: inventoryHandler(common), drift: driftHandler(trades), ...tradeHandlers(trades) },
    // A process without bots is registered too: it still calls Steam from its address and seals secrets with its key.
    maxBots: hasRole(parts, 'bots') ? config.maxBots : 0,
    onProcesses: parts.shareAddress,
  })
  shutdown.add('work', 'bots', () => bots.stop())
  const due = hasRole(parts, 'work') ? await startDueWork(parts, features, shutdown) : []
  const forProcess = processSweeps(epochs, common.db, { ...parts, clock: common.clock, mode: config.mode })
  for (const sweep of forProcess) due.push(startSweep(sweep, log, shutdown))
  followSandbox(parts, shutdown, pricing === undefined ? due : [...due, pricing])
}

async function startDueWork(parts: Parts, features: Features, shutdown: Shutdown): Promise<Repeating[]> {
  const { config, log, database, metrics, box } = parts
  const { deposits, trades, events, webhooks } = features
  const lanes = startLanes(webhooks)
  shutdown.add('work', 'webhooks', () => lanes.stop())
  shutdown.add('work', 'publication of events', await workOnEvents(events))
  shutdown.add('work', 'deposit jobs', await workOnPrefills(deposits))
  shutdown.add('work', 'expiry of deposits', await workOnExpiry(trades))
  const { keep, priceRules: rules, fleetLimits: fleet } = config
  const shared = { keep, rules, fleet, pool: database.pool }
  const alerts = alertSweeps(config, { db: database.db, clock: trades.clock, log })
  const sweeps = [...sweepsOf({ trades, box, events, metrics, ...shared }), ...alerts]
  return sweeps.map((sweep) => startSweep(sweep, log, shutdown))
}

function startSweep({ work, ...when }: Sweep, log: Log, shutdown: Shutdown): Repeating {
  const running = repeat({ ...when, log }, work)
  shutdown.add('work', when.name, () => running.stop())
  return running
}

/** Follows a sandbox's clock. An advance runs the sweeps and price feeds at once, because some may have become due. */
function followSandbox(parts: Parts, shutdown: Shutdown, repeated: readonly Repeating[]): void {
  const { log, database, advanceableClock: clock, config } = parts
  if (clock === undefined || config.steamSandboxUrl === undefined) return
  const onAdvance = (): void => {
    for (const work of repeated) work.again()
  }
  const { steamSandboxUrl: sandboxUrl } = config
  const follow = createFollower({ db: database.db, clock, sandboxUrl, log, onAdvance })
  const running = repeat({ name: "sandbox's clock", everyMs: CLOCK_MS, log }, follow)
  shutdown.add('work', 'clock', () => running.stop())
}

function createHttp(parts: Parts, features: Features, shutdown: Shutdown) {
  const { deposits, inventory, trades, epochs } = features
  const { config, log, database, queue } = parts
  const { db } = database
  const nowMs = () => performance.now()
  const unableReason = () => unableReasonOf(parts)
  const limits = createLimits(nowMs)
  const receipts = { db, unableReason, config, clock: parts.clock }
  const views = createViewCache({ read: viewReader(db, parts.communityUrl, config.keep.pagesMs), log, nowMs })
  shutdown.add('work', 'views', () => views.stop())
  return createApp({
    log,
    limits,
    mode: config.mode,
    publicUrl: config.publicUrl,
    imageOrigins: parts.imageOrigins,
    widgetFolder: WIDGET_FOLDER,
    facts: pageFacts(config, parts.communityUrl),
    ...(config.trustedProxies === undefined ? {} : { trustedProxies: config.trustedProxies }),
    callerLookups: createCallerLookups({ db, clock: parts.clock, keyMode: config.mode, views }),
    connections: config.connections,
    unableReason,
    observe: (call) => observe(parts, call),
    healthy: async () => parts.pulse.isHere(),
    progress: parts.progress,
    isStopped: () => epochs.whyStopped() !== undefined,
    build: parts.build,
    isDoctor: (proof) => isDoctorProof(parts.masterKey, proof, systemClock.now()),
    hasPage: hasRole(parts, 'web'),
    embed: {
      tokens: createEmbedTokens({ hmacs: parts.box.hmacs, clock: systemClock }),
      originOf: (hash) => embedOriginOf(db, hash),
    },
    readPayment: async (hash) => (await views.readNow(hash))?.payment,
    routes: !hasRole(parts, 'web')
      ? {}
      : {
          polled: [paymentRoute({ db, queue, log, views, nowMs, unableReason }), receiptRoute(receipts)],
          widget: [
            depositRoutes(deposits),
            inventoryRoutes(inventory),
            tradeRoutes(trades),
            pageMetricsRoute(parts.metrics),
          ],
          store: [storeRoutes(storeDeps(parts, features, limits))],
        },
  })
}

function storeDeps(parts: Parts, { deposits, trades, webhooks }: Features, limits: Limits): StoreApiDeps {
  const { config, box } = parts
  const { db, publicUrl } = deposits
  return {
    ...trades,
    ...limits,
    box,
    keyMode: config.mode,
    mode: config.webhookMode,
    send: webhooks.send,
    findAllowance: webhooks.findAllowance,
    challengePlaces: createChallengePlaces(),
    secretsOf: webhooks.secretsOf,
    createDeposit: (store, body) =>
      createDeposit({ ...deposits, mostOpen: config.storeOpenDeposits }, store, body),
    findDeposit: (storeId, by) => storeDepositOf(db, { storeId, ...by }, publicUrl),
    listDeposits: (storeId, query) => listDeposits(db, storeId, { query, publicUrl }),
    cancelDeposit: (storeId, id) => cancelDeposit(trades, storeId, id),
  }
}

/** Logs the calls of stores. Measures them, and the page's calls except polls. */
function observe({ log, metrics }: Parts, call: ObservedCall): void {
  const { request, route, status, seconds } = call
  metrics.httpRequests.observe({ method: request.method, route, status: String(status) }, seconds)
  const { refusal: code } = request.call
  if (code !== undefined) metrics.refusals.inc({ code })
  logCall(log, call)
}

async function startPrices(parts: Parts, shutdown: Shutdown): Promise<Repeating> {
  const { config, log, database, clock } = parts
  const file = config.pricesFile ?? (config.mode === 'sandbox' ? SANDBOX_PRICES : undefined)
  // Sources use the machine's clock. Pricing converts their times to the till's clock.
  const sources = priceSources({ file, web: config.priceSources }, { now: clock.machineNow })
  if (sources.length === 0)
    log.error('neither a price file nor a source of prices is set: no item has a price')
  const pricing = await startPricing({ db: database.db, sources, clock, rules: config.priceRules, log })
  shutdown.add('work', 'pricing', () => pricing.stop())
  return pricing
}

/** Runs the process until it is told to stop, or a part that it needs ends. */
export async function main(config: Config, startup: Startup): Promise<void> {
  const gateway = await startGateway(config, startup).catch((error: unknown) => {
    console.error(
      `The gateway cannot start: ${scrub(error instanceof Error ? error.message : String(error))}`,
    )
    process.exit(1)
  })
  let isStopping = false
  const stop = async (code: number): Promise<void> => {
    // A second signal ends the wait for load balancers.
    if (isStopping) return gateway.hurry()
    isStopping = true
    // A stop that takes too long is cut off, and never counts as a success.
    setTimeout(() => process.exit(code === 0 ? 2 : code), STOP_MS + config.drainMs).unref()
    await gateway.stop()
    process.exit(code)
  }
  process.on('SIGTERM', () => void stop(0))
  process.on('SIGINT', () => void stop(0))
  if (config.stopWithStdin) process.stdin.resume().once('end', () => void stop(0))
  void gateway.died.then((reason) => {
    if (isStopping) return
    console.error(`The gateway stops: ${scrub(reason)}.`)
    void stop(1)
  })
  // Last, because whoever reads this may send a signal at once.
  console.log(`gateway ready at ${gateway.url}`)
}
