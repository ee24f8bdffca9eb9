/** All markets of the vault: their desks, one record, and the reports to the till. */

import type { Folder } from '../files/folder.ts'
import { isSwitchedOff, type MarketAccess, type MarketName } from '../files/markets.ts'
import type { Hands } from '../giving/gift.ts'
import type { OwnItem } from '../steam/look.ts'
import type { Session } from '../steam/session.ts'
import type { Connection } from './connection.ts'
import { alarmLine, createDesk, type Desk } from './desk.ts'
import { createFamily } from './family.ts'
import type { Market } from './market.ts'
import type { Time } from './pace.ts'
import { DEFAULT_RULES } from './price-policy.ts'
import type { Pricing } from './pricing.ts'
import type { SaleRecord } from './record.ts'
import { scaleOf } from './scale.ts'
import { createSeller } from './seller.ts'
import type { Till } from './till.ts'
import { createWaxpeer } from './waxpeer.ts'

/** Costs and the vault's own prices are in dollars. */
const CURRENCY = 'USD'

export type SellingAccount = {
  hands: Hands
  freeItems(appId: number): Promise<ReadonlyMap<string, OwnItem> | undefined>
  accessToken: Session['accessToken']
}

export type ShopParts = {
  markets: readonly MarketAccess[]
  folder: Folder
  record: SaleRecord
  till: Till
  accountOf(steamId: string): SellingAccount
  ownAccounts: ReadonlySet<string>
  tradeTokenOf(steamId: string): string | undefined
  priceOf: Pricing['priceOf']
  hasRoom(load: { cents: bigint; items: number }): boolean
  connection: Connection
  time: Time
  now(): Date
  say(line: string, about: Record<string, string | number>): void
}

/** The client of each market. */
const CLIENTS: Readonly<Record<MarketName, (options: Parameters<typeof createFamily>[0]) => Market>> = {
  'market.csgo.com': createFamily,
  'waxpeer.com': createWaxpeer,
}

export type Shop = { round(): Promise<void>; close(): void }

export function createShop(parts: ShopParts): Shop {
  const { record, till } = parts
  const looks: Looks = new Map()
  const accountOf = (steamId: string) => lookingOnce(looks, { steamId, account: parts.accountOf(steamId) })
  const desks = parts.markets.map((access) => deskOf({ ...parts, accountOf }, access))
  let told: number | undefined
  return {
    async round() {
      const failed: unknown[] = []
      looks.clear()
      for (const desk of desks) await desk.round().catch((error: unknown) => failed.push(error))
      // A till that is away gets its reports later: deals that are due now do not wait for it.
      told ??= await till.lastTold()
      const news = record.newsAfter(told)
      await till.tell(news)
      told = news.at(-1)?.n ?? told
      record.forget(told)
      if (failed.length > 0) throw failed[0]
    },
    close() {
      for (const desk of desks) desk.close()
    },
  }
}

/** The looks of one round, by account and game. */
type Looks = Map<string, ReturnType<SellingAccount['freeItems']>>

/** Steam is asked once a round for what two markets could sell from one account: each question to it takes seconds. */
function lookingOnce(
  looks: Looks,
  { steamId, account }: { steamId: string; account: SellingAccount },
): SellingAccount {
  return {
    ...account,
    freeItems(appId) {
      const key = `${steamId}/${appId}`
      const look = looks.get(key) ?? account.freeItems(appId)
      looks.set(key, look)
      return look
    },
  }
}

function deskOf(parts: ShopParts, { market: name, steamId, key, mayLose }: MarketAccess): Desk {
  const { connection, time, now, record, till, say } = parts
  const scale = scaleOf(CURRENCY)
  if (scale === undefined) throw new Error(`the market has no scale for ${CURRENCY}`)
  const account = parts.accountOf(steamId)
  const market = CLIENTS[name]({ key, steamId, scale, connection, time, now })
  const seller = createSeller({
    market,
    hands: account.hands,
    journal: record,
    scale,
    ownAccounts: parts.ownAccounts,
    hasRoom: parts.hasRoom,
    now,
    alarm(alarm) {
      const [line, about] = alarmLine(alarm)
      say(line, { market: name, ...about })
    },
  })
  return createDesk({
    market,
    seller,
    journal: record,
    account,
    tradeToken: parts.tradeTokenOf(steamId),
    pricing: { rules: DEFAULT_RULES, mayLose, priceOf: parts.priceOf, till },
    till,
    isOff: () => isSwitchedOff(parts.folder, name),
    now,
    say,
  })
}
