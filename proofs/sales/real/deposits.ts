/**
 * Pays the deposits of a seed with the till's own code before its sales begin. In the till's books, the bots then have
 * the items that they have in the model, `world.steam`.
 */
import type { Db } from '../../../gateway/db/client.ts'
import { openDatabase } from '../../../gateway/db/client.ts'
import type { Queue } from '../../../gateway/db/queue.ts'
import type { Signals } from '../../../gateway/db/signals.ts'
import { createDeposit } from '../../../gateway/deposits/create.ts'
import type { PublisherDeps } from '../../../gateway/events/service.ts'
import { systemIds } from '../../../gateway/kit/ids.ts'
import { createLog } from '../../../gateway/kit/log.ts'
import { sealedForDeposit } from '../../../gateway/shoppers/trade-token.ts'
import { type FakeSession, fakeSession } from '../../../gateway/testing/fake-steam.ts'
import { depsOn, TEST_BOX } from '../../../gateway/testing/till.ts'
import { tradeHandlers } from '../../../gateway/trades/advance.ts'
import type { TradeDeps } from '../../../gateway/trades/deps.ts'
import { type RequestDeps, requestTrade } from '../../../gateway/trades/request.ts'
import { PROTECTED_APP } from '../../../steam-sandbox/world/world.ts'
import { BOTS, type Deposit, type SalesWorld } from '../world.ts'
import type { Bot } from './scene.ts'

export type Deps = TradeDeps & RequestDeps & PublisherDeps

const NO_QUEUE: Queue = {
  ensure: async () => {},
  send: async () => {},
  work: async () => async () => {},
  stop: async () => {},
}
const QUOTE_MS = 900_000
const YEAR_MS = 31_536_000_000
/** The offer ids begin here, with a separate range for each bot. */
const FIRST_OFFER = 1_000_000
const OFFERS_OF_A_BOT = 1_000

/** The parts of a gateway that payments and sweeps need. */
export const depsOf = (db: Db, now: () => Date, signals: Signals): Deps => ({
  ...depsOn({ db, signals, queue: NO_QUEUE, clock: { now }, log: createLog({ level: 'silent' }) }),
  // Here, only Steam's records decide about protection.
  protectionDays: () => 0,
})

/** Pays the world's deposits. Resolves to the bots, by Steam id. */
export async function payDeposits(url: string, world: SalesWorld): Promise<Map<string, Bot>> {
  const { db, close } = openDatabase(url, 2)
  try {
    const bots = new Map<string, Bot>()
    for (const steamId of BOTS) bots.set(steamId, await enrol(db, steamId))
    const { id: storeId } = await db
      .insertInto('store')
      .values({ name: 'Ember Forge', origins: ['https://store.test'], risk_limit_usd_cents: 1_000_000n })
      .returning('id')
      .executeTakeFirstOrThrow()
    const { id: rateId } = await db
      .insertInto('exchange_rate')
      .values({ currency: 'USD', per_usd: '1', source: 'test', as_of: world.now() })
      .returning('id')
      .executeTakeFirstOrThrow()
    for (const deposit of world.deposits) await pay({ db, world, bots, storeId, rateId }, deposit)
    return bots
  } finally {
    await close()
  }
}

