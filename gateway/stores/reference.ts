/** The OpenAPI document and the reference page, made from the routes as they are registered. */
import type { FastifyPluginAsync, RouteOptions } from 'fastify'
import { z } from 'zod'
import { detailForStores, ERRORS, type ErrorCode } from '../../contract/errors.ts'
import { problemSchema } from '../../contract/store-api.ts'
import { webhookSchema } from '../../contract/webhooks.ts'
import type { Operation } from './operation.ts'
import { REFERENCE_CSS, referencePage } from './reference-page.ts'

export type JsonSchema = { [key: string]: unknown }

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: JsonSchema
}

export type Answer = { description: string; content?: Record<string, { schema: JsonSchema }> }

export type DocumentedCall = {
  operationId: string
  tags: string[]
  summary: string
  description: string
  parameters: Parameter[]
  requestBody?: {
    required: boolean
    content: { 'application/json': { schema: JsonSchema; example?: object } }
  }
  responses: Record<string, Answer>
}

export type OpenApi = {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  security: [{ apiKey: [] }]
  paths: Record<string, Record<string, DocumentedCall>>
  webhooks: Record<string, { post: object }>
  components: { schemas: Record<string, JsonSchema>; securitySchemes: object }
}

type Registered = { method: string; url: string; operation: Operation; schema: Schemas }
type Schemas = { body?: unknown; querystring?: unknown; params?: unknown; response?: unknown }

/** Keeps every route that describes itself. */
export function collectOperations(): { add(route: RouteOptions): void; all: Registered[] } {
  const all: Registered[] = []
  return {
    all,
    add: ({ method, url, config, schema }) => {
      const operation = config?.operation
      if (operation === undefined || typeof method !== 'string' || method === 'HEAD') return
      all.push({ method: method.toLowerCase(), url, operation, schema: schema ?? {} })
    },
  }
}

/** Refusals that every call may meet. */
const COMMON: readonly ErrorCode[] = ['invalid_request', 'unauthorized', 'too_many_requests', 'internal']

const INFO = {
  title: 'Tradetill store API',
  version: '1',
  description:
    'Money is an integer of minor units, times are ISO 8601 in UTC. Fields may be added to answers and events at any time; none is removed or changes its meaning.',
}

export function openApiOf(operations: readonly Registered[], publicUrl: string): OpenApi {
  const schemas: Record<string, JsonSchema> = {}
  const use = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema => schemaOf(schema, { io, schemas })
  const paths: OpenApi['paths'] = {}
  for (const one of operations) {
    const path = one.url.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [one.method]: callOf(one, use) }
  }
  const event = { required: true, content: { 'application/json': { schema: use(webhookSchema, 'output') } } }
  return {
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: publicUrl }],
    security: [{ apiKey: [] }],
    paths,
    webhooks: {
      event: {
        post: {
          summary: 'An event, signed after Standard Webhooks',
          requestBody: event,
          responses: { '2XX': { description: 'You have it.' } },
        },
      },
    },
    components: { schemas, securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  }
}

type Use = (schema: z.ZodType, io: 'input' | 'output') => JsonSchema

function callOf({ method, operation, schema }: Registered, use: Use): DocumentedCall {
  const { id, group, summary, scope } = operation
  const right = scope === undefined ? 'Any key of your store.' : `Needs the scope \`${scope}\`.`
  const parameters = [
    ...parametersOf(schema.params, 'path', use),
    ...parametersOf(schema.querystring, 'query', use),
    ...(method === 'post' ? [IDEMPOTENCY_KEY] : []),
  ]
  const { body } = schema
  return {
    operationId: id,
    tags: [group],
    summary,
    description: [operation.description, right].filter((text) => text !== undefined).join(' '),
    parameters,
    ...(body instanceof z.ZodType && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: {
          'application/json': {
            schema: use(body, 'input'),
            ...(operation.example !== undefined && { example: operation.example }),
          },
        },
      },
    }),
    responses: { ...answersOf(schema.response, operation, use), ...refusalsOf(method, operation, use) },
  }
}

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'The same key and values get the same answer for 48 hours, with `Idempotency-Replayed: true`, and nothing happens twice.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
}

