/** The world of a seed: Steam with its items, the markets, and the vault's accounts, rules, approvals and log. */

import type { MarketName } from '../../contract/markets.ts'
import { PROTECTED_APP } from '../../steam-sandbox/world/world.ts'
import type { Account } from '../../vault/files/accounts.ts'
import type { Key } from '../../vault/files/key.ts'
import type { Entry } from '../../vault/files/log.ts'
import type { Rules } from '../../vault/files/rules.ts'
import type { Approval } from '../../vault/giving/judge.ts'
import type { Access } from '../../vault/markets/shop.ts'
import type { Luck } from './luck.ts'
import { ModelMarket } from './market.ts'
import { DAY_MS, GAMES, ModelSteam } from './steam.ts'

/** The bots' accounts. The second one sometimes sells its own items. */
export const BOTS = ['76561198000000011', '76561198000000012'] as const
export const SELLER = '76561198000000009'
export const STORAGE = '76561198000000021'
export const STRANGER = '76561198000000666'
const SHOPPERS = ['76561198000000031', '76561198000000032', '76561198000000033'] as const
/** The operator's accounts for which the vault has the secrets. */
export const OURS: ReadonlySet<string> = new Set([...BOTS, SELLER])

const MARKET_CSGO: MarketName = 'market.csgo.com'
const WAXPEER: MarketName = 'waxpeer.com'
/** The vault's own prices of items, in cents. */
const PRICES: Readonly<Record<string, bigint>> = { Cap: 900n, Blade: 12_000n, Boots: 4_300n }
const MOST_ITEMS_A_DEPOSIT = 3
/** A limit in cents that no seed reaches. */
const NO_LIMIT = 1_000_000n

/** A delivered trade of a shopper in the till's books. */
export type Deposit = { steamTradeId: string; from: string; bot: string; things: readonly string[] }

export type SalesWorld = {
  luck: Luck
  steam: ModelSteam
  markets: readonly ModelMarket[]
  deposits: readonly Deposit[]
  accesses: readonly Access[]
  accounts: ReadonlyMap<string, Account>
  rules: Rules
  /** The operator's approvals at the vault, by wish. */
  approvals: Map<string, Approval>
  /** The vault's log. */
  entries: Entry[]
  key: Key
  now(): Date
  priceOf(name: string): bigint
  /** Whether the operator has switched the markets off at the vault. */
  isOff(): boolean
  switchOffMarkets(): void
}

/** `movedShare`: the share of deposits whose items the selling account already has. */
type WorldParts = { luck: Luck; key: Key; nowMs(): number; deposits: number; movedShare: number }

export function createWorld({ luck, key, nowMs, deposits: count, movedShare }: WorldParts): SalesWorld {
  const { random } = luck
  const steam = new ModelSteam(luck, nowMs, OURS)
  const priceOf = (name: string): bigint => PRICES[name] ?? 1_000n
  const context = { luck, steam, nowMs, priceOf, ours: OURS }
  const markets = [
    new ModelMarket(MARKET_CSGO, 'confirm_then_report', context),
    new ModelMarket(WAXPEER, 'report_then_confirm', context),
  ]
  const partner = (steamId: string) => ({ steamId, token: 'AbC12-_x' })
  const hasTightLimit = random.chance(0.25)
  let isOff = false
  const deposits: Deposit[] = []
  for (let made = 0; made < count; made += 1) deposits.push(addDeposit({ steam, luck, priceOf }, movedShare))
  return {
    luck,
    steam,
    markets,
    key,
    priceOf,
    deposits,
    accesses: accessesOf(random.chance(0.5)),
    accounts: new Map([...OURS].map((steamId) => [steamId, accountOf(steamId)])),
    rules: {
      destinations: { seller: partner(SELLER), storage: partner(STORAGE) },
      limits: { centsAnHour: NO_LIMIT, centsADay: NO_LIMIT, itemsAnHour: hasTightLimit ? 5 : 1_000 },
      centsWithoutPrice: 10_000n,
    },
    approvals: new Map(),
    entries: [],
    now: () => new Date(nowMs()),
    isOff: () => isOff,
    switchOffMarkets() {
      isOff = true
    },
  }
}

function accessesOf(sellsItself: boolean): Access[] {
  const common = { key: 'key', mayLose: false }
  const ofSeller = { ...common, steamId: SELLER, sellsItself: false }
  const ofBot = { ...common, steamId: BOTS[1], market: MARKET_CSGO, sellsItself: true }
  return [
    { ...ofSeller, market: MARKET_CSGO },
    { ...ofSeller, market: WAXPEER },
    ...(sellsItself ? [ofBot] : []),
  ]
}

const accountOf = (steamId: string): Account => ({
  steamId,
  sells: steamId === SELLER,
  secrets: { accountName: 'a', refreshToken: 'r', sharedSecret: 's', identitySecret: 'i' },
})

type DepositParts = Pick<SalesWorld, 'steam' | 'luck' | 'priceOf'>

/** Adds a past deposit, in which a shopper gave a bot some items of one game. They may still be protected. */
function addDeposit({ steam, luck, priceOf }: DepositParts, movedShare: number): Deposit {
  const { random } = luck
  const [from, bot] = [random.pick(SHOPPERS), random.pick(BOTS)]
  const appId = random.pick(GAMES)
  const steamTradeId = steam.newId()
  const protectedMs = appId === PROTECTED_APP ? random.int(2 * DAY_MS) : 0
  const owner = random.chance(movedShare) ? SELLER : bot
  const things = Array.from({ length: random.between(1, MOST_ITEMS_A_DEPOSIT) }, () => {
    const name = random.pick(['Cap', 'Blade', 'Boots'])
    const costCents = (priceOf(name) * BigInt(random.between(60, 120))) / 100n
    return steam.bring({ appId, name, costCents, owner, broughtBy: steamTradeId, protectedMs })
  })
  const assetIds = things.map(({ assetId }) => assetId)
  steam.deposits.set(steamTradeId, { from, assetIds })
  return { steamTradeId, from, bot, things: assetIds }
}

/**
 * Lets all but the vault act: buyers, partners of offers, Steam, the markets, and somebody with a session of one of
 * our accounts.
 */
export function letOthersAct({ luck, steam, markets }: SalesWorld): void {
  const { random } = luck
  if (!luck.isCalm) for (const market of markets) if (random.chance(0.15)) market.buy()
  steam.act()
  takeOwnTradesBack({ luck, steam })
  for (const market of markets) market.act()
}

/** Takes back some protected trades between two of our accounts, as somebody with a session of one of them could. */
function takeOwnTradesBack({ luck, steam }: Pick<SalesWorld, 'luck' | 'steam'>): void {
  for (const trade of steam.trades) {
    const isOwn = OURS.has(trade.from) && OURS.has(trade.to) && trade.state === 'complete'
    const isProtected = steam.nowMs() < (trade.settlesAtMs ?? 0)
    if (isOwn && isProtected && luck.hits('gift taken back', 0.003)) steam.takeBack(trade)
  }
}
