/** The calls of a store: POST /v1/deposits and GET /v1/deposits/{id}. */
import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import {
  type CreateDepositBody,
  createDepositBodySchema,
  depositIdParamsSchema,
  type StoreDeposit,
  storeDepositSchema,
} from '../../contract/store-api.ts'
import type { Db } from '../db/client.ts'
import { refuse } from '../kit/problem.ts'
import { type Mode, parseApiKey } from './api-key.ts'
import { isAllowedUrl } from './origins.ts'
import { findStoreByKey, type StoreAccount } from './service.ts'

export type StoreRoutesDeps = {
  db: Db
  mode: Mode
  /** Refuses a store that calls too often; asked once the store has proved itself. */
  limitStore(storeId: bigint): void
  createDeposit(
    store: StoreAccount,
    body: CreateDepositBody,
  ): Promise<{ deposit: StoreDeposit; created: boolean }>
  storeDeposit(storeId: bigint, depositId: bigint): Promise<StoreDeposit | undefined>
}

export function storeRoutes(deps: StoreRoutesDeps): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(
      '/v1/deposits',
      {
        schema: {
          body: createDepositBodySchema,
          response: { 200: storeDepositSchema, 201: storeDepositSchema },
        },
      },
      async (request, reply) => {
        const store = await authenticate(deps, request)
        refuseForeignUrls(request.body, store.origins)
        const { deposit, created } = await deps.createDeposit(store, request.body)
        return reply.code(created ? 201 : 200).send(deposit)
      },
    )

    app.get(
      '/v1/deposits/:id',
      { schema: { params: depositIdParamsSchema, response: { 200: storeDepositSchema } } },
      async (request) => {
        const store = await authenticate(deps, request)
        const deposit = await deps.storeDeposit(store.id, BigInt(request.params.id))
        return deposit ?? refuse('deposit_not_found')
      },
    )
  }
}

async function authenticate(deps: StoreRoutesDeps, request: FastifyRequest): Promise<StoreAccount> {
  const given = /^Bearer (\S{1,200})$/.exec(request.headers.authorization ?? '')?.[1]
  const key = given === undefined ? undefined : parseApiKey(given, deps.mode)
  const store = (key && (await findStoreByKey(deps.db, key))) ?? refuse('unauthorized')
  deps.limitStore(store.id)
  return store
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
