/** A till on a database that no other test uses at the same time, with the parts for tests of trades and deposits. */

import type { EventType } from '../../contract/event-types.ts'
import type { BotContext } from '../bots/bot.ts'
import { botQueue } from '../bots/bot.ts'
import { DEFAULT_FLEET_LIMITS } from '../bots/fleet.ts'
import { moveClockAhead, readClockAhead } from '../clock/store.ts'
import { DEFAULT_PROTECTION_DAYS } from '../config.ts'
import { createDepartureStore } from '../departures/store.ts'
import { createDeposit } from '../deposits/create.ts'
import { ensureDepositQueues } from '../deposits/jobs.ts'
import { ensureEventQueue } from '../events/jobs.ts'
import type { PublisherDeps } from '../events/service.ts'
import type { Clock } from '../kit/clock.ts'
import { systemIds } from '../kit/ids.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { DEFAULT_RULES } from '../pricing/price.ts'
import { sealedForDeposit } from '../shoppers/trade-token.ts'
import { CORE } from '../trades/core.ts'
import type { TradeDeps } from '../trades/deps.ts'
import type { IntentDeps } from '../trades/intent-store.ts'
import { createTradeStore } from '../trades/postgres-store.ts'
import type { RequestDeps } from '../trades/request.ts'
import { deliveryWriter } from '../webhooks/store.ts'
import { type FakeClock, fakeClock } from './clock.ts'
import { type FakeSession, fakeSession } from './fake-steam.ts'
import { type DatabaseUse, takeSharedDatabase } from './shared-database.ts'

export type TillDeps = TradeDeps & RequestDeps & PublisherDeps & { clock: FakeClock }

export type Till = Awaited<ReturnType<typeof startTill>>

const PUBLIC_URL = 'http://till.test'
/** The days for which a trade in Counter-Strike 2 is under protection. */
export const PROTECTION_DAYS = DEFAULT_PROTECTION_DAYS.cs

export const TEST_MASTER_KEY = Buffer.alloc(32, 3)
export const TEST_BOX = createSecretBox(TEST_MASTER_KEY)

export async function startTill() {
  return tillOn(await takeSharedDatabase())
}

type TillParts<C extends Clock> = Pick<DatabaseUse, 'db' | 'queue' | 'signals' | 'log'> & { clock: C }

/** The parts that trades and deposits need. Each game has its default protection, and Steam opens no session. */
export function depsOn<C extends Clock>(
  parts: TillParts<C>,
): TradeDeps & RequestDeps & PublisherDeps & { clock: C } {
  const common = {
    ...parts,
    ids: systemIds,
    box: TEST_BOX,
    steam: {
      openSession: async () => ({ kind: 'refused', reason: 'token_dead' }),
      readProfile: async (steamId) => ({
        kind: 'profile',
        profile: {
          steamId,
          name: 'nova_hound',
          avatarUrl: 'a',
          profileUrl: 'p',
          level: 12,
          memberSince: null,
        },
      }),
    },
    publicUrl: PUBLIC_URL,
    limits: { maxItems: 50, fleet: DEFAULT_FLEET_LIMITS },
  } satisfies IntentDeps & { clock: C }
  return {
    ...common,
    addDeliveries: deliveryWriter(common),
    trades: createTradeStore(common),
    departures: createDepartureStore(common),
    destinations: new Map(),
    core: CORE,
    rules: DEFAULT_RULES,
    protectionDays: (game) => DEFAULT_PROTECTION_DAYS[game],
    historyEveryMs: 3_600_000,
  }
}

/** Starts a till on a database that the caller has taken. */
export async function tillOn({ db, url, queue, signals, log, lines, close }: DatabaseUse) {
  // SQL reads the database's clock, so the test's clock starts at the real time.
  const clock: FakeClock = fakeClock(new Date())
  const deps: TillDeps = depsOn({ db, queue, signals, clock, log })
  await ensureEventQueue(deps)
  await ensureDepositQueues(deps)
  return {
    deps,
    lines,
    clock,
    db,
    url,
    close,
  }
}

/** Advances the till's clock in code and database, as an operator would. */
export async function jump({ clock, db }: Pick<Till, 'clock' | 'db'>, seconds: number): Promise<void> {
  clock.jump(seconds * 1_000)
  await moveClockAhead(db, (await readClockAhead(db)) + seconds)
}

