/** Reads the codes of errors. Imports no library, because every start loads this file early. */

/** The SQLSTATE of a missing right. */
export const DENIED = '42501'

/** The SQLSTATE of an error of PostgreSQL, or the code of another error, such as Node's `ECONNREFUSED`. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** True if the error is a violation of this unique constraint or index. */
export function violates(error: unknown, constraint: string): boolean {
  const broken = sqlState(error) === '23505' && typeof error === 'object' && error !== null
  return broken && 'constraint' in error && error.constraint === constraint
}
