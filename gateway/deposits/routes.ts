import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { type ZodTypeProvider, validatorCompiler as zodCompiler } from 'fastify-type-provider-zod'
import { z } from 'zod'
import {
  errorReportBodySchema,
  hashSchema,
  paymentQuerySchema,
  tradeUrlBodySchema,
  userSchema,
} from '../../contract/widget-api.ts'
import { botQueue } from '../bots/bot.ts'
import { API_HEADERS } from '../http/headers.ts'
import { addressKey } from '../http/limits.ts'
import { refuse, refuseIfUnable, type UnableReason } from '../http/refusal.ts'
import { createFairLimiter } from '../kit/limiter.ts'
import { createErrorReports, depositHashOf } from './error-reports.ts'
import { type DepositDeps, resolveUser } from './service.ts'
import type { View } from './shopper-view.ts'
import { findByHash } from './store.ts'
import type { ViewCache } from './view-cache.ts'

/** The shortest time between two requests of this process to read the same offer again. */
const REFRESH_EVERY_MS = 2_000

type PollDeps = Pick<DepositDeps, 'db' | 'queue' | 'log'> & {
  views: ViewCache
  /** Monotonic milliseconds. */
  nowMs(): number
  /** Returns the reason to refuse calls immediately; undefined if there is none. */
  unableReason(): UnableReason | undefined
}

/** GET /api/payment: every waiting page polls it each second, so it skips the API's hooks. */
export function paymentRoute(deps: PollDeps): FastifyPluginAsync {
  const refresh = createRefresher(deps)
  const answer = async (reply: FastifyReply, hash: string, knownEtag: string | undefined) => {
    refuseIfUnable(deps.unableReason())
    if (!hashSchema.safeParse(hash).success) refuse('deposit_not_found')
    const view = knownEtag === undefined ? await deps.views.readNow(hash) : await deps.views.get(hash)
    if (view !== undefined && knownEtag === view.etag) return sendUnchanged(reply, knownEtag)
    reply.headers(API_HEADERS)
    if (view === undefined) refuse('deposit_not_found')
    if (knownEtag === undefined) refresh(view)
    return reply.header('etag', view.etag).type('application/json; charset=utf-8').send(view.body)
  }
  return async (app) => {
    app.setValidatorCompiler(validatorCompiler)
    app
      .withTypeProvider<ZodTypeProvider>()
      .get('/api/payment', { schema: { querystring: paymentQuerySchema } }, (request, reply) => {
        const { hash } = request.query
        const knownEtag = request.headers['if-none-match']
        if (knownEtag === undefined || knownEtag !== deps.views.peek(hash)?.etag)
          return answer(reply, hash, knownEtag)
        // Nearly every poll ends here, without creating a promise.
        sendUnchanged(reply, knownEtag)
        return undefined
      })
  }
}

const HASH_LENGTH = 32

/** A poll has one field, and the route checks its form. So a hash of the right length can skip the slower schema. */
const validatorCompiler: typeof zodCompiler = (route) => {
  const judge = zodCompiler(route)
  return (query) => (hasHashOfRightLength(query) ? { value: query } : judge(query))
}

const hasHashOfRightLength = (query: unknown): boolean =>
  typeof query === 'object' &&
  query !== null &&
  'hash' in query &&
  typeof query.hash === 'string' &&
  query.hash.length === HASH_LENGTH

/** A 304 needs only the headers for caching. */
function sendUnchanged(reply: FastifyReply, etag: string): FastifyReply {
  return reply.code(304).header('cache-control', 'no-store').header('etag', etag).send()
}

/** Asks the bot to read the offer again. For calls without an ETag: their page was just opened or shown again. */
function createRefresher({ db, queue, log, nowMs }: PollDeps): (view: View) => void {
  const refreshed = new Map<bigint, number>()
  return ({ openTrade }) => {
    if (openTrade === null) return
    const { tradeId, botId } = openTrade
    const now = nowMs()
    if (now - (refreshed.get(tradeId) ?? Number.NEGATIVE_INFINITY) < REFRESH_EVERY_MS) return
    for (const [id, atMs] of refreshed) if (now - atMs >= REFRESH_EVERY_MS) refreshed.delete(id)
    refreshed.set(tradeId, now)
    const data = { kind: 'refresh', tradeId: String(tradeId) } as const
    const job = { queue: botQueue(botId), data, singletonKey: `refresh ${tradeId}`, urgent: true }
    db.transaction()
      .execute((tx) => queue.send(tx, job))
      .catch((error: unknown) => log.warn({ err: error }, 'request to read an offer again failed'))
  }
}

/**
 * How many trade links this process looks up at a time, and how many of them for one address. Steam lets the till read
 * ten profiles a second for all shoppers. A caller with many deposits could ask for hundreds at once, and then other
 * shoppers' profiles would not be read in time.
 */
const LINKS_AT_A_TIME = { inAll: 100, ofKey: 4 }

export function depositRoutes(deps: DepositDeps): FastifyPluginAsync {
  const report = createErrorReports(deps.log, () => performance.now())
  const links = createFairLimiter(LINKS_AT_A_TIME)
  return async (app) => {
    const typed = app.withTypeProvider<ZodTypeProvider>()
    typed.post(
      '/api/trade-url',
      { schema: { body: tradeUrlBodySchema, response: { 200: userSchema } } },
      ({ ip, body }) => links(addressKey(ip), () => resolveUser(deps, body)),
    )
    typed.post(
      '/api/error-report',
      { schema: { body: errorReportBodySchema, response: { 204: z.null() } } },
      async (request, reply) => {
        const hash = depositHashOf(request.body)
        // Every report gets the same answer: it must not reveal which deposits exist.
        if (hash !== undefined && (await findByHash(deps.db, hash)) !== undefined) report(request.body)
        return reply.code(204).send(null)
      },
    )
  }
}
