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
import { readRules } from './files/rules.ts'
import { createGiver, type Giver, type Reach, type Wishes } from './giving/giver.ts'
import type { Caller } from './steam/call.ts'
import { createHands } from './steam/hands.ts'
import { createPrices, readFreeItems, readGiver } from './steam/look.ts'
import { createPace, type Waiting } from './steam/pace.ts'
import { createSession } from './steam/session.ts'

export type VaultParts = {
  folder: string
  wishes: Wishes
  caller: Caller
  waiting: Waiting
  now(): Date
  say(line: string, about: Record<string, string | number>): void
}

export type Vault = Giver & { close(): void }

/** Reads its files once: what is changed in them takes effect with the next start. Throws with a readable reason. */
export function openVault({ folder: path, wishes, caller, waiting, now, say }: VaultParts): Vault {
  const folder = openFolder(path)
  const key = openKey(folder)
  const rules = readRules(folder)
  const accounts = new Map(readAccounts(folder, key).map((account) => [account.steamId, account]))
  const log = openLog(folder, key)
  const nowS = () => Math.floor(now().getTime() / 1_000)
  const reaches = new Map<string, Reach>()

  const reachOf = (steamId: string): Reach => {
    const account = accounts.get(steamId)
    if (account === undefined) throw new Error(`the vault has no account ${steamId}`)
    const session = createSession({ caller, pace: createPace(waiting) }, account)
    return {
      hands: createHands({ session, nowS }),
      freeItems: (appId) => readFreeItems(session, appId),
      giverOf: (steamTradeId, assets) => readGiver(session, steamTradeId, assets),
    }
  }
  const giver = createGiver({
    wishes,
    log,
    key,
    rules,
    accounts,
    reach(steamId) {
      const known = reaches.get(steamId) ?? reachOf(steamId)
      reaches.set(steamId, known)
      return known
    },
    priceOf: createPrices({ caller, pace: createPace(waiting), nowMs: waiting.nowMs }),
    approvalOf: (wishId) => readApproval(folder, key, wishId),
    now,
    say,
  })
  return { ...giver, close: () => log.close() }
}

/** Only one vault may work on a folder: two would not know of each other's gifts. Throws while another does. */
export function holdFolder(path: string): Promise<Server> {
  const name = `tradetill-vault-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
  const address = { linux: `\0${name}`, win32: `\\\\.\\pipe\\${name}` }[process.platform as string]
  const server = createServer((socket) => socket.destroy())
  return new Promise((resolve, reject) => {
    server.once('error', () => reject(new Error(`Another vault works on ${path}. Stop it first.`)))
    server.listen(address ?? join(tmpdir(), `${name}.sock`), () => resolve(server.unref()))
  })
}
