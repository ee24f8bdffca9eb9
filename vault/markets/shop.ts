/** All accounts of the vault at markets: their desks, one record, and the reports to the till. */
import type { MarketAccess } from '../files/markets.ts'
import type { GiftOffers } from '../giving/gift.ts'
import type { Load } from '../giving/judge.ts'
import type { Needs } from '../needs.ts'
import type { OwnItem } from '../steam/look.ts'
import type { Session } from '../steam/session.ts'
import { alarmAbout, alarmLine } from './alarm.ts'
import { isLive, isOfAccount, isTied, lowestOnSale, type MarketAccount } from './book.ts'
import { createDesk, type Desk } from './desk.ts'
import { createLowestPrices, createPriceLists, type PriceLists } from './lowest.ts'
import type { Market } from './market.ts'
import { createOthers, type Others } from './others.ts'
import { placeBids } from './placement.ts'
import { DEFAULT_RULES } from './price-policy.ts'
import type { Pricing } from './pricing.ts'
import type { SaleRecord } from './record.ts'
import { createBalanceReporter, createReporter, type ReportBalance } from './reporter.ts'
import { type Scale, scaleOf } from './scale.ts'
import { createSeller } from './seller.ts'
import type { Till } from './till.ts'
import { createTurns, type Turns } from './turns.ts'
import { createUnlistedReport, type Stock } from './unlisted.ts'

/** The currency of costs and of the prices that the vault fetches. */
const CURRENCY = 'USD'
/**
 * The most items to list in a round. The vault reads one price from Steam every few seconds, and wishes wait meanwhile.
 */
const MOST_LISTED = 20

export type SellingAccount = {
  giftOffers: GiftOffers
  freeItems(appId: number): Promise<ReadonlyMap<string, OwnItem> | undefined>
  accessToken: Session['accessToken']
}

/** An account at a market. `key`: the account's key there. */
export type Access = Omit<MarketAccess, 'isOff'>

export type ShopParts = {
  /** Accounts in the order in which they were set up. */
  accesses: readonly Access[]
  clientOf(access: Access, scale: Scale): Market
  /** True if the operator has switched the account off at this market, in the vault. */
  isOff(access: Access): boolean
  record: SaleRecord
  till: Till
  accountOf(steamId: string): SellingAccount
  ownAccounts: ReadonlySet<string>
  tradeTokenOf(steamId: string): string | undefined
  priceOf: Pricing['priceOf']
  hasRoom(load: Load): boolean
  /** False if the limits never have room for this at once. */
  isWithinLimits(load: Load): boolean
  /** How many items of a game arrived at the account through wishes since the process began. */
  countArrivals(steamId: string, appId: number): number
  /** Asset ids of a game's items that wishes are moving out. Reads the record of all wishes, which grows for years. */
  leaving(appId: number): ReadonlySet<string>
  now(): Date
  say(line: string, about: Record<string, string | number>): void
  needs: Pick<Needs, 'note' | 'end'>
}

export type Shop = {
  /** The accounts at markets. A round does everything except listing and repricing. Several may run at the same time. */
  desks: readonly { name: string; round(): Promise<void> }[]
  /** Lists items. */
  round(): Promise<void>
  /** Changes the prices of a few listings of one account at a market. */
  reprice(): Promise<void>
  /** Sends the new reports of sales to the till, and why items are not on sale. */
  report(): Promise<void>
  close(): void
}

type Context = Omit<ShopParts, 'accountOf'> & {
  /** Sends the new reports to the till. Never rejects. */
  announce(): Promise<void>
  reportBalance: ReportBalance<Access>
  /** The value of `countArrivals` when it was last read, by account and game. */
  lastArrivals: Map<string, number>
  /** When items were last offered to the markets, by account and game. */
  lastTurnMs: Map<string, number>
  turns: Turns
  /** The prices of others, which all accounts at a market read and remember together. */
  priceLists: PriceLists
  others: Others
  readings: Readings
  accountOf(steamId: string): ReturnType<typeof shareReadings>
}

