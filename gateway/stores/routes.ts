/** The calls of a store, under /v1. */
import type { FastifyPluginAsync } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import {
  balancesSchema,
  type CreateDepositBody,
  createDepositBodySchema,
  depositListSchema,
  gamesSchema,
  healthSchema,
  idParamsSchema,
  type ListDepositsQuery,
  listDepositsQuerySchema,
  lookupQuerySchema,
  pricesQuerySchema,
  pricesSchema,
  type StoreDeposit,
  statementQuerySchema,
  statementSchema,
  storeDepositSchema,
} from '../../contract/store-api.ts'
import { depositEventsSchema, eventListSchema, eventsQuerySchema } from '../../contract/webhooks.ts'
import type { DepositPage } from '../deposits/told.ts'
import { readDepositEvents, readEvents } from '../events/store.ts'
import { refuse } from '../http/refusal.ts'
import { readBalances, readStatement } from './account.ts'
import { type EndpointRouteDeps, endpointRoutes } from './endpoint-routes.ts'
import { type IdempotencyDeps, repeatCalls } from './idempotency.ts'
import type { StoreAccount } from './keys.ts'
import { type OfferingDeps, readGames, readHealth, readPrices } from './offerings.ts'
import { type AuthDeps, authenticateCalls, noteDeposit, readBodies, storeOf } from './operation.ts'
import { isAllowedUrl } from './origins.ts'
import { collectOperations, referenceRoutes } from './reference.ts'

export type DepositCalls = {
  createDeposit(
    store: StoreAccount,
    body: CreateDepositBody,
  ): Promise<{ deposit: StoreDeposit; created: boolean }>
  findDeposit(
    storeId: bigint,
    by: { depositId: bigint } | { externalId: string },
  ): Promise<StoreDeposit | undefined>
  listDeposits(storeId: bigint, query: ListDepositsQuery): Promise<DepositPage>
  /** Undefined if the store has no such deposit. */
  cancelDeposit(storeId: bigint, depositId: bigint): Promise<'ended' | 'under_way' | undefined>
}

export type StoreRoutesDeps = AuthDeps &
  IdempotencyDeps &
  OfferingDeps &
  EndpointRouteDeps &
  DepositCalls & {
    /** Where stores reach the gateway. */
    publicUrl: string
  }

/** All calls of a store, and the reference that is generated from them. */
export function storeRoutes(deps: StoreRoutesDeps): FastifyPluginAsync {
  return async (app) => {
    const operations = collectOperations()
    await app.register(async (scope) => {
      scope.addHook('onRoute', operations.add)
      readBodies(scope)
      authenticateCalls(scope, deps)
      repeatCalls(scope, deps)
      await scope.register(depositRoutes(deps))
      await scope.register(accountRoutes(deps))
      await scope.register(offeringRoutes(deps))
      await scope.register(endpointRoutes(deps))
    })
    await app.register(referenceRoutes({ publicUrl: deps.publicUrl, operations: operations.all }))
  }
}

function depositRoutes(deps: StoreRoutesDeps): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(
      '/v1/deposits',
      {
        schema: {
          body: createDepositBodySchema,
          response: { 200: storeDepositSchema, 201: storeDepositSchema },
        },
        config: {
          operation: {
            id: 'createDeposit',
            group: 'Deposits',
            summary: 'Open a deposit',
            description: 'Send the shopper to the `url` of the answer.',
            answers: {
              200: 'It was opened before, with this externalId and the same values.',
              201: 'Opened.',
            },
            example: {
              externalId: 'order-1001',
              currency: 'USD',
              backToStoreUrl: 'https://store.example/wallet',
            },
            scope: 'deposits:write',
            refusals: ['order_conflict', 'invalid_trade_link'],
          },
        },
      },
      async (request, reply) => {
        const store = storeOf(request)
        refuseForeignUrls(request.body, store.origins)
        const { deposit, created } = await deps.createDeposit(store, request.body)
        noteDeposit(request, deposit.id)
        return reply.code(created ? 201 : 200).send(deposit)
      },
    )
    app.get(
      '/v1/deposits',
      {
        schema: { querystring: listDepositsQuerySchema, response: { 200: depositListSchema } },
        config: {
          operation: {
            id: 'listDeposits',
            group: 'Deposits',
            summary: 'List deposits, newest first',
            scope: 'deposits:read',
          },
        },
      },
      (request) => deps.listDeposits(storeOf(request).id, request.query),
    )
    await app.register(oneDepositRoutes(deps))
  }
}

const finderOf =
  ({ findDeposit }: DepositCalls) =>
  async (storeId: bigint, by: Parameters<DepositCalls['findDeposit']>[1]): Promise<StoreDeposit> =>
    (await findDeposit(storeId, by)) ?? refuse('deposit_not_found')

