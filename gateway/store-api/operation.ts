/** A call of the store API as a row of a table. Its route, checks and documentation come from this row. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../contract/errors.ts'
import type { Scope } from '../../contract/scopes.ts'
import type { CallingStore } from '../http/call.ts'
import { refuse } from '../http/refusal.ts'
import type { StoreApiDeps } from './deps.ts'
import { describeIssue, fieldsOf, undecodableIn } from './field-errors.ts'

type Description = {
  /** Operation id in the OpenAPI document. */
  id: string
  method: 'GET' | 'POST' | 'DELETE'
  path: `/v1/${string}`
  /** Without a scope, any key of the store works. */
  scope?: Scope
  /** Set if the call accepts an Idempotency-Key: calls with the same key run only once. */
  idempotent?: true
  /** How many of these calls a process works on at a time: of all stores, and of one. Without it, any number. */
  atATime?: { inAll: number; ofStore: number }
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
    prepare(deps, store, { params, query, body, url }) {
      const undecodable = row.takes.query === undefined ? [] : undecodableIn(url)
      if (undecodable.length > 0) refuse('invalid_request', undecodable)
      // JSON has no undefined: an absent body is null.
      const parsed = schema.safeParse({ params, query, body: body ?? null }, { error: describeIssue })
      if (!parsed.success) refuse('invalid_request', fieldsOf(parsed.error, { params, query, body }))
      return {
        values: parsed.data,
        async perform() {
          const answer = await handle(deps, store, parsed.data)
          return { status: answer.status, text: JSON.stringify(row.answer.parse(answer.body)) }
        },
      }
    },
  }
}
