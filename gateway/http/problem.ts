/** Sends every refusal as RFC 9457 problem JSON from the catalogue, in the language of the call. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import {
  detailForStores,
  ERRORS,
  type ErrorCode,
  type Problem,
  type RefusalCause,
} from '../../contract/errors.ts'
import { acceptedLanguage, isLanguage, type Language } from '../../contract/languages.ts'
import { isPoolTimeout } from '../db/client.ts'
import { isDatabaseAway } from '../db/database-away.ts'
import { sqlState } from '../db/sql-state.ts'
import type { Log } from '../kit/log.ts'
import { attachCalls } from './call.ts'
import { createAddressBuckets, createBuckets } from './limits.ts'
import { type FieldError, ProblemError } from './refusal.ts'

/** How many log lines refused calls may write: refusals cost the caller nothing, and must not fill the log. */
const LINES_OF_ADDRESS = { perSecond: 0.1, burst: 100 }
const LINES_OF_ALL = { perSecond: 5, burst: 500 }

/** For a call that got no connection in ten seconds: the database is away, or very busy. */
const POOL_RETRY_S = 5
/** For a call that failed because the database was away. */
const AWAY_RETRY_S = 2

/** The SQLSTATE of a write that is refused until the next epoch begins: see gateway/epochs. */
const BETWEEN_EPOCHS = 'TT001'
const BETWEEN_EPOCHS_RETRY_S = 30

/**
 * Returns the `language` of the query or body, otherwise the first supported language of Accept-Language, otherwise
 * English.
 */
function languageOf(request: FastifyRequest): Language {
  const language = fieldOf(request.query, 'language') ?? fieldOf(request.body, 'language')
  return isLanguage(language) ? language : acceptedLanguage(request.headers['accept-language'])
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** `detail`: in English by default, for a refusal without a request. */
export function problemWith(
  code: ErrorCode,
  fields?: FieldError[],
  detail: string = ERRORS[code].detail.en,
): Problem {
  const { status, title } = ERRORS[code]
  return {
    type: `urn:tradetill:problem:${code}`,
    title,
    status,
    code,
    detail,
    ...(fields && { errors: fields }),
  }
}

function problemOf(
  request: FastifyRequest,
  { code, fields, until, refusalCause: cause, asked }: Refusal,
): Problem {
  const language = languageOf(request)
  const { store } = request.call
  // A store's call for another host is refused before its key is read, so only its path shows that it is a store's.
  const isEarly = code === 'wrong_host' && request.url.startsWith('/v1/')
  const detail =
    store === undefined && !isEarly
      ? ERRORS[code].detail[language]
      : detailForStores(code, language, { key: store?.keyId, asked: asked ?? describeAsked(request) })
  return {
    ...problemWith(code, fields, detail),
    ...(cause && { cause }),
    ...(until && { until: until.toISOString() }),
  }
}

function describeAsked({ params, query }: FastifyRequest): string {
  const id = fieldOf(params, 'id')
  return id === undefined
    ? `externalId ${JSON.stringify(fieldOf(query, 'externalId') ?? '')}`
    : `id ${String(id)}`
}

type Refusal = {
  code: ErrorCode
  fields?: FieldError[] | undefined
  retryAfterS?: number | undefined
  until?: Date | undefined
  refusalCause?: RefusalCause | undefined
  asked?: string | undefined
}

export function sendProblem(reply: FastifyReply, request: FastifyRequest, refusal: Refusal): FastifyReply {
  request.call.refusal = refusal.code
  const problem = problemOf(request, refusal)
  // RFC 9110, 11.6.1: a 401 says how to authenticate.
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer')
  if (refusal.retryAfterS !== undefined) reply.header('retry-after', refusal.retryAfterS)
  // Set here, because a call may be refused before any hook could set it.
  reply.header('x-request-id', request.id)
  return reply
    .code(problem.status)
    .header('cache-control', 'no-store')
    .type('application/problem+json')
    .send(JSON.stringify(problem))
}

/** Handles every error thrown in a route. An error that is not a refusal is logged, and answered without details. */
export function handleErrors(app: FastifyInstance, log: Log, nowMs = () => performance.now()): void {
  attachCalls(app)
  const logRefusal = refusalLines(log, nowMs)
  app.setErrorHandler((error: FastifyError | ProblemError, request, reply) => {
    const refusal = refusalOf(error)
    if (refusal.code === 'internal') log.error({ ...logFieldsOf(request), err: error }, 'call failed')
    else logRefusal(request, refusal.code, refusal.code === 'database_unavailable' ? error : undefined)
    return sendProblem(reply, request, refusal)
  })
}

const logFieldsOf = ({ id, method, routeOptions }: FastifyRequest) => ({
  requestId: id,
  method,
  path: routeOptions.url,
})

/**
 * Logs refused calls, up to a limit per address and in total. The next line contains the number of calls that were
 * skipped.
 */
function refusalLines(log: Log, nowMs: () => number) {
  const ofAddress = createAddressBuckets(LINES_OF_ADDRESS, nowMs)
  const ofAll = createBuckets(LINES_OF_ALL, nowMs)
  let leftOut = 0
  return (request: FastifyRequest, code: ErrorCode, fault: Error | undefined): void => {
    // Calls that the limits refuse are counted by the metric of all calls, and a store's call has another log line.
    if (fault === undefined && (code === 'too_many_requests' || request.call.store !== undefined)) return
    if (!ofAddress.take(request.ip) || !ofAll.take('all')) {
      leftOut += 1
      return
    }
    const about = { ...logFieldsOf(request), ...(leftOut > 0 && { leftOut }), code }
    leftOut = 0
    // A ProblemError is the gateway's own refusal. Any other error shows why the database failed.
    if (fault === undefined || fault instanceof ProblemError) log.info(about, 'call was refused')
    else log.error({ ...about, err: fault }, 'call failed because the database was away')
  }
}

function refusalOf(error: FastifyError | ProblemError): Refusal {
  if (error instanceof ProblemError) return error
  if (isPoolTimeout(error)) return { code: 'overloaded', retryAfterS: POOL_RETRY_S }
  if (sqlState(error) === BETWEEN_EPOCHS)
    return { code: 'technical_works', retryAfterS: BETWEEN_EPOCHS_RETRY_S }
  if (isDatabaseAway(error)) return { code: 'database_unavailable', retryAfterS: AWAY_RETRY_S }
  if (hasZodFastifySchemaValidationErrors(error)) {
    const fields = error.validation.map(({ instancePath, message }) => ({
      path: instancePath.replace(/^\//, '').replaceAll('/', '.'),
      message: message ?? '',
    }))
    return { code: 'invalid_request', fields }
  }
  if (error.statusCode === 413) return { code: 'payload_too_large' }
  if (error.statusCode === 415) return { code: 'unsupported_media_type' }
  return { code: (error.statusCode ?? 500) < 500 ? 'invalid_request' : 'internal' }
}