function parametersOf(schema: unknown, place: 'path' | 'query', use: Use): Parameter[] {
  if (!(schema instanceof z.ZodType)) return []
  const { properties, required } = use(schema, 'input')
  const names = Array.isArray(required) ? required : []
  return Object.entries(isRecord(properties) ? properties : {}).map(([name, value]) => {
    const { description, ...own } = isRecord(value) ? value : {}
    return {
      name,
      in: place,
      required: names.includes(name),
      ...(typeof description === 'string' && { description }),
      schema: own,
    }
  })
}

function answersOf(
  response: unknown,
  { answers: meanings = {} }: Operation,
  use: Use,
): Record<string, Answer> {
  const answers: Record<string, Answer> = {}
  for (const [status, schema] of Object.entries(isRecord(response) ? response : {})) {
    if (!(schema instanceof z.ZodType)) continue
    const content = { 'application/json': { schema: use(schema, 'output') } }
    answers[status] = { description: meanings[status] ?? 'Done.', content }
  }
  return answers
}

function refusalsOf(method: string, operation: Operation, use: Use): Record<string, Answer> {
  const repeated: ErrorCode[] =
    method === 'post'
      ? ['idempotency_in_progress', 'idempotency_key_reused', 'payload_too_large', 'unsupported_media_type']
      : []
  const right: ErrorCode[] = operation.scope === undefined ? [] : ['scope_missing']
  const codes = [...COMMON, ...right, ...repeated, ...(operation.refusals ?? [])]
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status)
  const content = { 'application/problem+json': { schema: use(problemSchema, 'output') } }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, own]) => [String(status), { description: own.map(refusalText).join('\n\n'), content }]),
  )
}

/** Refusals that say by `Retry-After` when to come again. */
const PASSING: readonly ErrorCode[] = ['too_many_requests', 'idempotency_in_progress', 'deposit_busy']

const refusalText = (code: ErrorCode): string =>
  `\`${code}\`: ${detailForStores(code, 'en', { asked: 'this id or externalId' })}${PASSING.includes(code) ? ' `Retry-After` gives the seconds.' : ''}`

/** A schema that has a name goes into `schemas` and is referred to. */
function schemaOf(
  schema: z.ZodType,
  { io, schemas }: { io: 'input' | 'output'; schemas: Record<string, JsonSchema> },
): JsonSchema {
  const options = { io, target: 'draft-2020-12', unrepresentable: 'any' } as const
  const whole: unknown = JSON.parse(
    JSON.stringify(z.toJSONSchema(z.object({ it: schema }), options)).replaceAll(
      '"#/$defs/',
      '"#/components/schemas/',
    ),
  )
  if (!isRecord(whole)) return {}
  for (const [name, definition] of Object.entries(isRecord(whole.$defs) ? whole.$defs : {})) {
    if (!isRecord(definition)) continue
    const { id: _, ...own } = definition
    schemas[name] = own
  }
  const it = isRecord(whole.properties) ? whole.properties.it : undefined
  return isRecord(it) ? it : {}
}

export function isRecord(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const PAGE_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const

type ReferenceDeps = { operations: readonly Registered[]; publicUrl: string }

/** GET /v1/openapi.json and /v1/reference: for everybody, without a key. */
export function referenceRoutes({ operations, publicUrl }: ReferenceDeps): FastifyPluginAsync {
  return async (app) => {
    const document = openApiOf(operations, publicUrl)
    const json = JSON.stringify(document)
    const page = referencePage(document)
    app.get('/v1/openapi.json', async (_request, reply) =>
      reply.headers(PAGE_HEADERS).type('application/json; charset=utf-8').send(json),
    )
    app.get('/v1/reference', async (_request, reply) =>
      reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(page),
    )
    app.get('/v1/reference.css', async (_request, reply) =>
      reply.headers(PAGE_HEADERS).type('text/css; charset=utf-8').send(REFERENCE_CSS),
    )
  }
}
