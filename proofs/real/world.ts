/** The world that a seed begins with: a few shoppers, two bots. */
import { CATALOGUE } from '../../steam-sandbox/items.ts'
import type { Account, Asset, World } from '../../steam-sandbox/world/world.ts'

const FIRST_STEAM_ID = 76561197960265728n
const SHOPPERS = 8
const ITEMS_EACH = 14
const PROTECTION_S = 7 * 86_400

/** A token in a trade link. It must never be seen in a log. */
export const CANARY_TOKEN = 'cAnArY_7'

const classesOf = (appId: number): string[] =>
  [...CATALOGUE.values()].flatMap((entry) => (entry.appId === appId && entry.tradable ? [entry.classId] : []))

/** Every other shopper owns what is protected after a trade; the last one has no authenticator. */
export function firstWorld(nowMs: number): World {
  let lastId = nowMs
  const account = (kind: Account['kind'], number: number, assets: Asset[]): Account => ({
    kind,
    accountId: number,
    steamId: String(FIRST_STEAM_ID + BigInt(number)),
    name: `${kind}_${number}`,
    level: 10,
    token: CANARY_TOKEN,
    avatarHash: '',
    assets,
    sessionGeneration: 0,
    loginGeneration: 0,
    acknowledged: true,
  })
  const assetsOf = (appId: number): Asset[] =>
    Array.from({ length: ITEMS_EACH }, (_, index) => {
      lastId += 1
      const classes = classesOf(appId)
      return {
        assetId: String(lastId),
        appId,
        contextId: '2',
        classId: classes[index % classes.length] ?? '',
      }
    })
  const shoppers = Array.from({ length: SHOPPERS }, (_, index) => ({
    ...account('shopper', 1_001 + index, assetsOf(index % 2 === 0 ? 730 : 570)),
    ...(index === SHOPPERS - 1 && { behaviour: 'hold-15-days' }),
  }))
  const bots = [account('bot', 2_001, []), account('bot', 2_002, [])]
  return {
    version: 2,
    lastId,
    aheadS: 0,
    protectionS: PROTECTION_S,
    accounts: [...shoppers, ...bots],
    offers: [],
    trades: [],
    switched: [],
  }
}