export function createShop(parts: ShopParts): Shop {
  const readings: Readings = new Map()
  const accountOf = (steamId: string) =>
    shareReadings({ readings, now: parts.now }, { steamId, account: parts.accountOf(steamId) })
  const report = createReporter(parts)
  // A failure of the till must not stop due deals. The till receives the reports later.
  const announce = () => report().catch(() => {})
  const reportBalance = createBalanceReporter(parts)
  const context: Context = {
    ...parts,
    accountOf,
    announce,
    reportBalance,
    lastArrivals: new Map(),
    lastTurnMs: new Map(),
    turns: createTurns(),
    priceLists: createPriceLists(parts.now),
    others: createOthers(),
    readings,
  }
  const desks = parts.accesses.map((access) => openDesk(context, access))
  const reportUnlisted = createUnlistedReport({
    ...parts,
    read: () => desks.flatMap((desk) => desk.unlisted()),
    report: (...rows) => parts.till.reportUnlisted(...rows),
  })
  return {
    desks: desks.map(({ tend, marketAccount: { market, account } }) => ({
      name: `${market} account ${account}`,
      round: tend,
    })),
    round: () => listItems(context, desks),
    reprice: createRepricing(desks),
    async report() {
      await report()
      await reportUnlisted()
    },
    close() {
      for (const desk of desks) desk.close()
    },
  }
}

/**
 * Lists items of one account and game, each on the market with the highest proceeds. Other accounts and games have
 * their turns in later rounds, even if this one is due again by then.
 */
async function listItems(parts: Context, desks: readonly Desk[]): Promise<void> {
  const desksByAccount = Map.groupBy(
    desks.filter((desk) => desk.isOpen()),
    ({ marketAccount }) => marketAccount.account,
  )
  const stocks = [...desksByAccount].flatMap(([steamId, accountDesks]) =>
    [...new Set(accountDesks.flatMap(({ games }) => games))].map((appId) => {
      const gameDesks = accountDesks.filter(({ games }) => games.includes(appId))
      return { steamId, appId, gameDesks, key: `${steamId}/${appId}` }
    }),
  )
  const lastOf = ({ key }: { key: string }): number => parts.lastTurnMs.get(key) ?? 0
  for (const { steamId, appId, gameDesks, key } of stocks.sort((one, other) => lastOf(one) - lastOf(other))) {
    if (hasNewItems(parts, { steamId, appId })) for (const desk of gameDesks) await desk.listSoon(appId)
    const dueDesks = gameDesks.filter((desk) => desk.isDue(appId))
    const stock = dueDesks.length === 0 ? undefined : await stockOf(parts, { steamId, appId })
    if (stock === undefined) continue
    for (const desk of gameDesks) desk.noteStock(appId, stock)
    const { listable } = stock
    if (listable.length === 0) continue
    parts.lastTurnMs.set(key, parts.now().getTime())
    const queues = dueDesks.map(({ marketAccount }) => `${marketAccount.market}/${key}`)
    const items = parts.turns.take(queues, listable, MOST_LISTED)
    const bids = []
    for (const desk of gameDesks) bids.push(await desk.bidsFor(appId, items))
    for (const [index, lines] of placeBids(bids).entries()) {
      const desk = gameDesks[index]
      if (desk !== undefined && dueDesks.includes(desk) && lines.length > 0) await desk.list(appId, lines)
    }
    return
  }
}

/** Returns a function that reprices the next desk that has listings to reprice. The others have their turns later. */
function createRepricing(desks: readonly Desk[]): () => Promise<void> {
  let turn = 0
  return async () => {
    for (let tries = 0; tries < desks.length; tries += 1) {
      const desk = desks[turn % desks.length]
      turn += 1
      if (await desk?.reprice()) return
    }
  }
}

/** True if wishes have brought items to the account since the last call. */
function hasNewItems(
  { countArrivals, lastArrivals }: Context,
  { steamId, appId }: { steamId: string; appId: number },
): boolean {
  const key = `${steamId}/${appId}`
  const count = countArrivals(steamId, appId)
  const countBefore = lastArrivals.get(key) ?? 0
  lastArrivals.set(key, count)
  return count > countBefore
}

/**
 * `listable`: the items of the account that are tradable, neither on sale nor sold, and not leaving. Undefined if Steam
 * does not answer.
 */
async function stockOf(
  { accountOf, record, ...parts }: Context,
  { steamId, appId }: { steamId: string; appId: number },
): Promise<Stock | undefined> {
  const inventory = await accountOf(steamId).freeItems(appId)
  if (inventory === undefined) return undefined
  const tied = new Set(
    record.book().listings.flatMap((each) => (each.appId === appId && isTied(each) ? [each.assetId] : [])),
  )
  const leaving = parts.leaving(appId)
  const items = [...inventory.values()]
  const listable = items.filter(
    ({ assetId, isTradable }) => isTradable && !tied.has(assetId) && !leaving.has(assetId),
  )
  return { listable, notTradable: items.filter(({ isTradable }) => !isTradable) }
}

