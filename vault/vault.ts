/** Wires the vault: its files, its sessions and its rounds. */
import { createHash } from 'node:crypto'
import { mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MarketName } from '../contract/markets.ts'
import { allOf } from './all-of.ts'
import { type Account, readAccounts } from './files/accounts.ts'
import { readApproval } from './files/approvals.ts'
import { openFolder } from './files/folder.ts'
import { openKey } from './files/key.ts'
import { openLog } from './files/log.ts'
import { isSwitchedOff, type MarketAccess, readMarkets } from './files/markets.ts'
import { readRules } from './files/rules.ts'
import type { SteamCalls } from './giving/giver.ts'
import type { Wishes } from './giving/till-line.ts'
import type { Connection } from './markets/clients/connection.ts'
import { createFamily } from './markets/clients/family.ts'
import { createWaxpeer } from './markets/clients/waxpeer.ts'
import type { Market } from './markets/market.ts'
import type { SellingAccount } from './markets/shop.ts'
import type { Till } from './markets/till.ts'
import { createNeeds, createNeedsReport, type Needs, type NeedsStore, problemOf } from './needs.ts'
import { createRounds, type Rounds, roundOf, type WorkLine } from './rounds.ts'
import { createAcceptance } from './steam/accept.ts'
import { createAcknowledgement } from './steam/acknowledge.ts'
import type { Caller } from './steam/call.ts'
import { createGiftOffers } from './steam/gift-offers.ts'
import { createPrices, readFreeItems, readGiver } from './steam/look.ts'
import { createPace, type Timer } from './steam/pace.ts'
import { createRefusedLogins, type RefusedLogins } from './steam/refused-logins.ts'
import { createSession, type Session } from './steam/session.ts'
import { watchTokenEnds } from './steam/token-ends.ts'

export type VaultParts = {
  folder: string
  wishes: Wishes
  till: Till
  needsStore: NeedsStore
  caller: Caller
  connection: Connection
  timer: Timer
  now(): Date
  /** The machine's clock, which dates the signatures of confirmations. A sandbox's till may be ahead of it. */
  machineMs(): number
  say(line: string, about: Record<string, string | number>): void
}

export type Vault = Pick<Rounds, 'lines' | 'round' | 'book'> & { close(): void }

/**
 * Reads rules, accounts and markets once: changes to them take effect at the next start. Approvals and the switches of
 * markets take effect in the next round. Throws with a readable reason.
 */
export function openVault({ folder: path, ...parts }: VaultParts): Vault {
  const { wishes, till, caller, connection, timer, now, say } = parts
  const needs = createNeeds(now)
  const reportNeeds = createNeedsReport({ needs, store: parts.needsStore, now, say })
  const folder = openFolder(path)
  const key = openKey(folder)
  const rules = readRules(folder)
  const accounts = new Map(readAccounts(folder, key).map((account) => [account.steamId, account]))
  const log = openLog(folder, key)
  const nowS = () => Math.floor(parts.machineMs() / 1_000)
  const openAccounts = new Map<string, SteamCalls & SellingAccount>()

  const sessionOf = (steamId: string, logins: RefusedLogins): Session => {
    const account = accounts.get(steamId)
    if (account === undefined) throw new Error(`the vault has no account ${steamId}`)
    return createSession({ caller, pace: createPace(timer), onLogin: logins.note }, account)
  }
  const openAccount = (steamId: string): SteamCalls & SellingAccount => {
    const logins = createRefusedLogins({ steamId, now, needs })
    const session = sessionOf(steamId, logins)
    const acknowledge = createAcknowledgement({ session, nowS, say, needs })
    return {
      giftOffers: createGiftOffers({ session, nowS, say, needs, acknowledge }),
      isLoginRefused: logins.isRefused,
      freeItems: (appId) => readFreeItems(session, appId),
      giverOf: (steamTradeId, assets) => readGiver(session, steamTradeId, assets),
      accept: createAcceptance({ session, nowS, say, acknowledge }),
      accessToken: (options) => session.accessToken(options),
    }
  }
  const steamOf = (steamId: string): SteamCalls & SellingAccount => {
    const account = openAccounts.get(steamId) ?? openAccount(steamId)
    openAccounts.set(steamId, account)
    return account
  }
  const priceOf = createPrices({ caller, pace: createPace(timer), nowMs: timer.nowMs })
  const time = { now: timer.nowMs, pause: timer.pause }
  const accesses = readMarkets(folder, key)
  for (const access of accesses) checkAccess(access, accounts, say)
  const rounds = createRounds({
    rules,
    accounts,
    log,
    key,
    steamOf,
    wishes,
    till,
    priceOf,
    accesses,
    now,
    say,
    needs,
    approvalOf: (wishId) => readApproval(folder, key, wishId),
    clientOf: (access, scale) => CLIENTS[access.market]({ ...access, scale, connection, time, now }),
    isOff: (access) => isSwitchedOff(folder, access),
  })
  const noteTokenEnds = watchTokenEnds({ accounts, now, needs })
  const round = () => allOf([noteTokenEnds, reportNeeds])
  const reports = { name: 'reports of what needs a person', round }
  const lines = [...rounds.lines.map((line) => watchLine(line, needs)), reports]
  return {
    book: rounds.book,
    lines,
    round: () => roundOf(lines),
    close() {
      rounds.close()
      log.close()
    },
  }
}

