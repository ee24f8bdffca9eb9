/** Tells a person before Steam stops taking the refresh token of an account. Steam's tokens end after about 200 days. */
import { z } from 'zod'
import { DAY_MS } from '../durations.ts'
import type { Account } from '../files/accounts.ts'
import type { Needs } from '../needs.ts'

const SOON_MS = 7 * DAY_MS

type Parts = { accounts: ReadonlyMap<string, Account>; now(): Date; needs: Pick<Needs, 'note' | 'end'> }

/** Returns a function to call often, because a need that is no longer noted is forgotten. */
export function watchTokenEnds({ accounts, now, needs }: Parts): () => Promise<void> {
  return async () => {
    for (const { steamId, secrets } of accounts.values()) {
      const about = `account ${steamId}`
      const endMs = endOf(secrets.refreshToken)
      if (endMs - now().getTime() >= SOON_MS) needs.end('token_ends', about)
      else
        needs.note(
          'token_ends',
          about,
          `its session at Steam ends at ${new Date(endMs).toISOString()} at the latest`,
        )
    }
  }
}

const claimsSchema = z.object({ exp: z.int().positive() })

/** The end that the token itself names, in milliseconds since 1970; Infinity if none can be read. */
function endOf(token: string): number {
  try {
    const body: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    const { data } = claimsSchema.safeParse(body)
    return data === undefined ? Number.POSITIVE_INFINITY : data.exp * 1_000
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
