import type { FastifyPluginAsync } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { inventoryQuerySchema, inventorySchema } from '../../contract/widget-api.ts'
import { type InventoryDeps, readInventory } from './service.ts'

/** GET /api/inventory. */
export function inventoryRoutes(deps: InventoryDeps): FastifyPluginAsync {
  return async (app) => {
    app
      .withTypeProvider<ZodTypeProvider>()
      .get(
        '/api/inventory',
        { schema: { querystring: inventoryQuerySchema, response: { 200: inventorySchema } } },
        (request) => readInventory(deps, request.query, request.signal),
      )
  }
}