async function enrol(db: Db, steamId: string): Promise<Bot> {
  const { id: botId } = await db
    .insertInto('bot')
    .values({
      steam_id: steamId,
      name: 'Tradetill Bot',
      avatar_url: 'a',
      profile_url: 'p',
      level: 10,
      refresh_token: Buffer.from('sealed'),
      online: true,
      lease_epoch: 1n,
      lease_until: new Date(Date.now() + YEAR_MS * 10),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { botId, session: fakeSession(steamId, FIRST_OFFER + Number(botId) * OFFERS_OF_A_BOT) }
}

type Payment = { db: Db; world: SalesWorld; bots: ReadonlyMap<string, Bot>; storeId: bigint; rateId: bigint }

/** The asset id in the shopper's inventory: the model's number without its first digit. */
const shoppersId = (assetId: string): string => assetId.slice(1)

async function pay({ db, world, bots, storeId, rateId }: Payment, deposit: Deposit): Promise<void> {
  const bot = bots.get(deposit.bot)
  const things = world.steam.things.filter(({ assetId }) => deposit.things.includes(assetId))
  const [first] = things
  if (bot === undefined || first === undefined) throw new Error('a deposit needs a bot and things')
  // Makes this bot the only choice.
  await db.updateTable('bot').set({ online: false }).where('id', '<>', bot.botId).execute()
  await db.updateTable('bot').set({ online: true }).where('id', '=', bot.botId).execute()
  const latestTrade = () =>
    db
      .selectFrom('trade')
      .select(['id', 'steam_offer_id as offerId'])
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
  const signals: Signals = {
    notify: async () => {},
    async until(_, check) {
      await handlers.trade(context, (await latestTrade()).id)
      return check()
    },
    close: async () => {},
  }
  const deps = depsOf(db, world.now, signals)
  const handlers = tradeHandlers(deps)
  const context = contextOf(bot)
  const body = await openDeposit(deps, { storeId, rateId, from: deposit.from, things })
  const answer = await requestTrade(deps, body)
  if (answer.kind !== 'active') throw new Error(`a deposit was not paid: ${JSON.stringify(answer)}`)
  const trade = await latestTrade()
  const settlesAt = first.appId === PROTECTED_APP ? { settlesAt: new Date(first.freeAtMs) } : {}
  nameTrade(bot.session, deposit, () => bot.session.accept(trade.offerId ?? '', settlesAt))
  await handlers.trade(context, trade.id)
}

export const contextOf = ({ botId, session }: Bot) => ({
  botId,
  session,
  leaseEpoch: 1n,
  mayWrite: () => true,
})

/** Lets the shopper accept, and gives the new Steam trade the id that it has in the model. */
function nameTrade(session: FakeSession, { steamTradeId }: Deposit, accept: () => void): void {
  const before = new Set(session.trades.keys())
  accept()
  for (const [id, answer] of [...session.trades]) {
    if (before.has(id) || answer.kind !== 'trade') continue
    session.trades.delete(id)
    session.trades.set(steamTradeId, { kind: 'trade', trade: { ...answer.trade, tradeId: steamTradeId } })
    for (const [offerId, offer] of session.offers)
      if (offer.tradeId === id) session.offers.set(offerId, { ...offer, tradeId: steamTradeId })
  }
}

type NewDeposit = { storeId: bigint; rateId: bigint; from: string; things: SalesWorld['steam']['things'] }

async function openDeposit(deps: Deps, { storeId, rateId, from, things }: NewDeposit) {
  const { db, clock } = deps
  const externalId = `top-up ${things[0]?.assetId}`
  const fields = { externalId, currency: 'USD', backToStoreUrl: 'https://store.test/' } as const
  const { deposit } = await createDeposit(deps, { id: storeId }, fields)
  const hash = deposit.url.slice(-32)
  const depositId = BigInt(deposit.id)
  await db
    .updateTable('deposit')
    .set({ user_steam_id: from, user_name: 'nova', user_avatar_url: 'a', user_profile_url: 'p' })
    .set(sealedForDeposit(TEST_BOX, hash, 'tok-en_1'))
    .where('id', '=', depositId)
    .execute()
  const game = things[0]?.appId === PROTECTED_APP ? ('cs' as const) : ('dota' as const)
  const quoteId = systemIds.uuid()
  const times = { created_at: clock.now(), expires_at: new Date(clock.now().getTime() + QUOTE_MS) }
  await db
    .insertInto('quote')
    .values({ id: quoteId, deposit_id: depositId, game, currency: 'USD', rate_id: rateId, ...times })
    .execute()
  const items = things.map(({ assetId, appId, name, costCents }) => ({
    quote_id: quoteId,
    asset_id: shoppersId(assetId),
    app_id: appId,
    context_id: '2',
    name,
    market_hash_name: name,
    price: costCents,
    gross: costCents,
  }))
  await db.insertInto('quote_item').values(items).execute()
  return { hash, game, items: items.map(({ asset_id }) => asset_id), quoteId }
}
