import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { inventoryQuerySchema, inventorySchema } from '../../contract/widget-api.ts'
import { type InventoryDeps, readInventory } from './service.ts'

const compress = promisify(gzip)
/** Shorter answers fit into one packet as they are. */
const COMPRESSED_FROM = 1_400

/** GET /api/inventory. */
export function inventoryRoutes(deps: InventoryDeps): FastifyPluginAsync {
  return async (app) => {
    app.withTypeProvider<ZodTypeProvider>().get(
      '/api/inventory',
      {
        schema: { querystring: inventoryQuerySchema, response: { 200: inventorySchema } },
        onSend: compressed,
      },
      (request) => readInventory(deps, request.query, request.signal),
    )
  }
}

/** Thousands of items with much the same names. Nothing secret is in the answer beside what a stranger could choose. */
async function compressed(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  reply.header('vary', 'accept-encoding')
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(request.headers['accept-encoding'] ?? '')
  if (!takesGzip || typeof payload !== 'string' || payload.length < COMPRESSED_FROM) return payload
  const body = await compress(payload)
  reply.header('content-encoding', 'gzip').header('content-length', body.length)
  return body
}
