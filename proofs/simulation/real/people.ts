import { steamIdOfAccount } from '../../../contract/steam-id.ts'
import type { OfferAsset } from '../../../gateway/steam/steam.ts'

export type Person = { steamId: string; accountId: number; assets: OfferAsset[]; hasAuthenticator: boolean }

const SHOPPERS = 8
const ITEMS_EACH = 14

/** The token of every trade link, which must never appear in a log. */
export const CANARY_TOKEN = 'cAnArY_7'

export const BOTS: readonly string[] = [2_001, 2_002, 2_003].map(steamIdOfAccount)

/** Every second shopper owns items that Steam protects after a trade. The last one has no authenticator. */
export const ALL_SHOPPERS: readonly Person[] = Array.from({ length: SHOPPERS }, (_, index) => ({
  steamId: steamIdOfAccount(1_001 + index),
  accountId: 1_001 + index,
  assets: Array.from({ length: ITEMS_EACH }, (_item, item) => ({
    appId: index % 2 === 0 ? 730 : 570,
    contextId: '2',
    assetId: String(10_000 + index * 100 + item),
  })),
  hasAuthenticator: index < SHOPPERS - 1,
}))
