/** Every refusal leaves as RFC 9457 problem JSON from the catalogue, in the language the call asked for. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { ERRORS, type ErrorCode, type Problem } from '../../contract/errors.ts'
import { FALLBACK_LANGUAGE, isLanguage, type Language } from '../../contract/languages.ts'
import type { Log } from '../kit/log.ts'
import { type FieldError, ProblemError } from '../kit/problem.ts'

/** `language` of the query or body, else the first supported one of Accept-Language, else English. */
function languageOf(request: FastifyRequest): Language {
  const asked = fieldOf(request.query, 'language') ?? fieldOf(request.body, 'language')
  if (isLanguage(asked)) return asked
  const accepted = (request.headers['accept-language'] ?? '')
    .split(',')
    .map((entry) => entry.trim().slice(0, 2).toLowerCase())
  return accepted.find(isLanguage) ?? FALLBACK_LANGUAGE
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function problemOf(code: ErrorCode, language: Language, fields?: FieldError[]): Problem {
  const { status, title, detail } = ERRORS[code]
  return {
    type: `urn:tradetill:problem:${code}`,
    title,
    status,
    code,
    detail: detail[language],
    ...(fields && { errors: fields }),
  }
}

type Refusal = { code: ErrorCode; fields?: FieldError[] | undefined; retryAfterS?: number | undefined }

/** Answers the call with the refusal `code`. */
export function sendProblem(reply: FastifyReply, request: FastifyRequest, refusal: Refusal): FastifyReply {
  const problem = problemOf(refusal.code, languageOf(request), refusal.fields)
  if (refusal.retryAfterS !== undefined) reply.header('retry-after', refusal.retryAfterS)
  return reply
    .code(problem.status)
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .type('application/problem+json')
    .send(JSON.stringify(problem))
}

/** Sets the handler of everything thrown in a route: what is not a refusal is logged and told without detail. */
export function handleErrors(app: FastifyInstance, log: Log): void {
  app.setErrorHandler((error: FastifyError | ProblemError, request, reply) => {
    const refusal = refusalOf(error)
    const about = { requestId: request.id, method: request.method, path: request.routeOptions.url }
    if (refusal.code === 'internal') log.error({ ...about, err: error }, 'http: a call failed')
    else log.info({ ...about, code: refusal.code }, 'http: a call was refused')
    return sendProblem(reply, request, refusal)
  })
}

function refusalOf(error: FastifyError | ProblemError): Refusal {
  if (error instanceof ProblemError) return error
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
