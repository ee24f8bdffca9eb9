/** Trade tokens at rest: sealed with the master key, each bound to its row. */
import type { SecretBox } from '../kit/secret-box.ts'

/** The row and column that a sealed token is bound to. */
export const TOKEN_PLACE = {
  deposit: (hash: string) => `deposit:${hash}:user_token_sealed`,
  trade: (secretCode: string) => `trade:${secretCode}:partner_token_sealed`,
  inventoryRequest: (steamId: string) => `inventory_request:${steamId}:token_sealed`,
} as const

type DepositToken = { hash: string; user_token: string | null; user_token_sealed: Buffer | null }
type TradeToken = { secret_code: string; partner_token: string | null; partner_token_sealed: Buffer | null }

/** The token of the deposit's shopper; null if there is none. One in clear was written by an earlier version just now. */
export function tokenOfDeposit(box: SecretBox, row: DepositToken): string | null {
  const { hash, user_token: inClear, user_token_sealed: sealed } = row
  return inClear ?? (sealed && box.open(sealed, TOKEN_PLACE.deposit(hash)))
}

/** The token that the trade's offer is sent with; null once it is erased. */
export function tokenOfTrade(box: SecretBox, row: TradeToken): string | null {
  const { secret_code: secretCode, partner_token: inClear, partner_token_sealed: sealed } = row
  return inClear ?? (sealed && box.open(sealed, TOKEN_PLACE.trade(secretCode)))
}

/** What a deposit's row holds of a new token. */
export const sealedForDeposit = (box: SecretBox, hash: string, token: string) => ({
  user_token: null,
  user_token_sealed: box.seal(token, TOKEN_PLACE.deposit(hash)),
})

/** Keyed hashes of a trade link, by which an equal one is found. The first is to be written. */
export const linkHmacs = (box: SecretBox, { steamId, token }: { steamId: string; token: string }) =>
  box.hmacs(`trade link ${steamId} ${token}`)
