import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import {
  errorReportBodySchema,
  paymentQuerySchema,
  tradeUrlBodySchema,
  userSchema,
} from '../../contract/widget-api.ts'
import { botQueue } from '../bots/bot.ts'
import { API_HEADERS } from '../http/headers.ts'
import { refuse } from '../http/refusal.ts'
import { type DepositDeps, resolveUser } from './service.ts'
import type { View } from './shopper-view.ts'
import type { ViewCache } from './view-cache.ts'

/** One look at Steam for a shopper who came back, and no more than this often a deposit. */
const LOOK_EVERY_MS = 2_000

type PollDeps = Pick<DepositDeps, 'db' | 'queue' | 'log'> & {
  views: ViewCache
  /** Monotonic milliseconds. */
  nowMs(): number
}

/** GET /api/payment: polled every second by every waiting page, so it stands outside the hooks of the API. */
export function paymentRoute(deps: PollDeps): FastifyPluginAsync {
  const lookAt = createLooker(deps)
  const answer = async (reply: FastifyReply, hash: string, known: string | undefined) => {
    const view = known === undefined ? await deps.views.fresh(hash) : await deps.views.polled(hash)
    if (view !== undefined && known === view.etag) return unchanged(reply, known)
    reply.headers(API_HEADERS)
    if (view === undefined) refuse('deposit_not_found')
    if (known === undefined) lookAt(view)
    return reply.header('etag', view.etag).type('application/json; charset=utf-8').send(view.body)
  }
  return async (app) => {
    app
      .withTypeProvider<ZodTypeProvider>()
      .get('/api/payment', { schema: { querystring: paymentQuerySchema } }, (request, reply) => {
        const { hash } = request.query
        const known = request.headers['if-none-match']
        // Nearly all polls end here, without a promise.
        if (known === undefined || known !== deps.views.kept(hash)?.etag) return answer(reply, hash, known)
        unchanged(reply, known)
        return undefined
      })
  }
}

/** What a page has already needs no headers but those of its cache. */
function unchanged(reply: FastifyReply, etag: string): FastifyReply {
  return reply.code(304).header('cache-control', 'no-store').header('etag', etag).send()
}

/** A call without a known answer is a page that has just come into sight: its offer is read once, now. */
function createLooker({ db, queue, log, nowMs }: PollDeps): (view: View) => void {
  const looked = new Map<bigint, number>()
  return ({ openTrade }) => {
    if (openTrade === null) return
    const { tradeId, botId } = openTrade
    const now = nowMs()
    if (now - (looked.get(tradeId) ?? Number.NEGATIVE_INFINITY) < LOOK_EVERY_MS) return
    for (const [id, atMs] of looked) if (now - atMs >= LOOK_EVERY_MS) looked.delete(id)
    looked.set(tradeId, now)
    const job = { kind: 'look', tradeId: String(tradeId) } as const
    db.transaction()
      .execute((tx) =>
        queue.send(tx, botQueue(botId), job, { singletonKey: `look ${tradeId}`, urgent: true }),
      )
      .catch((error: unknown) => log.warn({ err: error }, 'a look at an offer could not be asked for'))
  }
}

/** POST /api/trade-url and POST /api/error-report. */
export function depositRoutes(deps: DepositDeps): FastifyPluginAsync {
  return async (app) => {
    const typed = app.withTypeProvider<ZodTypeProvider>()
    typed.post(
      '/api/trade-url',
      { schema: { body: tradeUrlBodySchema, response: { 200: userSchema } } },
      (request) => resolveUser(deps, request.body),
    )
    typed.post(
      '/api/error-report',
      { schema: { body: errorReportBodySchema, response: { 204: z.null() } } },
      async (request, reply) => {
        const { url, ...report } = request.body
        deps.log.warn({ report, page: URL.parse(url)?.pathname }, 'a page reported an error')
        return reply.code(204).send(null)
      },
    )
  }
}
