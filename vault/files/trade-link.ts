/** Trade links. Anybody who has an account's link can send the account an offer. */

/** The Steam id of account number 0. A trade link contains the number of an account. */
const FIRST_STEAM_ID = 76_561_197_960_265_728n
const ADDRESS = /^https?:\/\/(?:www\.)?steamcommunity\.com\/tradeoffer\/new\/?$/

export type Partner = { steamId: string; token: string }

/** Accepts the fields of a link in any order and among other fields, as Steam does. */
export function partnerOfLink(link: string): Partner | undefined {
  const url = URL.parse(link.trim())
  if (url === null || !ADDRESS.test(url.origin + url.pathname)) return undefined
  const [accountId = '', token = ''] = ['partner', 'token'].map((field) => url.searchParams.get(field) ?? '')
  if (!/^\d{1,10}$/.test(accountId) || !/^[\w-]{8}$/.test(token)) return undefined
  return { steamId: steamIdOf(accountId), token }
}

export const accountIdOf = (steamId: string): string => String(BigInt(steamId) - FIRST_STEAM_ID)
export const steamIdOf = (accountId: number | string): string => String(FIRST_STEAM_ID + BigInt(accountId))