/** While the rounds of the line fail, notes that a person must look. */
function watchLine({ name, round }: WorkLine, needs: Needs): WorkLine {
  return {
    name,
    async round() {
      try {
        await round()
        needs.end('rounds_failing', name)
      } catch (error) {
        needs.note('rounds_failing', name, `a round of the vault failed: ${problemOf(error)}`)
        throw error
      }
    },
  }
}

const CLIENTS: Readonly<Record<MarketName, (options: Parameters<typeof createFamily>[0]) => Market>> = {
  'market.csgo.com': createFamily,
  'waxpeer.com': createWaxpeer,
}

/**
 * Accepts every selling account. Warns if a collecting bot sells (`sellsItself`), and throws if a collecting bot would
 * sell without the operator's consent, for example after a change in the files.
 */
function checkAccess(
  { market, steamId, sellsItself }: MarketAccess,
  accounts: ReadonlyMap<string, Account>,
  say: VaultParts['say'],
): void {
  if (accounts.get(steamId)?.sells === true) return
  if (!sellsItself)
    throw new Error(
      `${steamId} is not enrolled as an account that only sells (enrol --sells), and nobody has allowed it to sell on ${market} (market ${market} --sells-itself).`,
    )
  say('a bot that collects deposits sells its own items: the market has a session token of the bot', {
    market,
    bot: steamId,
  })
}

/** Locks the folder, because two vaults on it would not know of each other's gifts. Rejects if it is locked already. */
export function holdFolder(path: string): Promise<Server> {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const name = `tradetill-vault-${createHash('sha256').update(realpathSync(path)).digest('hex').slice(0, 32)}`
  // On Linux and Windows, this address is gone once the process ends. On other systems, it is a file, which outlives a
  // kill.
  const addresses: Record<string, string> = { linux: `\0${name}`, win32: `\\\\.\\pipe\\${name}` }
  const address = addresses[process.platform]
  if (address !== undefined) return listenAt(address, path)
  const file = join(tmpdir(), `${name}.sock`)
  return listenAt(file, path).catch(async () => {
    await removeUnused(file)
    return listenAt(file, path)
  })
}

function listenAt(address: string, path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  return new Promise((settle, reject) => {
    server.once('error', () => reject(new Error(`Another vault is using ${path}. Stop it first.`)))
    server.listen(address, () => settle(server.unref()))
  })
}

/** Removes the file of a socket if no process listens on it. */
async function removeUnused(file: string): Promise<void> {
  const before = statSync(file, { bigint: true, throwIfNoEntry: false })
  const code = await new Promise<string | undefined>((settle) => {
    const socket = connect(file, () => {
      socket.destroy()
      settle(undefined)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code))
  })
  const now = statSync(file, { bigint: true, throwIfNoEntry: false })
  // Meanwhile another vault may have replaced the file with its own.
  const isSame = before?.ino === now?.ino && before?.ctimeNs === now?.ctimeNs
  if (code === 'ECONNREFUSED' && isSame) rmSync(file, { force: true })
}
