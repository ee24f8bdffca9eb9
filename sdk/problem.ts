import type { Problem } from './types.ts'

/** Thrown if the till answers with an error. Decide by `code`: codes never change. Handle unknown codes by `status`. */
export class TillProblem extends Error {
  override readonly name = 'TillProblem'
  readonly status: number
  readonly code: Problem['code']
  /** The invalid fields, for `invalid_request`. */
  readonly errors: { path: string; message: string }[]
  readonly retryAfterS: number | undefined
  /** For the operator. */
  readonly requestId: string | null

  constructor({ status, headers }: Response, problem: Partial<Problem>, retryAfterS?: number) {
    super(problem.detail ?? `the till answered ${status}`)
    this.status = status
    this.code = problem.code ?? 'unknown'
    this.errors = problem.errors ?? []
    this.retryAfterS = retryAfterS
    this.requestId = headers.get('x-request-id')
  }
}

/**
 * Thrown if the last try got no answer (`cause` is its error), or a success whose body cannot be read. The call may have
 * worked: repeat it, with the same `externalId` if any.
 */
export class TillUnreachable extends Error {
  override readonly name = 'TillUnreachable'
}
