import type { ErrorCode } from '../../contract/errors.ts'

export type FieldError = { path: string; message: string }

/** A refusal on its way to the caller: http/problem.ts turns it into the catalogue's problem JSON. */
export class ProblemError extends Error {
  readonly code: ErrorCode
  readonly fields: FieldError[] | undefined

  constructor(code: ErrorCode, fields?: FieldError[]) {
    super(`refused: ${code}`)
    this.name = 'ProblemError'
    this.code = code
    this.fields = fields
  }
}

/** Ends the call with this refusal. */
export function refuse(code: ErrorCode, fields?: FieldError[]): never {
  throw new ProblemError(code, fields)
}
