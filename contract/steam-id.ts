/** The Steam id of account number 0. */
const ACCOUNT_ZERO = 76_561_197_960_265_728n
const MOST_ACCOUNTS = 1n << 32n

/** True for the 64-bit Steam id of a person's account, whose last 32 bits are the account's number. */
export function isSteamId(text: string): boolean {
  if (!/^\d{17}$/.test(text)) return false
  const account = BigInt(accountOf(text))
  return account > 0n && account < MOST_ACCOUNTS
}

/** 64-bit Steam id → the number of the account, as in trade links; both as decimal digits. */
export const accountOf = (steamId: string): string => String(BigInt(steamId) - ACCOUNT_ZERO)

/** The number of an account → its 64-bit Steam id. */
export const steamIdOfAccount = (account: string | number): string => String(ACCOUNT_ZERO + BigInt(account))

/** Stands for every erased account: account number 0, which does not exist. */
export const NOBODY = steamIdOfAccount(0)
