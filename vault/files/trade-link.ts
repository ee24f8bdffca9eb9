/** Trade links. Anybody who has an account's link can send the account an offer. */

/** The Steam id of account number 0. A trade link contains the number of an account. */
const FIRST_STEAM_ID = 76_561_197_960_265_728n
const LINK = /^https:\/\/steamcommunity\.com\/tradeoffer\/new\/\?partner=(\d{1,10})&token=([A-Za-z0-9_-]{8})$/

export type Partner = { steamId: string; token: string }

export function partnerOfLink(link: string): Partner | undefined {
  const [, accountId, token] = LINK.exec(link.trim()) ?? []
  if (accountId === undefined || token === undefined) return undefined
  return { steamId: String(FIRST_STEAM_ID + BigInt(accountId)), token }
}

export const accountIdOf = (steamId: string): string => String(BigInt(steamId) - FIRST_STEAM_ID)
export const steamIdOf = (accountId: number): string => String(FIRST_STEAM_ID + BigInt(accountId))
