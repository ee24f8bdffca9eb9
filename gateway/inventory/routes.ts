import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import {
  inventoryQuerySchema,
  inventorySchema,
  priceQuerySchema,
  priceReasonSchema,
} from '../../contract/widget-api.ts'
import { addressKey, createAddressBuckets, createBuckets, type Rate } from '../http/limits.ts'
import { refuse } from '../http/refusal.ts'
import { createFairLimiter } from '../kit/limiter.ts'
import { reasonOfPrice } from './price-reason.ts'
import { type InventoryDeps, readInventory } from './service.ts'

const compress = promisify(gzip)
/** The fewest characters of an answer that is compressed. Shorter ones fit into one packet. */
const COMPRESSED_FROM_CHARACTERS = 1_400

/**
 * A limit on the items that one deposit's page may request. Even an answer without a call to Steam takes work for every
 * item: a quarter of a second for 5,000. A page that repeats the call must not use up the gateway's time.
 */
const ITEM_RATE: Rate = { perSecond: 1_000, burst: 20_000 }
/**
 * The same for one address, because a caller can have many deposits. Allows a quarter of a processor in the long run,
 * because a crowd can be behind one address.
 */
const ADDRESS_ITEM_RATE: Rate = { perSecond: 5_000, burst: 200_000 }
/**
 * A deposit may read this much even if the limit of its address is used up: neighbours must not stop a shopper's
 * payment.
 */
const FIRST_ITEM_RATE: Rate = { perSecond: 50, burst: 5_000 }
/** How long a caller beyond a limit is asked to wait. */
const RETRY_AFTER_S = 5

/**
 * How many answers this process prices at a time, and how many of them for one address. A large inventory takes
 * megabytes of memory and a database connection meanwhile. A shopper can have many deposits, so without this limit
 * the calls of one shopper could take every connection.
 */
const TURNS = { inAll: 6, ofKey: 4 }

/** `items`, `firstItems`: for each deposit. */
type Limits = { items: Rate; firstItems: Rate; itemsOfAddress: Rate; nowMs: () => number }
const DEFAULT_LIMITS: Limits = {
  items: ITEM_RATE,
  firstItems: FIRST_ITEM_RATE,
  itemsOfAddress: ADDRESS_ITEM_RATE,
  nowMs: () => performance.now(),
}

/** GET /api/inventory and GET /api/price. */
export function inventoryRoutes(
  deps: InventoryDeps,
  { items, firstItems, itemsOfAddress, nowMs }: Limits = DEFAULT_LIMITS,
): FastifyPluginAsync {
  const itemBuckets = createBuckets(items, nowMs)
  const firstBuckets = createBuckets(firstItems, nowMs)
  const addressBuckets = createAddressBuckets(itemsOfAddress, nowMs)
  const turns = createFairLimiter(TURNS)
  return async (app) => {
    app.withTypeProvider<ZodTypeProvider>().get(
      '/api/inventory',
      {
        schema: { querystring: inventoryQuerySchema, response: { 200: inventorySchema } },
        onSend: compressAnswer,
      },
      async ({ query, signal, ip }) => {
        const refuseIfSpent = () => {
          const mayRead = firstBuckets.has(query.hash) || addressBuckets.has(ip)
          const isWithinLimits = itemBuckets.has(query.hash) && mayRead
          if (!isWithinLimits) refuse('too_many_requests', { retryAfterS: RETRY_AFTER_S })
        }
        refuseIfSpent()
        // Checked again when its turn comes, because calls that waited with it may have used up the limit.
        const inTurn = <T>(work: () => Promise<T>) =>
          turns(addressKey(ip), () => {
            refuseIfSpent()
            return work()
          })
        const inventory = await readInventory(deps, query, { signal, inTurn })
        const cost = inventory.items.length + inventory.unavailableItems
        for (const buckets of [itemBuckets, firstBuckets]) buckets.charge(query.hash, cost)
        addressBuckets.charge(ip, cost)
        return inventory
      },
    )
    app
      .withTypeProvider<ZodTypeProvider>()
      .get(
        '/api/price',
        { schema: { querystring: priceQuerySchema, response: { 200: priceReasonSchema } } },
        ({ query }) => reasonOfPrice(deps, query),
      )
  }
}

/**
 * Compresses the answer, because thousands of items have similar names. This reveals nothing: the answer has no secret
 * next to text that a stranger can choose.
 */
async function compressAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  reply.header('vary', 'accept-encoding')
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(request.headers['accept-encoding'] ?? '')
  if (!takesGzip || typeof payload !== 'string' || payload.length < COMPRESSED_FROM_CHARACTERS) return payload
  const body = await compress(payload)
  reply.header('content-encoding', 'gzip').header('content-length', body.length)
  return body
}