export async function aStore(till: Till, options: { webhookUrl?: string; riskLimitUsdCents?: bigint } = {}) {
  const store = await till.db
    .insertInto('store')
    .values({
      name: 'Ember Forge',
      origins: ['https://store.test'],
      risk_limit_usd_cents: options.riskLimitUsdCents ?? 0n,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  if (options.webhookUrl !== undefined) await anEndpoint(till, store, options.webhookUrl)
  return store
}

/** Adds an endpoint. Its stored secret is a placeholder, because tests sign with `SECRET` of webhooks.ts. */
export function anEndpoint(till: Till, store: { id: bigint }, url: string, types?: EventType[]) {
  const values = { store_id: store.id, url, secret: Buffer.from('sealed'), event_types: types ?? null }
  return till.db.insertInto('webhook_endpoint').values(values).returning('id').executeTakeFirstOrThrow()
}

/** A bot whose lease this process holds, with its session. */
export async function aBot(
  till: Till,
  session: FakeSession = fakeSession(),
): Promise<{ bot: BotContext; session: FakeSession }> {
  const row = await till.db
    .insertInto('bot')
    .values({
      steam_id: session.steamId,
      name: 'Tradetill Bot',
      avatar_url: 'a',
      profile_url: 'p',
      level: 47,
      member_since: '2015-03-09',
      refresh_token: Buffer.from('sealed'),
      online: true,
      lease_epoch: 1n,
      lease_until: new Date(Date.now() + 3_600_000),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await till.deps.queue.ensure(botQueue(row.id))
  return { bot: { botId: row.id, session, leaseEpoch: 1n, mayWrite: () => true }, session }
}

let depositCount = 0

/** A deposit with a shopper and a quote of `prices` (minor units). Each deposit has its own asset ids. */
export async function aDeposit(
  till: Till,
  store: { id: bigint },
  { prices = [1_000n, 2_000n], game = 'dota' as 'cs' | 'dota' } = {},
) {
  depositCount += 1
  const { deposit } = await createDeposit(till.deps, store, {
    externalId: `top-up ${depositCount}`,
    currency: 'USD',
    backToStoreUrl: 'https://store.test/',
  })
  const id = BigInt(deposit.id)
  const hash = deposit.url.slice(-32)
  await till.db
    .updateTable('deposit')
    .set({ user_steam_id: `7656119800000${id}`, user_name: 'nova_hound' })
    .set(sealedForDeposit(TEST_BOX, hash, 'tok-en_1'))
    .set({ user_avatar_url: 'a', user_profile_url: 'p' })
    .where('id', '=', id)
    .execute()
  const rate = await till.db
    .insertInto('exchange_rate')
    .values({ currency: 'USD', per_usd: '1', source: 'test', as_of: till.clock.now() })
    .returning('id')
    .executeTakeFirstOrThrow()
  const quote = await till.db
    .insertInto('quote')
    .values({
      id: systemIds.uuid(),
      deposit_id: id,
      game,
      currency: 'USD',
      rate_id: rate.id,
      created_at: till.clock.now(),
      expires_at: new Date(till.clock.now().getTime() + 900_000),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const items = prices.map((price, index) => ({
    quote_id: quote.id,
    asset_id: `${id}${index}`,
    app_id: game === 'cs' ? 730 : 570,
    context_id: '2',
    name: `Item ${index}`,
    market_hash_name: `Item ${index}`,
    price,
    gross: price + price / 10n,
  }))
  await till.db.insertInto('quote_item').values(items).execute()
  const assetIds = items.map((item) => item.asset_id)
  return { id, hash, quoteId: quote.id, body: { hash, game, items: assetIds, quoteId: quote.id } }
}

/** Records that an item of the bot was given away. */
export async function aDeparture(db: Till['db'], botId: bigint): Promise<bigint> {
  const facts = {
    bot_id: botId,
    steam_trade_id: '6100000000000000007',
    partner_steam_id: '76561198000009002',
  }
  const { id } = await db
    .insertInto('departure')
    .values({ ...facts, begun_at: new Date(), stage: 'gone' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const item = { departure_id: id, app_id: 570, context_id: '2', asset_id: '51', new_asset_id: '751' }
  await db.insertInto('departed_item').values(item).execute()
  return id
}

/** Records a problem that needs a person at the vault. */
export async function aVaultNeed(db: Till['db'], change: { kind?: string; since?: Date } = {}) {
  const need = { kind: 'no_room', about: 'market.csgo.com', text: 'no room', since: new Date(), ...change }
  await db
    .insertInto('vault_need')
    .values({ ...need, seen_at: new Date() })
    .execute()
}
