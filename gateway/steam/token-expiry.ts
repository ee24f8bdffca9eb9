import { z } from 'zod'

const claims = z.object({ exp: z.int().positive() })

/** The expiry inside a Steam token, in milliseconds since 1970; Infinity if none can be read. */
export function expiryOf(token: string): number {
  try {
    const body: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    const parsed = claims.safeParse(body)
    return parsed.success ? parsed.data.exp * 1000 : Number.POSITIVE_INFINITY
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
