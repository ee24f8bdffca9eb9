/** The till of `proofs/kill/till.ts`, two markets and the files of a vault. They outlive the killed processes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Running, run } from '../../../e2e/support/process.ts'
import { withMigrationLock } from '../../../gateway/db/migrate.ts'
import { grantVault } from '../../../gateway/db/roles.ts'
import { type RunningMarket, startMarket } from '../../../market-sandbox/start.ts'
import { credentialsOf } from '../../../steam-sandbox/credentials.ts'
import { tradeLink } from '../../../steam-sandbox/sandbox.ts'
import type { RunningSteam } from '../../../steam-sandbox/start.ts'
import { refreshTokenOf } from '../../../steam-sandbox/tokens.ts'
import { findOrAddSeller } from '../../../steam-sandbox/world/guests.ts'
import { type Account, findAccount } from '../../../steam-sandbox/world/world.ts'
import { saveAccount } from '../../../vault/files/accounts.ts'
import { openFolder } from '../../../vault/files/folder.ts'
import { openKey } from '../../../vault/files/key.ts'
import { saveMarket } from '../../../vault/files/markets.ts'
import { changeRules } from '../../../vault/files/rules.ts'
import { BOTS, openProcessTill, type ProcessTill } from '../../kill/till.ts'

export type SellingTill = ProcessTill & {
  market: RunningMarket
  /** The Steam id of the account that sells. */
  seller: string
  /** The vault's folder. */
  folder: string
  startVault(): Running
}

/** The vault's limits, so high that a proof never reaches them. */
const LIMITS = { usdAnHour: '100000.00', usdADay: '100000.00', itemsAnHour: 10_000 }
const MARKET_POLL_MS = 200

/** Adds or removes the rule that sends every unprotected item to the account that sells. */
export const setSendRule = ({ pool }: ProcessTill, isOn: boolean) =>
  pool.query(
    isOn
      ? `insert into send_rule (destination, keep) values ('seller', 0) on conflict do nothing`
      : 'delete from send_rule',
  )

export async function openSellingTill(serverUrl: string, seed: string): Promise<SellingTill> {
  const till = await openProcessTill(serverUrl, seed)
  const { pool, steam } = till
  const market = await startMarket({ port: 0, steamUrl: steam.url, everyMs: MARKET_POLL_MS })
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-selling-'))
  const seller = writeVaultFiles(steam, market, folder)
  const databaseUrl = new URL(String(pool.options.connectionString))
  const role = `vault_${databaseUrl.pathname.slice(1)}`
  await pool.query(`create role ${role} login password 'secret'`)
  await withMigrationLock(databaseUrl.href, {}, (client) => grantVault(client, role))
  await setSendRule(till, true)
  Object.assign(databaseUrl, { username: role, password: 'secret' })
  const env = {
    TRADETILL_VAULT: folder,
    TRADETILL_VAULT_DATABASE_URL: databaseUrl.href,
    TRADETILL_STEAM_SANDBOX_URL: steam.url,
    TRADETILL_MARKET_SANDBOX_URL: market.url,
    // Shortens the vault's waits.
    NODE_OPTIONS: `--import=file://${import.meta.dirname}/quicker.mjs`,
  }
  return {
    ...till,
    market,
    seller,
    folder,
    startVault: () => run('vault/main.ts', env, { args: ['run'], isTied: true }),
    async close() {
      await market.close()
      await pool.query(`drop owned by ${role}`)
      await pool.query(`drop role ${role}`)
      await till.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Writes the vault's files, as its commands do. Returns the Steam id of the account that sells. */
function writeVaultFiles(steam: RunningSteam, market: RunningMarket, path: string): string {
  const seller = steam.change(findOrAddSeller)
  if (seller === undefined) throw new Error('the sandbox has no account that sells')
  const { steamId } = seller
  const folder = openFolder(path)
  const key = openKey(folder)
  const enrol = (account: Account, sells: boolean): void => {
    const { accountName, sharedSecret, identitySecret } = credentialsOf(account)
    const refreshToken = refreshTokenOf(account, Math.floor(Date.now() / 1_000), 'mobile')
    const secrets = { accountName, sharedSecret, identitySecret, refreshToken }
    saveAccount(folder, key, { steamId: account.steamId, sells, secrets })
  }
  for (const name of BOTS) {
    const bot = findAccount(steam.world(), steam.as(name).steamId)
    if (bot !== undefined) enrol(bot, false)
  }
  enrol(seller, true)
  changeRules(folder, () => ({
    destinations: { seller: { steamId, tradeLink: tradeLink(seller) } },
    limits: LIMITS,
    usdWithoutPrice: '100.00',
  }))
  const access = { steamId, mayLose: false, sellsItself: false }
  saveMarket(folder, key, { ...access, market: 'market.csgo.com', key: market.open(steamId) })
  saveMarket(folder, key, { ...access, market: 'waxpeer.com', key: market.waxpeer.open(steamId) })
  return steamId
}

/** Advances the time of Steam, the markets and the till together. */
export async function passSeconds({ steam, pool, market }: SellingTill, seconds: number): Promise<void> {
  steam.advance(seconds)
  await pool.query(
    `insert into till_clock (ahead_s) values ($1)
     on conflict (only_row) do update set ahead_s = greatest(till_clock.ahead_s, excluded.ahead_s)`,
    [steam.world().aheadS],
  )
  await market.look()
}