function oneDepositRoutes(deps: StoreRoutesDeps): FastifyPluginAsyncZod {
  const found = finderOf(deps)
  return async (app) => {
    app.get(
      '/v1/deposits/lookup',
      {
        schema: { querystring: lookupQuerySchema, response: { 200: storeDepositSchema } },
        config: {
          operation: {
            id: 'lookupDeposit',
            group: 'Deposits',
            summary: 'Read a deposit by your order id',
            scope: 'deposits:read',
            refusals: ['deposit_not_found'],
          },
        },
      },
      async (request) => {
        const deposit = await found(storeOf(request).id, request.query)
        noteDeposit(request, deposit.id)
        return deposit
      },
    )
    app.get(
      '/v1/deposits/:id',
      {
        schema: { params: idParamsSchema, response: { 200: storeDepositSchema } },
        config: {
          operation: {
            id: 'getDeposit',
            group: 'Deposits',
            summary: 'Read a deposit',
            scope: 'deposits:read',
            refusals: ['deposit_not_found'],
          },
        },
      },
      (request) => found(storeOf(request).id, { depositId: BigInt(request.params.id) }),
    )
    await app.register(fateRoutes(deps))
  }
}

/** What a store may do to a deposit, and what happened to it. */
function fateRoutes(deps: StoreRoutesDeps): FastifyPluginAsyncZod {
  const found = finderOf(deps)
  return async (app) => {
    app.post(
      '/v1/deposits/:id/cancel',
      {
        schema: { params: idParamsSchema, response: { 200: storeDepositSchema, 202: storeDepositSchema } },
        config: {
          operation: {
            id: 'cancelDeposit',
            group: 'Deposits',
            summary: 'Cancel a deposit',
            description:
              'Where an offer stands, it is cancelled on Steam first. If the shopper accepted in the same moment, the deposit succeeds.',
            answers: {
              200: 'It has ended.',
              202: 'Steam is asked to cancel the offer; an event tells how that ended.',
            },
            scope: 'deposits:write',
            refusals: ['deposit_not_found', 'deposit_busy', 'not_cancellable'],
          },
        },
      },
      async (request, reply) => {
        const storeId = storeOf(request).id
        const depositId = BigInt(request.params.id)
        const cancelled = (await deps.cancelDeposit(storeId, depositId)) ?? refuse('deposit_not_found')
        return reply.code(cancelled === 'ended' ? 200 : 202).send(await found(storeId, { depositId }))
      },
    )
    app.get(
      '/v1/deposits/:id/events',
      {
        schema: { params: idParamsSchema, response: { 200: depositEventsSchema } },
        config: {
          operation: {
            id: 'listDepositEvents',
            group: 'Events',
            summary: 'What happened to a deposit',
            scope: 'deposits:read',
            refusals: ['deposit_not_found'],
          },
        },
      },
      async (request) => {
        const depositId = BigInt(request.params.id)
        await found(storeOf(request).id, { depositId })
        return { events: await readDepositEvents(deps.db, depositId) }
      },
    )
  }
}

function accountRoutes({ db }: StoreRoutesDeps): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/v1/events',
      {
        schema: { querystring: eventsQuerySchema, response: { 200: eventListSchema } },
        config: {
          operation: {
            id: 'listEvents',
            group: 'Events',
            summary: 'The event log',
            description:
              'Ordered and without gaps: who has read up to a sequence has everything up to it. Webhooks only tell that there is something to read.',
            scope: 'deposits:read',
          },
        },
      },
      (request) => readEvents(db, storeOf(request).id, request.query),
    )
    app.get(
      '/v1/balance',
      {
        schema: { response: { 200: balancesSchema } },
        config: {
          operation: {
            id: 'getBalance',
            group: 'Money',
            summary: 'What you have, by currency',
            scope: 'balance:read',
          },
        },
      },
      (request) => readBalances(db, storeOf(request).id),
    )
    app.get(
      '/v1/statement',
      {
        schema: { querystring: statementQuerySchema, response: { 200: statementSchema } },
        config: {
          operation: {
            id: 'getStatement',
            group: 'Money',
            summary: 'Every movement of your balance',
            scope: 'balance:read',
          },
        },
      },
      (request) => readStatement(db, storeOf(request).id, request.query),
    )
  }
}

function offeringRoutes(deps: StoreRoutesDeps): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/v1/games',
      {
        schema: { response: { 200: gamesSchema } },
        config: {
          operation: { id: 'listGames', group: 'Offerings', summary: 'Supported games and smallest sums' },
        },
      },
      () => readGames(deps),
    )
    app.get(
      '/v1/prices',
      {
        schema: { querystring: pricesQuerySchema, response: { 200: pricesSchema } },
        config: {
          operation: {
            id: 'getPrices',
            group: 'Offerings',
            summary: 'What items are worth now',
            description: 'No promise: what counts is what the shopper is shown.',
          },
        },
      },
      (request) => readPrices(deps, request.query),
    )
    app.get(
      '/v1/health',
      {
        schema: { response: { 200: healthSchema } },
        config: { operation: { id: 'getHealth', group: 'Offerings', summary: 'Whether the till works' } },
      },
      () => readHealth(deps),
    )
  }
}

function refuseForeignUrls(body: CreateDepositBody, origins: string[]): void {
  const fields = (['backToStoreUrl', 'redirectUrl'] as const)
    .filter((path) => body[path] !== undefined && !isAllowedUrl(body[path], origins))
    .map((path) => ({
      path,
      message: 'must be an http(s) address with an origin that is registered for the store',
    }))
  if (fields.length > 0) refuse('invalid_request', fields)
}
