/** The rounds of the vault: it gives sold items, lists new ones, and carries out wishes. */
import { allOf } from './all-of.ts'
import type { Account } from './files/accounts.ts'
import type { Key } from './files/key.ts'
import type { VaultLog } from './files/log.ts'
import type { Rules } from './files/rules.ts'
import { isOpen } from './giving/book.ts'
import { createGiver, type Giver, type GiverParts, type SteamCalls } from './giving/giver.ts'
import { isWithinLimits, judgeLimits } from './giving/judge.ts'
import { liveListing, soldSince } from './markets/book.ts'
import { openRecord, type SaleRecord } from './markets/record.ts'
import { createShop, type SellingAccount, type ShopParts } from './markets/shop.ts'

export type RoundsParts = {
  rules: Rules
  accounts: ReadonlyMap<string, Account>
  log: VaultLog
  key: Key
  steamOf(steamId: string): SteamCalls & SellingAccount
  now(): Date
  say(line: string, about: Record<string, string | number>): void
} & Pick<GiverParts, 'wishes' | 'priceOf' | 'approvalOf' | 'needs'> &
  Pick<ShopParts, 'accesses' | 'clientOf' | 'isOff' | 'till'>

/** Work that repeats. A line that waits long for an answer does not delay the others. */
export type WorkLine = { name: string; round(): Promise<void> }

export type Rounds = Pick<Giver, 'book'> & {
  /**
   * The lines, which may run at the same time: one for each account at a market (its buyers wait only minutes), one for
   * the reports of sales, and one for everything else. Listing and wishes share a line, because an item leaves by only
   * one of them. Only that line reads inventories and prices, so none is read twice at the same time.
   */
  lines: readonly WorkLine[]
  /** See `roundOf`. */
  round(): Promise<void>
  record: SaleRecord
  close(): void
}

/** Connects sales and wishes: they share limits, and an item leaves by only one of them. */
export function createRounds(parts: RoundsParts): Rounds {
  const { rules, accounts, log, key, steamOf, now } = parts
  const isBot = (steamId: string) => accounts.get(steamId)?.sells === false
  const record = openRecord({ log, key, now, isBot })
  const giver = createGiver({
    ...parts,
    soldSince: (since) => soldSince(record.book(), since),
    isListed: (asset) => liveListing(record.book(), asset) !== undefined,
  })
  const shop = createShop({
    ...parts,
    record,
    accountOf: steamOf,
    ownAccounts: new Set(accounts.keys()),
    tradeTokenOf: (steamId) =>
      Object.values(rules.destinations).find((partner) => partner.steamId === steamId)?.token,
    isWithinLimits: (load) => isWithinLimits(rules, load),
    hasRoom: (load) => judgeLimits(rules, giver.spent, { ...load, now: now() }) === undefined,
    countArrivals: (steamId, appId) => giver.countArrivals(steamId, appId),
    leaving(appId) {
      const openGifts = [...giver.book().values()].filter(isOpen)
      const assets = openGifts.flatMap(({ intended }) => intended.assets)
      return new Set(assets.flatMap((asset) => (asset.appId === appId ? [asset.assetId] : [])))
    },
  })
  const lines: WorkLine[] = [
    ...shop.desks,
    {
      name: 'listings and wishes',
      round: () => allOf([() => shop.round(), () => giver.round(), () => shop.reprice()]),
    },
    { name: 'reports of sales', round: () => shop.report() },
  ]
  return {
    record,
    book: giver.book,
    lines,
    round: () => roundOf(lines),
    close: () => shop.close(),
  }
}

/** A round of each line, one after the other, in a test or a proof. Carries out all of them, even if some fail. */
export const roundOf = (lines: readonly WorkLine[]): Promise<void> => allOf(lines.map(({ round }) => round))
