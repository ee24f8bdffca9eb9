import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { tradeAnswerSchema, tradeBodySchema } from '../../contract/widget-api.ts'
import { refuse } from '../http/refusal.ts'
import { type RequestDeps, requestTrade } from './request.ts'

const waitOf = (until: Date | undefined, now: Date) =>
  until && { until, retryAfterS: Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1_000)) }

/** POST /api/trade. */
export function tradeRoutes(deps: RequestDeps): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(
      '/api/trade',
      { schema: { body: tradeBodySchema, response: { 200: tradeAnswerSchema, 202: tradeAnswerSchema } } },
      async (request, reply) => {
        const answer = await requestTrade(deps, request.body)
        switch (answer.kind) {
          case 'active':
            return { state: 'active' as const }
          case 'sending':
            return reply.code(202).send({ state: 'sending', code: 'trade_sending' })
          case 'refused':
            return refuse(answer.code, {
              ...waitOf(answer.until, deps.clock.now()),
              ...(answer.cause && { cause: answer.cause }),
            })
        }
      },
    )
  }
}
