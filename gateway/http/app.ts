import { randomUUID } from 'node:crypto'
import { compile as trustedBy } from '@fastify/proxy-addr'
import { type FastifyInstance, type FastifyPluginAsync, type FastifyRequest, fastify } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import type { Log } from '../kit/log.ts'
import { remember } from '../kit/remember.ts'
import { boundedServers, type ConnectionLimits, DEFAULT_CONNECTION_LIMITS } from './connections.ts'
import { createCsrf } from './csrf.ts'
import { API_HEADERS, addHeaders } from './headers.ts'
import { answerHealth, onceASecond } from './health.ts'
import { guardHost } from './host.ts'
import { MOST_BODY_BYTES, readJsonBodies } from './json-body.ts'
import { createLimits, type Limits, REMEMBERED_ADDRESSES, REPORTS } from './limits.ts'
import { type CallerLookups, createMisses, hashOf, type Misses } from './misses.ts'
import { limitCallsOfAddresses, limitCallsOfDeposits } from './open-calls.ts'
import { type Embed, type PageFacts, servePage } from './page.ts'
import { handleErrors, sendProblem } from './problem.ts'
import { pathOf, readablePath } from './readable-path.ts'
import { answerReadiness, type Progress } from './readiness.ts'
import { refuseIfUnable, type UnableReason } from './refusal.ts'
import { type PaymentReader, shownPayment } from './shown-payment.ts'
import { limitCallsOfStores } from './store-calls.ts'
import { answerUnread } from './unread-requests.ts'
import { WITHOUT_AJV } from './without-ajv.ts'

export type AppOptions = {
  log: Log
  mode: 'sandbox' | 'live'
  publicUrl: URL
  imageOrigins: readonly string[]
  widgetFolder: string
  facts?: PageFacts
  /** Proxies whose X-Forwarded-For counts; none by default. */
  trustedProxies?: string[]
  limits?: Limits
  /**
   * Looks up deposits and keys. A call with a known deposit or key is answered even if its address has guessed too
   * often.
   */
  callerLookups: CallerLookups
  connections?: Partial<ConnectionLimits>
  /** Why calls that need the database are refused immediately; undefined if they are not. */
  unableReason?(): UnableReason | undefined
  /** Called for each answered call of `routes.widget` and `routes.store`. */
  observe?(call: ObservedCall): void
  /** False while the database is out of reach. */
  healthy(): Promise<boolean>
  /** True between two epochs of the database, when the till opens no deposit, sends no offer and publishes no event. */
  isStopped?: () => boolean
  /** The phase of the process; ready by default. */
  progress?: Progress
  /** The version that runs here. */
  build?: Record<string, string>
  /** True if the call comes from the doctor, which may see how the gateway identifies its caller. */
  isDoctor?(proof: unknown): boolean
  /** Pages in frames of their stores; none by default. */
  embed?: Embed
  /** Whether this process serves the shoppers' page; true by default. */
  hasPage?: boolean
  readPayment?: PaymentReader
  routes: {
    /** Polls and receipts. They skip the API's hooks and set their own headers. */
    polled?: FastifyPluginAsync[]
    /** Calls of the widget under /api: cross-site token, limits, no-store. */
    widget?: FastifyPluginAsync[]
    /** Calls of stores under /v1, with an API key. */
    store?: FastifyPluginAsync[]
  }
}

export type ObservedCall = {
  request: FastifyRequest
  /** The registered pattern, without the call's values. */
  route: string
  status: number
  seconds: number
}

