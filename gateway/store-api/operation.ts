/** A call of the store API as a row of a table. Its route, checks and documentation come from this row. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../contract/errors.ts'
import type { Scope } from '../../contract/scopes.ts'
import type { CallingStore } from '../http/call.ts'
import { type FieldError, refuse } from '../http/refusal.ts'
import type { StoreApiDeps } from './deps.ts'

type Description = {
  /** Operation id in the OpenAPI document. */
  id: string
  method: 'GET' | 'POST' | 'DELETE'
  path: `/v1/${string}`
  /** Without a scope, any key of the store works. */
  scope?: Scope
  /** Set if the call accepts an Idempotency-Key: calls with the same key run only once. */
  idempotent?: true
  group: 'Deposits' | 'Events' | 'Money' | 'Offerings' | 'Webhook endpoints'
  summary: string
  description?: string
  /** The meaning of each 2xx, by its status; 200 alone by default. */
  statuses?: Readonly<Record<number, string>>
  /** An example body for the reference. */
  example?: object
  /** Refusals besides those that every call can get. */
  refusals?: readonly ErrorCode[]
}

type Takes = { params?: z.ZodObject; query?: z.ZodObject; body?: z.ZodType }

type Schemas<T extends Takes, A extends z.ZodType> = {
  takes: T
  /** The body of every 2xx. */
  answer: A
}

/** An answer that has not been checked against its schema yet. */
type Answered<B> = { status: number; body: B }

export const ok = <B>(body: B): Answered<B> => ({ status: 200, body })

type Values<T extends Takes> = z.output<z.ZodObject<T>>

type Handler<T extends Takes, A extends z.ZodType> = {
  handle(deps: StoreApiDeps, store: CallingStore, values: Values<T>): Promise<Answered<z.output<A>>>
}

/** A call with valid values that has not run yet. */
type PreparedCall = {
  /** Includes defaults, so two calls with the same meaning are equal. */
  values: object
  perform(): Promise<{ status: number; text: string }>
}

export type Operation = Description &
  Schemas<Takes, z.ZodType> & {
    /** Refuses values that the schemas do not allow. */
    prepare(deps: StoreApiDeps, store: CallingStore, request: FastifyRequest): PreparedCall
  }

/** Defines a row. The handler is typed by the row's schemas. */
export function operation<T extends Takes, A extends z.ZodType>({
  handle,
  ...row
}: Description & Schemas<T, A> & Handler<T, A>): Operation {
  const schema = z.object(row.takes)
  return {
    ...row,
    prepare(deps, store, { params, query, body }) {
      // JSON has no undefined: an absent body is null.
      const read = schema.safeParse({ params, query, body: body ?? null })
      if (!read.success) refuse('invalid_request', fieldsOf(read.error, { params, query, body }))
      return {
        values: read.data,
        async perform() {
          const answer = await handle(deps, store, read.data)
          return { status: answer.status, text: JSON.stringify(row.answer.parse(answer.body)) }
        },
      }
    },
  }
}

/** Returns the wrong fields as the caller names them, without the prefix `body`, `query` or `params`. */
const fieldsOf = ({ issues }: z.ZodError, given: object): FieldError[] =>
  issues.flatMap((issue) => {
    const path = issue.path.slice(1)
    if (issue.code === 'unrecognized_keys') {
      const message = 'is not a field of this call'
      return issue.keys.map((key) => ({ path: [...path, key].join('.'), message }))
    }
    if (path.length === 0 && issue.code === 'invalid_type')
      return [{ path: '', message: 'the body must be a JSON object' }]
    if (issue.code === 'invalid_key') {
      return [{ path: path.join('.'), message: `the key is invalid: ${issue.issues[0]?.message}` }]
    }
    const value = valueAt(given, issue.path)
    if (isRepeated(issue, value)) return [{ path: path.join('.'), message: 'must be given only once' }]
    const message = path.length > 0 ? (messageOfAbsent(value) ?? issue.message) : issue.message
    return [{ path: path.join('.'), message }]
  })

/** A query in which a name occurs twice is read as a list. A field that accepts lists has a message of its own. */
const isRepeated = ({ path, code }: z.core.$ZodIssue, value: unknown): boolean =>
  path[0] === 'query' && Array.isArray(value) && (code === 'invalid_type' || code === 'invalid_value')

/** Some languages write null for a field without a value. */
const messageOfAbsent = (value: unknown): string | undefined => {
  if (value === undefined) return 'is required'
  return value === null ? 'must not be null: leave out a field without a value' : undefined
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  )
