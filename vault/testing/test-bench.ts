/** A test bench: a vault with both sandboxes and a real database. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MarketName } from '../../contract/markets.ts'
import { withMigrationLock } from '../../gateway/db/migrate.ts'
import { grantApp, grantVault } from '../../gateway/db/roles.ts'
import { type TestDatabase, testDatabase } from '../../gateway/testing/database.ts'
import { testPool } from '../../gateway/testing/pool.ts'
import { startMarket } from '../../market-sandbox/start.ts'
import { credentialsOf } from '../../steam-sandbox/credentials.ts'
import { CATALOGUE } from '../../steam-sandbox/items.ts'
import { tradeLink } from '../../steam-sandbox/sandbox.ts'
import { startSteam } from '../../steam-sandbox/start.ts'
import { refreshTokenOf } from '../../steam-sandbox/tokens.ts'
import { findOrAddSeller } from '../../steam-sandbox/world/guests.ts'
import { type Asset, findAccount, STATE, withAccount } from '../../steam-sandbox/world/world.ts'
import { DAY_MS, MINUTE_MS } from '../durations.ts'
import { saveAccount } from '../files/accounts.ts'
import { openFolder } from '../files/folder.ts'
import { openKey } from '../files/key.ts'
import { saveMarket, switchMarket } from '../files/markets.ts'
import { changeRules, type WrittenRules } from '../files/rules.ts'
import type { Wishes } from '../giving/till-line.ts'
import { sandboxConnection } from '../markets/clients/connection.ts'
import { tillIn } from '../markets/till-store.ts'
import { needsIn } from '../needs-store.ts'
import { createCaller } from '../steam/call.ts'
import { openDatabase } from '../till-database.ts'
import { openVault, type Vault } from '../vault.ts'
import { wishesIn } from '../wishes/store.ts'

export const BOT = 'Tradetill Bot #1'
export const STORAGE = 'quiet_lynx'
export const THIEF = 'nova_hound'

const LIMITS = { usdAnHour: '100000.00', usdADay: '100000.00', itemsAnHour: 1_000 }
const CSGO_MARKET: MarketName = 'market.csgo.com'

type BenchDatabase = Pick<TestDatabase, 'url' | 'pool' | 'close'>

export type TestBench = Awaited<ReturnType<typeof openTestBench>>

/**
 * `database`: the database of a running till; by default a new, empty one. `marketDeadlineMs`: how long the vault waits
 * for an answer of a market.
 */