/** Builds the server without listening, which is enough for `inject`. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const trust = trustedBy(options.trustedProxies ?? [])
  // Remembers the results, because the address of a call is checked several times.
  const isTrustedProxy = remember((address) => trust(address, 0), REMEMBERED_ADDRESSES)
  const nowMs = () => performance.now()
  const connections = { ...DEFAULT_CONNECTION_LIMITS, ...options.connections }
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    rewriteUrl: readablePath,
    bodyLimit: MOST_BODY_BYTES,
    trustProxy: options.trustedProxies === undefined ? false : isTrustedProxy,
    forceCloseConnections: 'idle',
    // A path with a longer parameter is not found.
    routerOptions: { maxParamLength: 200 },
    schemaController: WITHOUT_AJV,
    clientErrorHandler: answerUnread(options.publicUrl),
    serverFactory: boundedServers({
      limits: connections,
      log: options.log,
      isTrustedProxy,
      nowMs,
    }),
  })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.removeContentTypeParser('text/plain')
  readJsonBodies(app)
  const limits = options.limits ?? createLimits()
  const csrf = createCsrf({ ...options, embedTokens: options.embed?.tokens })
  handleErrors(app, options.log)
  addHeaders(app, options.publicUrl)
  guardHost(app, options)
  endConnectionsOnClose(app)
  limitCallsOfAddresses(app, connections.perAddress)
  const misses = createMisses(limits, options.callerLookups)
  answerUnknownRoutes(app, misses)

  await app.register(async (scope) => {
    guardAgainstGuessing(scope, misses, 'deposit')
    for (const plugin of options.routes.polled ?? []) await scope.register(plugin)
  })
  await app.register(async (scope) => {
    observeCalls(scope, options)
    refuseWhileUnable(scope, options)
    addWidgetHooks(scope, limits, misses)
    limitCallsOfDeposits(scope, (request) => (isReport(request) ? undefined : hashOf(request)))
    scope.addHook('onRequest', csrf.check)
    scope.addHook('preHandler', csrf.checkDeposit)
    for (const plugin of options.routes.widget ?? []) await scope.register(plugin)
  })
  await app.register(async (scope) => {
    observeCalls(scope, options)
    refuseWhileUnable(scope, options)
    addStoreHooks(scope, limits, misses)
    for (const plugin of options.routes.store ?? []) await scope.register(plugin)
  })
  const isHealthy = onceASecond(options.healthy, nowMs)
  answerHealth(app, { ...options, healthy: isHealthy, isTrustedProxy })
  answerReadiness(app, { ...options, healthy: isHealthy })
  if (options.hasPage !== false)
    await servePage(app, {
      ...options,
      folder: options.widgetFolder,
      csrf,
      shownPayment: shownPayment(options, misses),
    })
  return app
}

/** Closes busy connections after their answer. Otherwise they would stay open and delay the shutdown. */
function endConnectionsOnClose(app: FastifyInstance): void {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  // Fastify does not close a server that never listened, so its timers would stay.
  app.addHook('onClose', async ({ server }) => {
    if (!server.listening) server.close()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    done()
  })
}

function refuseWhileUnable(scope: FastifyInstance, { unableReason }: AppOptions): void {
  if (unableReason === undefined) return
  scope.addHook('onRequest', async () => refuseIfUnable(unableReason()))
}

function observeCalls(scope: FastifyInstance, { observe }: AppOptions): void {
  if (observe === undefined) return
  scope.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown'
    const { statusCode: status, elapsedTime } = reply
    observe({ request, route, status, seconds: elapsedTime / 1000 })
  })
}

/**
 * Refuses the calls of guessers. `proof`: what shows that a caller does not guess: a known deposit, or a valid key.
 * Avoids promises, because the hooks run for every poll.
 */
function guardAgainstGuessing(scope: FastifyInstance, misses: Misses, proof: 'deposit' | 'key'): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    const check = misses.admit(request, proof)
    if (check === undefined) done()
    else check.then(() => done(), done)
  })
  // A refusal is known by now. An onResponse hook would add a listener to every poll.
  scope.addHook('onSend', (request, _reply, _payload, done) => {
    misses.count(request)
    done()
  })
}

function addWidgetHooks(scope: FastifyInstance, limits: Limits, misses: Misses): void {
  scope.addHook('onRequest', async (request, reply) => {
    reply.headers(API_HEADERS)
    if (isReport(request)) limits.limitReports(request)
    else if (request.method !== 'GET' && request.method !== 'HEAD') limits.limitChanges(request)
  })
  scope.addHook('preHandler', async (request) => {
    // The hash may be in the body.
    await misses.admit(request, 'deposit')
    const hash = isReport(request) ? undefined : hashOf(request)
    if (hash !== undefined) limits.limitDeposit(hash)
  })
  scope.addHook('onResponse', async (request) => {
    if (!isReport(request)) misses.count(request)
  })
}

function addStoreHooks(scope: FastifyInstance, limits: Limits, misses: Misses): void {
  guardAgainstGuessing(scope, misses, 'key')
  scope.addHook('onRequest', async (request, reply) => {
    reply.headers(API_HEADERS)
    // The id that a store quotes to support, and that the log contains.
    reply.header('x-request-id', request.id)
  })
  limitCallsOfStores(scope, limits)
}

function isReport(request: FastifyRequest): boolean {
  return REPORTS.includes(request.routeOptions.url ?? '')
}

/** Answers 405, with the path's methods, to TRACE and to a known path with another method. Otherwise answers 404. */
function answerUnknownRoutes(app: FastifyInstance, misses: Misses): void {
  const knownRoutes: { pattern: RegExp; methods: readonly string[] }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return
    knownRoutes.push({ pattern: new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`), methods: [method].flat() })
  })
  app.setNotFoundHandler(async (request, reply) => {
    const path = pathOf(request.url)
    const methods = knownRoutes.flatMap((route) => (route.pattern.test(path) ? route.methods : []))
    if (request.method === 'TRACE' || methods.length > 0) {
      reply.header('allow', [...new Set(methods)].sort().join(', '))
      return sendProblem(reply, request, { code: 'method_not_allowed' })
    }
    await misses.countUnknownPath(request)
    return sendProblem(reply, request, { code: 'not_found' })
  })
}
