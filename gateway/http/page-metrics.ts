import type { FastifyPluginAsync } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { metricsBodySchema } from '../../contract/widget-api.ts'
import type { Metrics } from '../metrics.ts'
import { deviceOf } from '../vitals/vitals.ts'

/** POST /api/metrics: a page's own measurements. Only counted: nothing that identifies the sender is stored. */
export function pageMetricsRoute({
  pageSeconds,
  pageShift,
  vitals,
}: Pick<Metrics, 'pageSeconds' | 'pageShift' | 'vitals'>): FastifyPluginAsync {
  return async (app) => {
    app
      .withTypeProvider<ZodTypeProvider>()
      .post(
        '/api/metrics',
        { schema: { body: metricsBodySchema, response: { 204: z.null() } } },
        async (request, reply) => {
          const { screen, metrics } = request.body
          const device = deviceOf(request.headers)
          for (const { name, value } of metrics) {
            vitals.add({ screen, device, metric: name }, value)
            if (name === 'CLS') pageShift.observe({ screen, device }, value)
            else pageSeconds.observe({ metric: name, screen, device }, value / 1000)
          }
          return reply.code(204).send(null)
        },
      )
  }
}
