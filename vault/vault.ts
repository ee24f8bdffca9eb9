/** Wires the vault: its files, its sessions, its rounds. */
import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAccounts } from './files/accounts.ts'
import { readApproval } from './files/approvals.ts'
import { openFolder } from './files/folder.ts'
import { openKey } from './files/key.ts'
import { openLog } from './files/log.ts'
import { readMarkets } from './files/markets.ts'
import { readRules } from './files/rules.ts'
import { createGiver, type Giver, type Reach, type Wishes } from './giving/giver.ts'
import { judgeLimits } from './giving/judge.ts'
import { soldSince } from './markets/book.ts'
import type { Connection } from './markets/connection.ts'
import { openRecord } from './markets/record.ts'
import { createShop, type SellingAccount } from './markets/shop.ts'
import type { Till } from './markets/till.ts'
import { acceptGift } from './steam/accept.ts'
import type { Caller } from './steam/call.ts'
import { createHands } from './steam/hands.ts'
import { createPrices, readFreeItems, readGiver } from './steam/look.ts'
import { createPace, type Waiting } from './steam/pace.ts'
import { createSession, type Session } from './steam/session.ts'

export type VaultParts = {
  folder: string
  wishes: Wishes
  till: Till
  caller: Caller
  /** The connection to the markets. */
  connection: Connection
  waiting: Waiting
  now(): Date
  /** The machine's clock, which phones use: the clock of a sandbox's till may be ahead of it. */
  machineMs(): number
  say(line: string, about: Record<string, string | number>): void
}

export type Vault = Pick<Giver, 'round' | 'book'> & { close(): void }

/** Reads its files once: changes take effect at the next start. Throws with a readable reason. */
export function openVault({ folder: path, ...parts }: VaultParts): Vault {
  const { wishes, till, caller, connection, waiting, now, say } = parts
  const folder = openFolder(path)
  const key = openKey(folder)
  const rules = readRules(folder)
  const accounts = new Map(readAccounts(folder, key).map((account) => [account.steamId, account]))
  const log = openLog(folder, key)
  const nowS = () => Math.floor(parts.machineMs() / 1_000)
  const reaches = new Map<string, Reach & SellingAccount>()

  const sessionOf = (steamId: string): Session => {
    const account = accounts.get(steamId)
    if (account === undefined) throw new Error(`the vault has no account ${steamId}`)
    return createSession({ caller, pace: createPace(waiting) }, account)
  }
  const reachOf = (steamId: string): Reach & SellingAccount => {
    const session = sessionOf(steamId)
    return {
      hands: createHands({ session, nowS }),
      freeItems: (appId) => readFreeItems(session, appId),
      giverOf: (steamTradeId, assets) => readGiver(session, steamTradeId, assets),
      accept: (offer) => acceptGift(session, offer),
      accessToken: (options) => session.accessToken(options),
    }
  }
  const reach = (steamId: string): Reach & SellingAccount => {
    const known = reaches.get(steamId) ?? reachOf(steamId)
    reaches.set(steamId, known)
    return known
  }
  const record = openRecord(log, key, now)
  const priceOf = createPrices({ caller, pace: createPace(waiting), nowMs: waiting.nowMs })
  const giver = createGiver({
    ...{ wishes, log, key, rules, accounts, reach, priceOf, now, say },
    approvalOf: (wishId) => readApproval(folder, key, wishId),
    soldSince: (since) => soldSince(record.book(), since),
  })
  const shop = createShop({
    ...{ folder, record, till, priceOf, connection, now, say },
    markets: readMarkets(folder, key),
    accountOf: reach,
    ownAccounts: new Set(accounts.keys()),
    tradeTokenOf: (steamId) =>
      Object.values(rules.destinations).find((partner) => partner.steamId === steamId)?.token,
    hasRoom: (load) => judgeLimits(rules, giver.spent, { ...load, now: now() }) === undefined,
    time: { now: waiting.nowMs, pause: waiting.pause },
  })
  return {
    book: giver.book,
    async round() {
      // Buyers wait minutes, wishes may wait forever.
      const sold = await shop.round().then(
        () => undefined,
        (error: unknown) => ({ error }),
      )
      await giver.round()
      if (sold !== undefined) throw sold.error
    },
    close() {
      shop.close()
      log.close()
    },
  }
}

/** Only one vault may work on a folder: two would not know of each other's gifts. Throws while another one runs. */
export function holdFolder(path: string): Promise<Server> {
  const name = `tradetill-vault-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
  const address = { linux: `\0${name}`, win32: `\\\\.\\pipe\\${name}` }[process.platform as string]
  const server = createServer((socket) => socket.destroy())
  return new Promise((resolve, reject) => {
    server.once('error', () => reject(new Error(`Another vault works on ${path}. Stop it first.`)))
    server.listen(address ?? join(tmpdir(), `${name}.sock`), () => resolve(server.unref()))
  })
}
