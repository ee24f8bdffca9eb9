/** Trade links. Anybody who has an account's link can send the account an offer. */
import { steamIdOfAccount } from '../../contract/steam-id.ts'

const ADDRESS = /^https?:\/\/(?:www\.)?steamcommunity\.com\/tradeoffer\/new\/?$/

export type Partner = { steamId: string; token: string }

/** Accepts the fields of a link in any order and among other fields, as Steam does. */
export function partnerOfLink(link: string): Partner | undefined {
  const url = URL.parse(link.trim())
  if (url === null || !ADDRESS.test(url.origin + url.pathname)) return undefined
  const [accountId = '', token = ''] = ['partner', 'token'].map((field) => url.searchParams.get(field) ?? '')
  if (!/^\d{1,10}$/.test(accountId) || !/^[\w-]{8}$/.test(token)) return undefined
  return { steamId: steamIdOfAccount(accountId), token }
}