export async function openTestBench(options: { database?: BenchDatabase; marketDeadlineMs?: number } = {}) {
  let nowMs = Date.now()
  const steam = await startSteam({ port: 0, seed: 'vault', quotas: false, clock: () => nowMs })
  const database = options.database ?? (await testDatabase())
  const name = randomBytes(4).toString('hex')
  const [appRole, vaultRole] = [`till_${name}`, `vault_${name}`]
  for (const role of [appRole, vaultRole]) {
    await database.pool.query(`create role ${role} login password 'secret'`)
  }
  const urlOf = (role: string): string => {
    const url = new URL(database.url)
    url.username = role
    url.password = 'secret'
    return url.href
  }
  await withMigrationLock(database.url, {}, async (client) => {
    await grantApp(client, urlOf(appRole))
    await grantVault(client, vaultRole)
  })
  /** Queries with the gateway's role: as the gateway, or as an attacker who controls it. */
  const asGateway = testPool(urlOf(appRole), 2)
  const asVault = testPool(urlOf(vaultRole))
  const ownDatabase = openDatabase(urlOf(vaultRole))
  const realWishes = wishesIn(ownDatabase.query, () => new Date(nowMs))
  /** Which of the vault's calls about wishes fail. */
  let tillFails: 'none' | 'reports' | 'all' = 'none'
  const failCall = () => Promise.reject(new Error('the till is down'))
  const wishes: Wishes = {
    open: () => (tillFails === 'all' ? failCall() : realWishes.open()),
    report: (id, report) => (tillFails === 'none' ? realWishes.report(id, report) : failCall()),
  }
  const till = tillIn(ownDatabase.query)
  const needsStore = needsIn(ownDatabase.query)
  /** The calls to a market that a fault delays. The test decides for how long. */
  const held: (() => void)[] = []
  const hold = () => new Promise<void>((resolve) => held.push(resolve))
  const market = await startMarket({
    port: 0,
    steamUrl: steam.url,
    clock: () => nowMs,
    everyMs: 0,
    pause: hold,
  })
  const path = mkdtempSync(join(tmpdir(), 'vault-'))
  const logged: string[] = []
  const caller = createCaller(steam.url)
  const calls: string[] = []
  /** How long each price of Steam's market takes. */
  let priceMs = 0
  let vault: Vault | undefined

  const open = (): Vault =>
    openVault({
      folder: path,
      wishes,
      till,
      needsStore,
      caller: {
        ...caller,
        call(request) {
          calls.push(request.url.pathname)
          if (request.url.pathname.startsWith('/market/priceoverview')) nowMs += priceMs
          return caller.call(request)
        },
      },
      connection: sandboxConnection('sandbox', market.url, options.marketDeadlineMs),
      // A pause only advances the clock.
      timer: {
        nowMs: () => nowMs,
        async pause(ms) {
          nowMs += ms
        },
      },
      now: () => new Date(nowMs),
      machineMs: () => nowMs,
      say: (line, about) => logged.push(`${line} ${JSON.stringify(about)}`),
    })

  const accountOf = (who: string) => {
    const account = findAccount(steam.world(), steam.as(who).steamId)
    if (account === undefined) throw new Error(`there is no ${who}`)
    return account
  }

  return {
    steam,
    market,
    database,
    path,
    logged,
    /** The paths of the vault's requests to Steam, without its logins. */
    calls,
    asGateway,
    asVault,
    open,
    accountOf,
    folder: () => openFolder(path),
    now: () => new Date(nowMs),
    /** Starts the vault, unless it runs already. */
    vault: (): Vault => {
      vault ??= open()
      return vault
    },
    /** Ends the vault. The next use starts it again, with only its files, as after a crash. */
    restart(): void {
      vault?.close()
      vault = undefined
    },
    /** How many calls to a market wait for their answer because of a fault. */
    countHeld: () => held.length,
    /** Lets the market answer the held calls. */
    release(): void {
      for (const answer of held.splice(0)) answer()
    },
    /** Runs rounds of the vault, a minute apart, because the vault makes some requests to Steam only occasionally. */
    async runRounds(count: number): Promise<void> {
      for (let round = 0; round < count; round += 1) {
        await this.vault().round()
        nowMs += MINUTE_MS
      }
    },
    advanceMs(ms: number): void {
      nowMs += ms
    },
    slowPrices(ms: number): void {
      priceMs = ms
    },
    failTill(calls: typeof tillFails): void {
      tillFails = calls
    },
    /**
     * Advances to the next such weekday and time, in UTC. Steam's maintenance is on Tuesdays, so tests choose the
     * weekday.
     */
    advanceTo({ day, hour, minute = 0 }: { day: number; hour: number; minute?: number }): void {
      const date = new Date(nowMs)
      date.setUTCHours(hour, minute, 0, 0)
      date.setUTCDate(date.getUTCDate() + ((7 + day - date.getUTCDay()) % 7))
      nowMs = date.getTime() + (date.getTime() < nowMs ? 7 * DAY_MS : 0)
    },
    /** Enrols a selling account with keys of these markets, and allows items to go only to it. Returns its Steam id. */
    setUpSeller({ mayLose = false, markets = [CSGO_MARKET] as readonly MarketName[] } = {}): string {
      const seller = steam.change(findOrAddSeller)
      if (seller === undefined) throw new Error('there is no seller')
      this.enrol(seller.name, true)
      const { steamId } = seller
      const destinations = { seller: { steamId, tradeLink: tradeLink(seller) } }
      this.writeRules({ destinations })
      const folder = openFolder(path)
      for (const name of markets) {
        const key = (name === CSGO_MARKET ? market : market.waxpeer).open(steamId)
        saveMarket(folder, openKey(folder), {
          market: name,
          steamId,
          mayLose,
          sellsItself: false,
          key,
        })
      }
      return steamId
    },
    /** Makes an enrolled collecting bot sell its own items on market.csgo.com. */
    letSellOwnItems(who: string): void {
      const bot = accountOf(who)
      const { steamId } = bot
      this.writeRules({ destinations: { own: { steamId, tradeLink: tradeLink(bot) } } })
      const folder = openFolder(path)
      const access = { market: CSGO_MARKET, steamId, mayLose: false, sellsItself: true }
      saveMarket(folder, openKey(folder), { ...access, key: market.open(steamId) })
    },
    /** Switches a market off at the vault, as its operator does. */
    switchMarketOff(name: MarketName = CSGO_MARKET): void {
      switchMarket(openFolder(path), { market: name }, true)
    },
    switchMarketOn(name: MarketName = CSGO_MARKET): void {
      switchMarket(openFolder(path), { market: name }, false)
    },
    /** Changes only the limits, with effect at the next start. */
    writeLimits(limits: WrittenRules['limits']): void {
      changeRules(openFolder(path), (rules) => ({ ...rules, limits }))
    },
    /** Enrols an account at the vault: a collecting bot, or a selling account if `sells` is true. */
    enrol(who: string, sells = false): void {
      const account = accountOf(who)
      const { accountName, sharedSecret, identitySecret } = credentialsOf(account)
      const refreshToken = refreshTokenOf(account, Math.floor(nowMs / 1_000), 'mobile')
      const secrets = { accountName, sharedSecret, identitySecret, refreshToken }
      saveAccount(openFolder(path), openKey(openFolder(path)), { steamId: account.steamId, sells, secrets })
    },
    /** Replaces all rules: by default, items may go to the storage, and the limits are high enough for every test. */
    writeRules(change: Partial<WrittenRules> = {}): void {
      const { steamId, tradeUrl } = steam.as(STORAGE)
      const destinations = { storage: { steamId, tradeLink: tradeUrl() } }
      changeRules(openFolder(path), () => ({
        destinations,
        limits: LIMITS,
        usdWithoutPrice: '100.00',
        ...change,
      }))
    },
    /** Gives a bot these items, which a running till has in its records. */
    addItems(who: string, assets: readonly { appId: number; assetId: string }[]): void {
      const classOf = (appId: number): string =>
        accountOf(THIEF).assets.find(
          (asset) => asset.appId === appId && CATALOGUE.get(asset.classId)?.tradable === true,
        )?.classId ?? ''
      const added = assets.map(
        (asset): Asset => ({ ...asset, contextId: '2', classId: classOf(asset.appId) }),
      )
      const { steamId } = accountOf(who)
      steam.change((world) => ({
        world: withAccount(world, steamId, (account) => ({
          ...account,
          assets: [...account.assets, ...added],
        })),
        answer: undefined,
      }))
    },
    /** Gives a bot new items, as deposits would. */
    addStock(who: string, count: number, contextId = '2'): string[] {
      const classes = accountOf(THIEF).assets.filter(
        ({ appId, classId }) => appId === 570 && CATALOGUE.get(classId)?.tradable === true,
      )
      const { steamId } = accountOf(who)
      return steam.change((world) => {
        const assets = Array.from({ length: count }, (_, index): Asset => {
          const classId = classes[index % classes.length]?.classId ?? ''
          return { assetId: String(world.lastId + 1 + index), appId: 570, contextId, classId }
        })
        const stocked = withAccount(world, steamId, (account) => ({
          ...account,
          assets: [...account.assets, ...assets],
        }))
        return {
          world: { ...stocked, lastId: world.lastId + count },
          answer: assets.map(({ assetId }) => assetId),
        }
      })
    },
    /** Adds the bot to the till's database, if it is not there yet. Resolves to its number. */
    async addBotRow(who: string): Promise<string> {
      const { steamId } = accountOf(who)
      const { rows } = await database.pool.query(
        `insert into bot (steam_id, name, avatar_url, profile_url, level, refresh_token)
         values ($1, $2, 'a', 'p', 1, '\\x00')
         on conflict (steam_id) do update set name = excluded.name returning id::text`,
        [steamId, who],
      )
      return String(rows[0].id)
    },
    /** Writes a wish with the gateway's role. Resolves to its number. */
    async makeWish(assets: readonly string[], change: Partial<WishRow> = {}): Promise<string> {
      const row = { kind: 'send', destination: 'storage', ...change }
      const { rows } = await asGateway.query(
        `insert into wish (kind, bot_id, destination, deposit_id, steam_trade_id, asked_by)
         values ($1, $2, $3, $4, $5, 'operator') returning id::text`,
        [
          row.kind,
          row.botId ?? (await this.addBotRow(BOT)),
          row.kind === 'send' ? row.destination : null,
          row.depositId ?? null,
          row.steamTradeId ?? null,
        ],
      )
      const id = String(rows[0].id)
      for (const assetId of assets) {
        await asGateway.query(
          'insert into wish_item (wish_id, app_id, context_id, asset_id) values ($1, 570, $2, $3)',
          [id, row.contextId ?? '2', assetId],
        )
      }
      return id
    },
    /** Withdraws a wish, as its operator does. */
    async withdraw(wishId: string): Promise<void> {
      await asGateway.query('update wish set closed_at = now() where id = $1', [wishId])
      await asGateway.query('update wish_item set is_open = false where wish_id = $1', [wishId])
    },
    /** Removes a wish, as a restore of an earlier backup does. */
    async loseWish(wishId: string): Promise<void> {
      for (const table of ['vault_deed', 'wish_item'])
        await database.pool.query(`delete from ${table} where wish_id = $1`, [wishId])
      await database.pool.query('delete from wish where id = $1', [wishId])
    },
    /** Writes a deposit with the gateway's role. Resolves to its number. */
    async makeDeposit(): Promise<string> {
      const { rows } = await asGateway.query(
        `with new_store as (insert into store (name, origins) values ('x', '{https://x.test}') returning id)
         insert into deposit (hash, store_id, external_id, request_sha256, currency, back_to_store_url, expires_at)
         select md5(random()::text), id, 'x', '\\x00', 'USD', 'https://x.test', now() from new_store returning id::text`,
      )
      return String(rows[0].id)
    },
    /** Reads what the vault has reported about a wish. */
    async readDeed(wishId: string): Promise<{ state: string; because: string | null } | undefined> {
      const { rows } = await asVault.query('select state, because from vault_deed where wish_id = $1', [
        wishId,
      ])
      return rows[0]
    },
    /** Reads the problems that the vault has reported as needing a person, in order. */
    async readNeeds(): Promise<{ kind: string; about: string }[]> {
      const { rows } = await asVault.query('select kind, about from vault_need order by kind, about')
      return rows
    },
    /** Reads why items are not on sale, as the vault has reported it. */
    async readUnlisted(): Promise<{ reason: string; items: number | null; detail: string }[]> {
      const { rows } = await asVault.query('select reason, items, detail from vault_unlisted order by reason')
      return rows
    },
    countOwned(who: string, assetIds: readonly string[]): number {
      const owned = new Set(accountOf(who).assets.map(({ assetId }) => assetId))
      return assetIds.filter((assetId) => owned.has(assetId)).length
    },
    /** Accepts all open offers to an account. */
    acceptAll(who: string): void {
      const { steamId } = accountOf(who)
      for (const { id, partner, state } of steam.world().offers) {
        if (partner === steamId && state === STATE.active) steam.as(who).accept(id)
      }
    },
    async close(): Promise<void> {
      vault?.close()
      await ownDatabase.close()
      await market.close()
      await asGateway.end()
      await asVault.end()
      await database.pool.query(`drop owned by ${appRole}, ${vaultRole}`)
      await database.pool.query(`drop role ${appRole}, ${vaultRole}`)
      await database.close()
      await steam.close()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

type WishRow = {
  kind: 'send' | 'return'
  botId: string
  destination: string
  depositId: string
  steamTradeId: string
  contextId: string
}
