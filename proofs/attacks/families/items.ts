/** Forged answers of Steam, and items that look like more expensive ones: families 44 and 45. */
import { offeredOf } from '../../../gateway/inventory/offered.ts'
import type { SteamItem, SteamTrade } from '../../../gateway/steam/steam.ts'
import { anItem } from '../../../gateway/testing/inventory.ts'
import { active, steamTrade } from '../../../gateway/testing/trades.ts'
import { judgeSteamTrade } from '../../../gateway/trades/proof.ts'
import { type Family, family } from '../attack.ts'
import { problemIf } from './checks.ts'

const PROOF = 'gateway/trades/proof.ts'
const OFFERED = 'gateway/inventory/offered.ts'

const { received } = steamTrade()
const CONTRADICTIONS: Record<string, Partial<SteamTrade>> = {
  'no items': { received: [] },
  'one item less': { received: received.slice(1) },
  'one item more': {
    received: [...received, ...received.slice(0, 1).map((item) => ({ ...item, assetId: '99' }))],
  },
  'one item twice': { received: received.map((item) => ({ ...item, assetId: '11' })) },
  'another item': {
    received: received.map((item, index) => (index === 0 ? { ...item, assetId: '13' } : item)),
  },
  'the same number in another game': { received: received.map((item) => ({ ...item, appId: 570 })) },
  'the same number in another context': { received: received.map((item) => ({ ...item, contextId: '6' })) },
  'ids with a blank': { received: received.map((item) => ({ ...item, assetId: `${item.assetId} ` })) },
}
const OTHER_PARTNERS = [
  '1',
  '',
  '76561198000000001',
  '0',
  '7656119800000000',
  `${active.partnerSteamId} `,
  `0${active.partnerSteamId}`,
]

const verdictOn = (change: Partial<SteamTrade>) => judgeSteamTrade(active, steamTrade(change)).kind

const forgedAnswers: Family = family({
  number: 44,
  name: 'forged answers of Steam',
  kind: 'parts',
  defences: {
    'a record of this shopper': {
      at: `${PROOF} judgeSteamTrade`,
      off: [{ file: PROOF, from: 'steamTrade.partnerSteamId === trade.partnerSteamId && ', to: '' }],
    },
    'no reversal': {
      at: `${PROOF} judgeSteamTrade`,
      off: [{ file: PROOF, from: ' && steamTrade.rollbackOf === null', to: '' }],
    },
    'exactly these items': {
      at: `${PROOF} sameAssets`,
      off: [
        { file: PROOF, from: '!isTheirs || !sameAssets(steamTrade.received, trade.items)', to: '!isTheirs' },
      ],
    },
    'items that arrived': {
      at: `${PROOF} judgeSteamTrade`,
      off: [
        {
          file: PROOF,
          from: 'steamTrade.received.every((asset) => asset.newAssetId !== null)',
          to: 'steamTrade',
        },
      ],
    },
  },
  honest: () => problemIf(verdictOn({}) !== 'delivered', `a true record is ${verdictOn({})}`),
  cases: () => [
    ...OTHER_PARTNERS.map((partnerSteamId) => ({
      what: `a record with the partner '${partnerSteamId}'`,
      stoppedBy: 'a record of this shopper' as const,
      attack: () =>
        problemIf(verdictOn({ partnerSteamId }) !== 'contradiction', verdictOn({ partnerSteamId })),
    })),
    ...['1', '899', '0'].map((rollbackOf) => ({
      what: `the reversal of ${rollbackOf}`,
      stoppedBy: 'no reversal' as const,
      attack: () => problemIf(verdictOn({ rollbackOf }) !== 'contradiction', verdictOn({ rollbackOf })),
    })),
    ...Object.entries(CONTRADICTIONS).map(([what, change]) => ({
      what,
      stoppedBy: 'exactly these items' as const,
      attack: () => problemIf(verdictOn(change) !== 'contradiction', verdictOn(change)),
    })),
    ...received.map((_asset, index) => ({
      what: `a committed record whose item ${index} did not arrive`,
      stoppedBy: 'items that arrived' as const,
      attack() {
        const incomplete = received.map((item, at) => (at === index ? { ...item, newAssetId: null } : item))
        const result = verdictOn({ state: 'committed', received: incomplete })
        return problemIf(result !== 'not_yet', result)
      },
    })),
  ],
})

/**
 * The credit in cents for an item; 0 if the item is not accepted. A name that contains `Knife` is worth 90 USD, and any
 * other name one cent. `taken`: asset ids in other trades.
 */