/** The last complete reading of each inventory, by account and game. */
type Readings = Map<string, { appId: number; items: ReadonlyMap<string, OwnItem>; readAtMs: number }>

/** Up to this age, a reading is good enough for the names of the items on sale. */
const RECENT_MS = 5 * 60_000

/** All markets share the readings, because each request to Steam takes seconds. */
function shareReadings(
  { readings, now }: { readings: Readings; now(): Date },
  { steamId, account }: { steamId: string; account: SellingAccount },
) {
  const read = async (appId: number) => {
    const items = await account.freeItems(appId)
    if (items !== undefined) readings.set(`${steamId}/${appId}`, { appId, items, readAtMs: now().getTime() })
    return items
  }
  return {
    ...account,
    // Always a reading that begins now: an earlier one may show an item that a wish has given away since.
    freeItems: read,
    async recentItems(appId: number): ReturnType<SellingAccount['freeItems']> {
      const last = readings.get(`${steamId}/${appId}`)
      const ageMs = now().getTime() - (last?.readAtMs ?? 0)
      return last !== undefined && ageMs >= 0 && ageMs < RECENT_MS ? last.items : read(appId)
    },
  }
}

/** The vault's own lowest prices on a market, by name. First reads inventories that were never read, for the names. */
async function ownPrices(
  { accesses, accountOf, readings, record }: Context,
  { market, appId }: { market: string; appId: number },
): Promise<Map<string, bigint>> {
  for (const access of accesses.filter((each) => each.market === market)) {
    const isOurs = isOfAccount(marketAccountOf(accesses, access))
    const sells = record.book().listings.some((each) => isOurs(each) && each.appId === appId && isLive(each))
    const isRead = readings.has(`${access.steamId}/${appId}`)
    if (sells && !isRead) await accountOf(access.steamId).recentItems(appId)
  }
  const ofGame = [...readings.values()].filter((each) => each.appId === appId)
  const nameOf = (assetId: string) =>
    ofGame.find(({ items }) => items.has(assetId))?.items.get(assetId)?.marketHashName
  return lowestOnSale(record.book(), { market, appId, nameOf })
}

function marketAccountOf(accesses: readonly Access[], access: Access): MarketAccount {
  const { market, steamId: account } = access
  return { market, account, isFirst: accesses.find((each) => each.market === market) === access }
}

function openDesk(parts: Context, access: Access): Desk {
  const { now, record, till, say, needs } = parts
  const { market: name, steamId, mayLose, sellsItself } = access
  const scale = scaleOf(CURRENCY)
  if (scale === undefined) throw new Error(`no scale is known for ${CURRENCY}`)
  const account = parts.accountOf(steamId)
  const market = parts.clientOf(access, scale)
  const marketAccount = marketAccountOf(parts.accesses, access)
  const seller = createSeller({
    market,
    marketAccount,
    giftOffers: account.giftOffers,
    journal: record,
    scale,
    now,
    ownAccounts: parts.ownAccounts,
    hasRoom: parts.hasRoom,
    announce: parts.announce,
    alarm(alarm) {
      const [line, about] = alarmLine(alarm)
      say(line, { market: name, ...about })
      const problem = 'problem' in alarm ? `: ${alarm.problem}` : ''
      needs.note(alarm.kind, `${name}${alarmAbout(alarm)}`, `${line}${problem}`)
    },
  })
  return createDesk({
    market,
    marketAccount,
    seller,
    journal: record,
    account,
    till,
    now,
    say,
    needs,
    tradeToken: parts.tradeTokenOf(steamId),
    pricing: {
      rules: DEFAULT_RULES,
      mayLose,
      // A collecting bot also has items that the till did not credit.
      needsCost: sellsItself,
      priceOf: parts.priceOf,
      mayLeave: (cents) => parts.isWithinLimits({ cents, items: 1 }),
      till,
      lowest: createLowestPrices({
        market,
        lists: parts.priceLists,
        others: parts.others,
        ownPrices: (appId) => ownPrices(parts, { market: name, appId }),
        now,
      }),
    },
    reportBalance: (money) => parts.reportBalance(access, money),
    isOff: () => parts.isOff(access),
  })
}
