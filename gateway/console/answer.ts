import type { FastifyError, FastifyInstance } from 'fastify'
import { isPoolTimeout } from '../db/client.ts'
import { isDatabaseAway } from '../db/database-away.ts'
import { ProblemError } from '../http/refusal.ts'
import type { Log } from '../kit/log.ts'
import { toJson } from '../operations/json.ts'
import type { Answer, RefusalKind } from '../operations/operation.ts'

const STATUS = {
  usage: 400,
  signed_out: 401,
  cross_site: 403,
  https_required: 403,
  forbidden: 403,
  step_up: 403,
  link_over: 403,
  passkey_refused: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  wrong_host: 421,
  too_many: 429,
  failed: 500,
  damaged: 500,
  // Nothing was done yet: a second operator may approve the act.
  proposed: 202,
  unavailable: 503,
  unreachable: 503,
} as const satisfies Record<RefusalKind, number> & Record<string, number>

export type CallRefusal = keyof typeof STATUS

const MESSAGES: Partial<Record<CallRefusal, string>> = {
  signed_out: 'You are signed out.',
  cross_site: 'Only the page of the console may make calls.',
  https_required: 'The console can be reached over https only.',
  forbidden: 'Your role does not allow this.',
  step_up: 'Show your passkey again: this needs a fresh check.',
  link_over:
    'This link was used, or its 10 minutes are over. Get another one with tradetill operator link NAME.',
  passkey_refused: 'The passkey was not accepted.',
  not_found: 'There is no such call.',
  too_large: 'The call is too large.',
  wrong_host: 'This is not the console’s address.',
  too_many: 'Too many calls: wait a moment.',
  failed: 'Something failed on our side. See the log of the gateway.',
  unreachable: 'The database cannot be reached. Nothing is lost: try again.',
}

export class CallRefused extends Error {
  readonly kind: CallRefusal
  constructor(kind: CallRefusal, message = MESSAGES[kind] ?? kind) {
    super(message)
    this.name = 'CallRefused'
    this.kind = kind
  }
}

export function refuseCall(kind: CallRefusal, message?: string): never {
  throw new CallRefused(kind, message)
}

type Body = { status: number; body: string }

const errorOf = (kind: CallRefusal, message: string): Body => ({
  status: STATUS[kind],
  body: toJson({ error: { kind, message } }),
})

export function toBody(answer: Answer<unknown>): Body {
  if (answer.kind === 'refused') return errorOf(answer.refusal, answer.message)
  const { kind, data, message } = answer
  return { status: 200, body: toJson({ kind, data, message }) }
}

/** Answers thrown errors. A fault of the till is logged, and answered without details. */
export function answerErrors(app: FastifyInstance, log: Log): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { kind, message } = refusalOf(error)
    const about = { requestId: request.id, call: request.routeOptions.url, kind }
    if (kind === 'failed' || kind === 'unreachable')
      log.error({ ...about, err: error }, 'console call failed')
    else log.debug(about, 'console call was refused')
    const { status, body } = errorOf(kind, message)
    return reply.code(status).type('application/json').send(body)
  })
  app.setNotFoundHandler(() => refuseCall('not_found'))
}

function refusalOf(error: FastifyError): CallRefused {
  if (error instanceof CallRefused) return error
  if (isPoolTimeout(error) || isDatabaseAway(error)) return new CallRefused('unreachable')
  if (error instanceof ProblemError) return new CallRefused('usage', 'The call is malformed.')
  if (error.statusCode === 413) return new CallRefused('too_large')
  return (error.statusCode ?? 500) < 500
    ? new CallRefused('usage', 'The call is malformed.')
    : new CallRefused('failed')
}
