import type { ErrorCode, RefusalCause } from '../../contract/errors.ts'

export type FieldError = { path: string; message: string }

/** A refusal's details besides its code: fields to correct, or when to call again and why. */
export type RefusalDetails = FieldError[] | { retryAfterS?: number; cause?: RefusalCause }

/** A refusal on its way to the caller: http/problem.ts turns it into the catalogue's problem JSON. */
export class ProblemError extends Error {
  readonly code: ErrorCode
  readonly fields: FieldError[] | undefined
  /** Seconds. */
  readonly retryAfterS: number | undefined
  readonly refusalCause: RefusalCause | undefined

  constructor(code: ErrorCode, details?: RefusalDetails) {
    super(`refused: ${code}`)
    this.name = 'ProblemError'
    this.code = code
    this.fields = Array.isArray(details) ? details : undefined
    this.retryAfterS = Array.isArray(details) ? undefined : details?.retryAfterS
    this.refusalCause = Array.isArray(details) ? undefined : details?.cause
  }
}

/** Ends the call with this refusal. */
export function refuse(code: ErrorCode, details?: RefusalDetails): never {
  throw new ProblemError(code, details)
}
