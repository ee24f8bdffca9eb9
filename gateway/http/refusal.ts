import type { ErrorCode, RefusalCause } from '../../contract/errors.ts'

export type FieldError = { path: string; message: string }

/**
 * The details of a refusal besides its code: fields to correct, or the cause and when to call again. `asked`: the words
 * for `{asked}` in the text for stores, such as an id, a missing scope or the fields that differ. Without it, they come
 * from the call's path and query.
 */
export type RefusalDetails =
  | FieldError[]
  | { retryAfterS?: number; until?: Date; cause?: RefusalCause; asked?: string }

/** A refusal on its way to the caller: http/problem.ts turns it into the catalogue's problem JSON. */
export class ProblemError extends Error {
  readonly code: ErrorCode
  readonly fields: FieldError[] | undefined
  readonly retryAfterS: number | undefined
  /** The time at which `retryAfterS` ends, if a page shows it. */
  readonly until: Date | undefined
  readonly refusalCause: RefusalCause | undefined
  readonly asked: string | undefined

  constructor(code: ErrorCode, details?: RefusalDetails) {
    super(`refused: ${code}`)
    this.name = 'ProblemError'
    this.code = code
    this.fields = Array.isArray(details) ? details : undefined
    this.retryAfterS = Array.isArray(details) ? undefined : details?.retryAfterS
    this.until = Array.isArray(details) ? undefined : details?.until
    this.refusalCause = Array.isArray(details) ? undefined : details?.cause
    this.asked = Array.isArray(details) ? undefined : details?.asked
  }
}

/**
 * `overloaded`: too many calls wait for the database, and more would slow all of them down. `database_unavailable`:
 * the database is away.
 */
export type UnableReason = 'overloaded' | 'database_unavailable'

const RETRY_S: Record<UnableReason, number> = { overloaded: 1, database_unavailable: 2 }

export function refuseIfUnable(unableReason: UnableReason | undefined): void {
  if (unableReason !== undefined) refuse(unableReason, { retryAfterS: RETRY_S[unableReason] })
}

/** Refuses the call by throwing a ProblemError. */
export function refuse(code: ErrorCode, details?: RefusalDetails): never {
  throw new ProblemError(code, details)
}
