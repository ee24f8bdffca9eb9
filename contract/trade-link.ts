/** A trade link identifies an account, and contains the token with which strangers can send it offers. */
export type TradeLink = {
  /** 32-bit account id as decimal digits. */
  partner: string
  token: string
  /** The link in its canonical form: https, no www, parameters in order. */
  url: string
}

const TRADE_LINK =
  /^https?:\/\/(?:www\.)?steamcommunity\.com\/tradeoffer\/new\/\?partner=(\d+)&token=([A-Za-z0-9_-]{3,})$/

/** In characters. */
export const LONGEST_TRADE_LINK = 512

/** Checks only the form. The server checks whether the account exists, and Steam whether the token is valid. */
export const isTradeLink = (text: string): boolean => TRADE_LINK.test(text.trim())

/** Returns the link without its token. It identifies the account, but lets nobody send an offer. */
export const linkWithoutToken = (partner: string): string =>
  `https://steamcommunity.com/tradeoffer/new/?partner=${partner}`

const LARGEST_ACCOUNT_ID = 4_294_967_295

/**
 * Parses a link, with or without spaces around it. Returns undefined for any other text, for more than
 * `LONGEST_TRADE_LINK` characters, and for a number that no account can have.
 */
export function parseTradeLink(text: string): TradeLink | undefined {
  if (text.length > LONGEST_TRADE_LINK) return undefined
  const match = TRADE_LINK.exec(text.trim())
  const partner = match?.[1]
  const token = match?.[2]
  if (partner === undefined || token === undefined) return undefined
  const account = Number(partner)
  if (account < 1 || account > LARGEST_ACCOUNT_ID) return undefined
  return {
    partner: String(account),
    token,
    url: `${linkWithoutToken(String(account))}&token=${token}`,
  }
}
