/** The OpenAPI document, made from the table of operations. zod writes the schemas. */
import { z } from 'zod'
import { detailForStores, ERRORS, type ErrorCode } from '../../contract/errors.ts'
import { problemSchema } from '../../contract/store-api.ts'
import { testMessageSchema, webhookSchema } from '../../contract/webhooks.ts'
import { ATTEMPTS } from '../webhooks/schedule.ts'
import type { Operation } from './operation.ts'

export type JsonSchema = { [key: string]: unknown }

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: JsonSchema
}

type Answer = { description: string; content: Record<string, { schema: JsonSchema }> }

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

/** Refusals that every call can get. */
const COMMON_REFUSALS: readonly ErrorCode[] = [
  'invalid_request',
  'https_required',
  'wrong_host',
  'unauthorized',
  'too_many_requests',
  'internal',
  'overloaded',
  'database_unavailable',
]
/** Refusals that every call but a GET can get. */
const REFUSALS_OF_WRITES: readonly ErrorCode[] = [
  'idempotency_in_progress',
  'idempotency_key_reused',
  'payload_too_large',
  'unsupported_media_type',
]
/** Refusals whose `Retry-After` says when to call again. */
const TEMPORARY: readonly ErrorCode[] = [
  'overloaded',
  'database_unavailable',
  'technical_works',
  'too_many_requests',
  'idempotency_in_progress',
  'deposit_busy',
  'replay_in_progress',
  'replay_quota',
  'too_many_deposits',
  'too_many_tests',
]

const INFO = {
  title: 'Tradetill store API',
  version: '1',
  description:
    'Money is an integer of minor units; times are ISO 8601 in UTC. Answers and events can get new fields at any time, and new values where `x-extensible-enum` lists the current ones. No field or value is removed or changes its meaning.',
}

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'For 48 hours, a call with the same key and values returns the same answer, with `Idempotency-Replayed: true`, and does nothing twice. Answers with `Retry-After`, and 5xx, are not kept.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
}

export function openApiOf(operations: readonly Operation[], publicUrl: string): OpenApi {
  const { schemas, use } = collectSchemas()
  const paths: OpenApi['paths'] = {}
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: callOf(operation, use) }
  }
  return {
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: publicUrl }],
    security: [{ apiKey: [] }],
    paths,
    webhooks: {
      event: webhookOf('An event of the log', EVENT_TAKEN, use(webhookSchema, 'output')),
      test: webhookOf(
        'A test of the address: answer with `data.challenge`, as the whole body or as the JSON field `challenge`',
        'The test has arrived. It is not sent again.',
        use(testMessageSchema, 'output'),
      ),
    },
    components: { schemas, securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  }
}

/** The headers of Standard Webhooks. */
const SIGNATURE_HEADERS: readonly Parameter[] = [
  ['webhook-id', '`id` of the body, the same in every attempt.'],
  [
    'webhook-timestamp',
    'Time of this attempt in seconds since 1970. Refuse a webhook whose time is more than five minutes off.',
  ],
  [
    'webhook-signature',
    '`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. During a rotation of secrets there are several, separated by spaces.',
  ],
].map(([name = '', description = '']) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
}))

const EVENT_TAKEN = `You have saved the event. After any other answer, or none within 15 seconds, it is sent again, up to ${ATTEMPTS - 1} times. The answer 410 disables the endpoint instead.`

/** `taken`: what an answer of 2xx means. */
const webhookOf = (summary: string, taken: string, schema: JsonSchema): { post: object } => ({
  post: {
    summary,
    parameters: SIGNATURE_HEADERS,
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: { '2XX': { description: taken } },
  },
})

type Use = (schema: z.ZodType, io: 'input' | 'output') => JsonSchema

/** Answers may get new fields: a client generated from this document must accept unknown fields and values. */
function allowExtensions(schema: JsonSchema): void {
  delete schema.additionalProperties
  if (!Array.isArray(schema.enum)) return
  const { enum: values } = schema
  delete schema.enum
  schema['x-extensible-enum'] = values
}

