/** The outside markets for which the vault has a client. */
export const MARKETS = ['market.csgo.com', 'waxpeer.com'] as const
export type MarketName = (typeof MARKETS)[number]
