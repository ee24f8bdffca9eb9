/**
 * Sends the store API requests that are generated from its OpenAPI document. An answer that does not fit its schema
 * becomes a 500, so "no 5xx" also means that every answer fits. In full:
 * `PROOF_REQUESTS=20000 npm test -- proofs/store/requests`.
 */
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { problemSchema } from '../../contract/store-api.ts'
import { publishEvents } from '../../gateway/events/service.ts'
import { BACK_URL, type StoreApi, startStoreApi } from '../../gateway/testing/store-api.ts'
import { aDeposit, aStore, startTill, type Till } from '../../gateway/testing/till.ts'
import { anyValue, fitting } from './values.ts'

const REQUESTS = Number(process.env.PROOF_REQUESTS ?? 200)
/** How long a test may take for each request, in addition to ten minutes. */
const MS_A_REQUEST = 60

const documentSchema = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        parameters: z.array(
          z.object({ name: z.string(), in: z.string(), schema: z.record(z.string(), z.unknown()) }),
        ),
        requestBody: z
          .object({
            content: z.object({
              'application/json': z.object({ schema: z.record(z.string(), z.unknown()) }),
            }),
          })
          .optional(),
        responses: z.record(z.string(), z.unknown()),
      }),
    ),
  ),
  components: z.object({ schemas: z.record(z.string(), z.record(z.string(), z.unknown())) }),
})

type Document = z.infer<typeof documentSchema>
type Operation = Document['paths'][string][string] & { path: string; method: string }

let till: Till
let api: StoreApi
let document: Document
let ids: { own: string[]; foreign: string[] }
let foreignKey: string

/** Adds an endpoint to the store of this key. Resolves to its id. */
async function addEndpoint(key: string): Promise<string> {
  const body = { url: 'https://store.test/hook' }
  return (await api.call('POST', '/v1/webhook-endpoints', { body, key })).json().id
}

beforeAll(async () => {
  till = await startTill()
  const send = async () => ({ kind: 'failed', reason: 'the test sends no webhooks' }) as const
  api = await startStoreApi(till, { hasLimits: false, change: { send } })
  document = documentSchema.parse((await api.app.inject('/v1/openapi.json')).json())
  const otherStore = await aStore(till)
  foreignKey = await api.newKey(otherStore)
  const [ownDeposit, foreignDeposit] = [await aDeposit(till, api.store), await aDeposit(till, otherStore)]
  ids = {
    own: [String(ownDeposit.id), await addEndpoint(api.key)],
    foreign: [String(foreignDeposit.id), await addEndpoint(foreignKey)],
  }
  await publishEvents(till.deps)
})
afterAll(async () => {
  await api.app.close()
  await till.close()
})

const operations = (): Operation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })),
  )

type Request = { operation: Operation; url: string; body: unknown; idempotencyKey: string | undefined }

const idArbitrary = () =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...ids.own, ...ids.foreign) },
    { weight: 2, arbitrary: fc.bigInt({ min: 1n, max: 10n ** 18n }).map(String) },
    { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 30 }) },
  )

function bodyOf(operation: Operation): fc.Arbitrary<unknown> {
  const schema = operation.requestBody?.content['application/json'].schema
  if (schema === undefined) return fc.constant(undefined)
  const valid = fitting(schema, document.components.schemas)
  const likely = fc
    .tuple(valid, fc.nat())
    .map(([body, number]) => withKnownValues(operation.operationId, body, number))
  return fc.oneof(
    { weight: 5, arbitrary: likely },
    { weight: 2, arbitrary: valid },
    { weight: 2, arbitrary: withJunk(likely) },
    { weight: 1, arbitrary: anyValue },
  )
}

/** The external ids of generated deposits: few, because many requests should concern a deposit of an earlier request. */
const EXTERNAL_IDS = Array.from({ length: 40 }, (_, n) => `order ${n}`)

/** Optional fields of a deposit that random values hardly ever fit: missing, or valid in some of the deposits. */
const rareFields = (number: number) => ({
  redirectUrl: undefined,
  tradeUrl: undefined,
  embedOrigin: undefined,
  targetAmount: undefined,
  language: number % 2 === 0 ? 'en' : undefined,
  games: number % 3 === 0 ? ['cs'] : undefined,
  shopper: number % 5 === 0 ? { steamId: '76561198000000123' } : undefined,
})

function withKnownValues(operationId: string, body: unknown, number: number): unknown {
  if (operationId === 'replayWebhooks') return { fromSequence: 1, toSequence: 1 + (number % 20) }
  if (operationId === 'createWebhookEndpoint') return { url: 'https://store.test/another' }
  if (operationId === 'updateWebhookEndpoint') return { url: `https://store.test/${number % 20}` }
  if (operationId !== 'createDeposit' || typeof body !== 'object' || body === null) return body
  const externalId = EXTERNAL_IDS[number % EXTERNAL_IDS.length]
  return { ...body, externalId, backToStoreUrl: BACK_URL, ...rareFields(number) }
}

