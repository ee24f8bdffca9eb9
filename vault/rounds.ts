/** A round of the vault: it gives sold items, lists new ones, and carries out wishes. */
import type { Account } from './files/accounts.ts'
import type { Key } from './files/key.ts'
import type { VaultLog } from './files/log.ts'
import type { Rules } from './files/rules.ts'
import { isOpen } from './giving/book.ts'
import { createGiver, type Giver, type GiverParts, type SteamCalls } from './giving/giver.ts'
import { judgeLimits } from './giving/judge.ts'
import { liveListing, soldSince } from './markets/book.ts'
import { openRecord, type SaleRecord } from './markets/record.ts'
import { createShop, type SellingAccount, type ShopParts } from './markets/shop.ts'

export type RoundsParts = {
  rules: Rules
  accounts: ReadonlyMap<string, Account>
  log: VaultLog
  key: Key
  /** The calls of one account to Steam. */
  steamOf(steamId: string): SteamCalls & SellingAccount
  now(): Date
  say(line: string, about: Record<string, string | number>): void
} & Pick<GiverParts, 'wishes' | 'priceOf' | 'approvalOf' | 'needs'> &
  Pick<ShopParts, 'accesses' | 'clientOf' | 'isOff' | 'till'>

export type Rounds = Pick<Giver, 'round' | 'book'> & { record: SaleRecord; close(): void }

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
    hasRoom: (load) => judgeLimits(rules, giver.spent, { ...load, now: now() }) === undefined,
    arrivals: (steamId, appId) => giver.arrivals(steamId, appId),
    isLeaving: ({ appId, assetId }) =>
      [...giver.book().values()].some(
        (giving) =>
          isOpen(giving) &&
          giving.intended.assets.some((asset) => asset.appId === appId && asset.assetId === assetId),
      ),
  })
  return {
    record,
    book: giver.book,
    async round() {
      // Sales come first, because their buyers wait only minutes. If a sale fails, wishes are carried out nevertheless.
      const failure = await shop.round().then(
        () => undefined,
        (error: unknown) => ({ error }),
      )
      await giver.round()
      if (failure !== undefined) throw failure.error
    },
    close: () => shop.close(),
  }
}