/** `use` returns the JSON schema. A named schema goes into `schemas`, and `use` returns a reference to it. */
function collectSchemas(): { schemas: Record<string, JsonSchema>; use: Use } {
  const schemas: Record<string, JsonSchema> = {}
  const use: Use = (schema, io) => {
    // zod makes a reference of a named schema only inside another schema, so wrap it.
    const { $defs, properties } = z.toJSONSchema(z.object({ wrapped: schema }), {
      io,
      unrepresentable: 'any',
      override({ jsonSchema, zodSchema }) {
        // A record is open already, and declares the type of its values.
        if (io === 'output' && !(zodSchema instanceof z.core.$ZodRecord)) allowExtensions(jsonSchema)
      },
    })
    for (const [name, { id: _, ...named }] of Object.entries($defs ?? {})) schemas[name] = withPointers(named)
    return withPointers(asRecord(properties?.wrapped))
  }
  return { schemas, use }
}

/** Returns the schema with its references pointing to OpenAPI's named schemas. */
const withPointers = (schema: object): JsonSchema =>
  asRecord(JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')))

function callOf(operation: Operation, use: Use): DocumentedCall {
  const { id, group, summary, scope, takes, example } = operation
  const scopeText =
    scope === undefined ? 'Any API key of your store may do this.' : `Needs the scope \`${scope}\`.`
  const { params, query, body } = takes
  return {
    operationId: id,
    tags: [group],
    summary,
    description: [operation.description, scopeText].filter((text) => text !== undefined).join(' '),
    parameters: [
      ...(params === undefined ? [] : parametersOf(use(params, 'input'), 'path')),
      ...(query === undefined ? [] : parametersOf(use(query, 'input'), 'query')),
      ...(operation.idempotent === true ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(body !== undefined && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: { 'application/json': { schema: use(body, 'input'), ...(example && { example }) } },
      },
    }),
    responses: { ...answersOf(operation, use), ...refusalsOf(operation, use) },
  }
}

function parametersOf({ properties, required }: JsonSchema, place: 'path' | 'query'): Parameter[] {
  const names = Array.isArray(required) ? required : []
  return Object.entries(asRecord(properties)).map(([name, value]) => {
    const { description, ...schema } = asRecord(value)
    return {
      name,
      in: place,
      required: names.includes(name),
      ...(typeof description === 'string' && { description }),
      schema,
    }
  })
}

function answersOf(
  { answer, statuses = { 200: 'Done.' } }: Operation,
  use: Use,
): DocumentedCall['responses'] {
  const content = { 'application/json': { schema: use(answer, 'output') } }
  return Object.fromEntries(
    Object.entries(statuses).map(([status, description]) => [status, { description, content }]),
  )
}

function refusalsOf({ method, scope, refusals = [] }: Operation, use: Use): DocumentedCall['responses'] {
  const scopeRefusal: ErrorCode[] = scope === undefined ? [] : ['scope_missing']
  const codes = [
    ...COMMON_REFUSALS,
    ...scopeRefusal,
    ...(method === 'GET' ? [] : REFUSALS_OF_WRITES),
    ...refusals,
  ]
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status)
  const content = { 'application/problem+json': { schema: use(problemSchema, 'output') } }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, sameStatus]) => [
        String(status),
        { description: sameStatus.map(refusalText).join('\n\n'), content },
      ]),
  )
}

/** Words for `{asked}` in the texts of refusals: the reference describes no single call. */
const ASKED: Partial<Record<ErrorCode, string>> = {
  not_found: 'this id or eventId',
  scope_missing: 'that the call needs',
  order_conflict: 'the fields that are named here',
}

const refusalText = (code: ErrorCode): string =>
  `\`${code}\`: ${detailForStores(code, 'en', { asked: ASKED[code] ?? 'this id or externalId' })}${TEMPORARY.includes(code) ? ' `Retry-After` gives the seconds.' : ''}`

export function asRecord(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}