/** The same values with one field replaced by anything. */
const withJunk = (valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(valid, fc.nat(), anyValue).map(([body, fieldIndex, junk]) => {
    if (typeof body !== 'object' || body === null) return junk
    const name = Object.keys(body)[fieldIndex % Math.max(1, Object.keys(body).length)] ?? 'unknown'
    return { ...body, [name]: junk }
  })

const knownQuery = (name: string): fc.Arbitrary<unknown> | undefined =>
  name === 'after' ? idArbitrary() : name === 'externalId' ? fc.constantFrom(...EXTERNAL_IDS) : undefined

function requestOf(operation: Operation): fc.Arbitrary<Request> {
  const query = operation.parameters.filter((parameter) => parameter.in === 'query')
  const values = query.map(({ name, schema }) =>
    fc.option(
      fc.oneof(
        {
          weight: 4,
          arbitrary: knownQuery(name) ?? fitting(schema, document.components.schemas),
        },
        { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
      ),
    ),
  )
  return fc
    .record({
      id: idArbitrary(),
      values: fc.tuple(...values),
      body: bodyOf(operation),
      idempotencyKey: fc.option(fc.constantFrom('a', 'b', 'c', 'd e', 'x'.repeat(300)), {
        nil: undefined,
        freq: 6,
      }),
    })
    .map(({ id, values: chosen, body, idempotencyKey }) => {
      const search = new URLSearchParams()
      for (const [index, { name }] of query.entries()) {
        const value = chosen[index]
        if (value !== null && value !== undefined)
          for (const each of [value].flat()) search.append(name, String(each))
      }
      const path = operation.path.replace('{id}', encodeURIComponent(id.toWellFormed()))
      return { operation, url: `${path}?${search}`, body, idempotencyKey }
    })
}

const METHODS: Record<string, 'GET' | 'POST' | 'DELETE'> = { get: 'GET', post: 'POST', delete: 'DELETE' }

async function send({ operation, url, body, idempotencyKey }: Request) {
  return api.call(METHODS[operation.method] ?? 'POST', url, {
    ...(body !== undefined && { body }),
    ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
  })
}

const statuses = new Map<string, Set<number>>()

test(`${REQUESTS} generated requests get no 5xx, and every answer fits the document`, {
  timeout: 600_000 + REQUESTS * MS_A_REQUEST,
}, async () => {
  const anyRequest = fc.constantFrom(...operations()).chain(requestOf)
  await fc.assert(
    fc.asyncProperty(anyRequest, async (request) => {
      const answer = await send(request)
      const { operation } = request
      const details = `${operation.operationId}: ${answer.statusCode} ${answer.body.slice(0, 300)}`
      expect(answer.statusCode, details).toBeLessThan(500)
      expect(Object.keys(operation.responses), details).toContain(String(answer.statusCode))
      if (answer.statusCode >= 400) problemSchema.parse(answer.json())
      const seen = statuses.get(operation.operationId) ?? new Set()
      statuses.set(operation.operationId, seen.add(answer.statusCode))
      // Later requests need an endpoint of this store too.
      if (operation.method === 'delete' && answer.statusCode === 200)
        ids.own = [...ids.own.slice(0, -1), await addEndpoint(api.key)]
    }),
    { numRuns: REQUESTS, seed: 7 },
  )
  const neverSucceeded = operations().filter(({ operationId }) =>
    [...(statuses.get(operationId) ?? [])].every((status) => status >= 300),
  )
  if (REQUESTS >= 5_000) expect(neverSucceeded.map(({ operationId }) => operationId)).toEqual([])
  // In a short run, some operations get no valid request by chance.
  else expect(neverSucceeded.length).toBeLessThan(operations().length / 2)
  expect(till.lines.filter((line) => line.includes('call failed'))).toEqual([])
})

/** An id that does not exist. */
const UNKNOWN_ID = '999999999'

test('ids of another store get the same answers as ids that do not exist', {
  timeout: 600_000 + REQUESTS * MS_A_REQUEST,
}, async () => {
  const operationsWithId = operations().filter(({ path }) => path.includes('{id}'))
  const rounds = Math.max(1, Math.floor(REQUESTS / 400))
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...operationsWithId).chain(requestOf), async (request) => {
      const { operation } = request
      const sendWithId = (id: string) => {
        const url = operation.path.replace('{id}', id) + request.url.slice(request.url.indexOf('?'))
        return send({ ...request, idempotencyKey: undefined, url })
      }
      const unknown = await sendWithId(UNKNOWN_ID)
      for (const id of ids.foreign) {
        // Deposits and endpoints have separate numbers, so the other store's endpoint can have the same number as a
        // deposit of this store.
        if (ids.own.includes(id)) continue
        const foreign = await sendWithId(id)
        // Equal except for the requested id, which a refusal names.
        expect([foreign.statusCode, foreign.body]).toEqual([
          unknown.statusCode,
          unknown.body.replaceAll(UNKNOWN_ID, id),
        ])
      }
    }),
    { numRuns: 60 * rounds, seed: 8 },
  )
})