function creditOf(item: Partial<SteamItem>, taken: string[] = []): number {
  const priceOf = (name: string) => ({
    kind: 'priced' as const,
    price: name.includes('Knife') ? 9_000n : 1n,
    gross: 9_000n,
  })
  const context = {
    game: 'tf' as const,
    prices: { priceOf, priceOfPhase: (pricedAs: string) => ({ price: priceOf(pricedAs), pricedAs }) },
    taken: new Set(taken),
    imageBase: 'https://images.test',
    now: new Date('2026-01-01T00:00:00Z'),
  }
  const { shown } = offeredOf([anItem('1', 'Crate', item)], context)
  return shown.reduce((sum, { price }) => sum + price, 0)
}

const KNIFE_LIKE_NAMES = [
  'Knife',
  '★ Knife',
  'Knife\u200b',
  'K\u043dife Knife',
  'Crate\u202eefinK Knife',
  ' Knife ',
  'Unusual Knife',
]
const KNIFE = { name: 'Knife', marketHashName: 'Knife' }

const lookAlikes: Family = family({
  number: 45,
  name: 'items that look like more expensive ones',
  kind: 'parts',
  defences: {
    'prices by market name': {
      at: `${OFFERED} priceOf`,
      off: [
        {
          file: OFFERED,
          from: 'price: prices.priceOf(marketHashName), pricedAs',
          to: 'price: prices.priceOf(item.name), pricedAs',
        },
      ],
    },
    'marketable items only': {
      at: `${OFFERED} isMarketable`,
      off: [
        {
          file: OFFERED,
          from: "if (!isMarketable(item, now)) return { kind: 'unavailable', reason: 'notMarketable' }",
          to: '',
        },
      ],
    },
    'only items with a price of their own': {
      at: `${OFFERED} isUnlikeItsName`,
      off: [
        {
          file: OFFERED,
          from: "if (isUnlikeItsName(item, game)) return { kind: 'unavailable', reason: 'noOwnPrice' }",
          to: '',
        },
      ],
    },
    'no stacks': {
      at: `${OFFERED} judge`,
      off: [
        {
          file: OFFERED,
          from: "if (item.amount > 1) return { kind: 'unavailable', reason: 'stack' }",
          to: '',
        },
        {
          file: OFFERED,
          from: "if (item.amount !== 1) return { kind: 'unavailable', reason: 'unknownItem' }",
          to: '',
        },
      ],
    },
    'tradable items only': {
      at: `${OFFERED} judge`,
      off: [
        {
          file: OFFERED,
          from: "if (!item.tradable) return { kind: 'unavailable', reason: reasonOf(item) }",
          to: '',
        },
      ],
    },
    'no item of another trade': {
      at: `${OFFERED} judge`,
      off: [
        {
          file: OFFERED,
          from: "if (taken.has(item.assetId)) return { kind: 'unavailable', reason: 'inAnotherTrade' }",
          to: '',
        },
      ],
    },
  },
  honest: () => problemIf(creditOf(KNIFE) !== 9_000, 'a plain item does not get its price'),
  cases: () => {
    const refusedCase = <D extends string>(stoppedBy: D, what: string, item: Partial<SteamItem>) => ({
      what,
      stoppedBy,
      attack: () => problemIf(creditOf({ ...KNIFE, ...item }) !== 0, 'is credited'),
    })
    return [
      ...KNIFE_LIKE_NAMES.map((name) => ({
        what: `a crate called ${JSON.stringify(name)}`,
        stoppedBy: 'prices by market name' as const,
        attack: () => problemIf(creditOf({ name }) > 1, 'is credited like a knife'),
      })),
      refusedCase('marketable items only', 'an item that the market never takes', {
        market: { kind: 'closed' },
      }),
      refusedCase('only items with a price of their own', 'an item that cannot be used in crafting', {
        isNoted: true,
      }),
      refusedCase('only items with a price of their own', 'an unusual item', {
        marketHashName: 'Unusual Knife',
      }),
      refusedCase('only items with a price of their own', 'a strange unusual item', {
        marketHashName: 'Strange Unusual Knife',
      }),
      ...[2, 100, 0, -1, 0.5, Number.NaN].map((amount) =>
        refusedCase('no stacks', `an amount of ${amount}`, { amount }),
      ),
      refusedCase('tradable items only', 'an untradable item', { tradable: false }),
      {
        what: 'an item in another trade',
        stoppedBy: 'no item of another trade',
        attack: () => problemIf(creditOf(KNIFE, ['1']) !== 0, 'is credited'),
      },
    ]
  },
})

export const ITEM_FAMILIES: readonly Family[] = [forgedAnswers, lookAlikes]
