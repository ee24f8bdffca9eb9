/** Starts the store API of a test's till on its real database. Calls are injected, so it needs no port. */
import { type FastifyInstance, fastify, type LightMyRequestResponse } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { SCOPES, type Scope } from '../../contract/scopes.ts'
import { createDeposit } from '../deposits/create.ts'
import { listDeposits, storeDepositOf } from '../deposits/store-deposit.ts'
import { MOST_BODY_BYTES } from '../http/json-body.ts'
import { createLimits } from '../http/limits.ts'
import { handleErrors } from '../http/problem.ts'
import type { StoreApiDeps } from '../store-api/deps.ts'
import { storeRoutes } from '../store-api/routes.ts'
import { addKey } from '../stores/keys.ts'
import { cancelDeposit } from '../trades/cancellation.ts'
import { createChallengePlaces } from '../webhooks/challenge.ts'
import { secretsOf } from '../webhooks/endpoints.ts'
import { createSender } from '../webhooks/sender.ts'
import { aStore, TEST_BOX, type Till } from './till.ts'
import { ANY_ALLOWED } from './webhooks.ts'

export const BACK_URL = 'https://store.test/back'

type Call = { key?: string; body?: unknown; headers?: Record<string, string> }

export type StoreApi = {
  app: FastifyInstance
  store: { id: bigint }
  key: string
  /** Makes one call. `key` defaults to the key of `store`. */
  call(method: 'GET' | 'POST' | 'DELETE', url: string, call?: Call): Promise<LightMyRequestResponse>
  newKey(store: { id: bigint }, scopes?: readonly Scope[]): Promise<string>
  deps: StoreApiDeps
}

type Options = { hasLimits?: boolean; change?: Partial<StoreApiDeps> }

export async function startStoreApi(
  till: Till,
  { hasLimits = true, change = {} }: Options = {},
): Promise<StoreApi> {
  const box = TEST_BOX
  const { db, publicUrl, clock } = till.deps
  const deps: StoreApiDeps = {
    ...till.deps,
    box,
    keyMode: 'sandbox',
    mode: 'sandbox',
    findAllowance: ANY_ALLOWED,
    challengePlaces: createChallengePlaces(),
    send: createSender({ mode: 'sandbox', findAllowance: ANY_ALLOWED, deadlineMs: 60_000 }),
    secretsOf: (endpoint) => secretsOf(box, endpoint, clock.now()),
    limitStore: hasLimits ? createLimits(() => 0).limitStore : () => {},
    limitBytes: () => {},
    limitReads: () => {},
    countRead: () => {},
    createDeposit: (store, body) => createDeposit(till.deps, store, body),
    findDeposit: (storeId, by) => storeDepositOf(db, { storeId, ...by }, publicUrl),
    listDeposits: (storeId, query) => listDeposits(db, storeId, { query, publicUrl }),
    cancelDeposit: (storeId, id) => cancelDeposit(till.deps, storeId, id),
    ...change,
  }
  const app = fastify({ bodyLimit: MOST_BODY_BYTES, routerOptions: { maxParamLength: 200 } })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.removeContentTypeParser('text/plain')
  handleErrors(app, till.deps.log)
  await app.register(storeRoutes(deps))
  const newKey: StoreApi['newKey'] = (store, scopes = SCOPES) =>
    db
      .transaction()
      .execute((tx) =>
        addKey(
          tx,
          { ...deps, mode: deps.keyMode },
          { storeId: store.id, name: 'key', scopes, lifetimeS: null },
        ),
      )
  const store = await aStore(till, { riskLimitUsdCents: 100_000n })
  const key = await newKey(store)
  return {
    app,
    store,
    key,
    newKey,
    deps,
    call: (method, url, { key: usedKey = key, body, headers = {} } = {}) =>
      app.inject({
        method,
        url,
        headers: {
          authorization: `Bearer ${usedKey}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { payload: JSON.stringify(body) }),
      }),
  }
}
