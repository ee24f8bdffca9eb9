/**
 * Returns the message of the error's cause, or else its own: a failed fetch gives its reason only in the cause. For an
 * error without any message, such as that of several refused connections, returns its name.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error && error.cause.message !== '') return error.cause.message
  return error.message === '' ? String(error) : error.message
}
