/** Trade tokens at rest: encrypted with the master key, each bound to its row. */
import type { SecretBox } from '../kit/secret-box.ts'

/** The row and column to which an encrypted token is bound. */
export const TOKEN_PLACE = {
  deposit: (hash: string) => `deposit:${hash}:user_token_sealed`,
  trade: (secretCode: string) => `trade:${secretCode}:partner_token_sealed`,
  inventoryRequest: (steamId: string) => `inventory_request:${steamId}:token_sealed`,
} as const

type DepositToken = { hash: string; user_token: string | null; user_token_sealed: Buffer | null }
type TradeToken = { secret_code: string; partner_token: string | null; partner_token_sealed: Buffer | null }

/**
 * Returns the token of the deposit's shopper; null if there is none. An older version running at the same time may have
 * stored it unencrypted.
 */
export function tokenOfDeposit(box: SecretBox, row: DepositToken): string | null {
  const { hash, user_token: inClear, user_token_sealed: sealed } = row
  return inClear ?? (sealed && box.open(sealed, TOKEN_PLACE.deposit(hash)))
}

/** Returns the token for sending the trade's offer; null once it is erased. */
export function tokenOfTrade(box: SecretBox, row: TradeToken): string | null {
  const { secret_code: secretCode, partner_token: inClear, partner_token_sealed: sealed } = row
  return inClear ?? (sealed && box.open(sealed, TOKEN_PLACE.trade(secretCode)))
}

/** Returns the columns of a deposit for a new token. */
export const sealedForDeposit = (box: SecretBox, hash: string, token: string) => ({
  user_token: null,
  user_token_sealed: box.seal(token, TOKEN_PLACE.deposit(hash)),
})

/** Returns keyed hashes of a trade link, for finding equal links. Store the first; search for all. */
export const linkHmacs = (box: SecretBox, { steamId, token }: { steamId: string; token: string }) =>
  box.hmacs(`trade link ${steamId} ${token}`)
