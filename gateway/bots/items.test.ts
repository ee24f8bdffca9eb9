import { sql } from 'kysely'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Game } from '../../contract/games.ts'
import { inTransaction } from '../db/transaction.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { type FakeSession, receivedIdOf } from '../testing/fake-steam.ts'
import { offerFor } from '../testing/payment.ts'
import { testPool } from '../testing/pool.ts'
import { aBot, aDeposit, aStore, jump, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { requestTrade } from '../trades/request.ts'
import { barBot, listBars } from './bar-store.ts'
import type { BotContext } from './bot.ts'
import { DEFAULT_FLEET_LIMITS, type FleetLimits } from './fleet.ts'
import { heldItems, updateHeldItems } from './held-item-store.ts'
import { countItems, countItemsByGame, heldByGame } from './item-store.ts'
import { moveItem } from './items.ts'
import { createBotGauges, surveyBots } from './jobs.ts'
import { actOnBot } from './operator.ts'
import { chooseBotForTrade } from './service.ts'

let till: Till
let bot: BotContext
let session: FakeSession
let store: { id: bigint }

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till)
  ;({ bot, session } = await aBot(till))
})
afterEach(() => till.close())

const request = { partnerSteamId: '76561197960269729', game: 'dota', items: 2, tried: [] } as const

/** Pays a deposit with two items. Items of cs are protected afterwards. */
async function deliver(game: 'cs' | 'dota') {
  const deposit = await aDeposit(till, store, { game })
  const { tradeId: id, offerId } = await offerFor(till, bot, deposit)
  const settlesAt = new Date(till.clock.now().getTime() + 8 * 86_400_000)
  session.accept(offerId, game === 'cs' ? { settlesAt } : {})
  await tradeHandlers(till.deps).refresh(bot, id)
  return deposit
}

const survey = () => {
  const registry = new Registry()
  return surveyBots({
    db: till.db,
    clock: till.clock,
    log: till.deps.log,
    limits: DEFAULT_FLEET_LIMITS,
    gauges: createBotGauges(registry),
    watchTokens: () => {},
  }).then(() => registry)
}

describe('items in the hands of a bot', () => {
  it('are listed with their asset ids at the bot until they are moved', async () => {
    const { body } = await deliver('dota')
    const [first, second] = body.items.map(receivedIdOf)
    const items = await heldItems(till.db)
    expect(items).toMatchObject([
      { assetId: first, appId: 570, price: 1_000n, currency: 'USD', protectedUntil: null },
      { assetId: second, price: 2_000n },
    ])
    const [moved = '', kept] = items.map(({ item }) => item)
    expect(await moveItem(till.deps, moved)).toMatchObject({ kind: 'moved', item: { price: 1_000n } })
    expect(await moveItem(till.deps, moved)).toEqual({ kind: 'refused', reason: 'not_held' })
    expect((await heldItems(till.db)).map(({ item }) => item)).toEqual([kept])
    const out = await till.db.selectFrom('custody_entry').selectAll().where('moved', '=', 'out').execute()
    expect(out).toMatchObject([{ asset_id: body.items[0], received_asset_id: first }])
  })

  it('cannot be moved while the shopper can take them back', async () => {
    await deliver('cs')
    const [item] = await heldItems(till.db)
    expect(item?.protectedUntil).toBeInstanceOf(Date)
    expect(await moveItem(till.deps, item?.item ?? '')).toEqual({ kind: 'refused', reason: 'protected' })
  })

  it.each(['', '1', "1-2'--", '1-', '99999999999999999999-1'])(
    'cannot be moved with the malformed id %j',
    async (item) => {
      expect(await moveItem(till.deps, item)).toEqual({ kind: 'refused', reason: 'not_an_item' })
    },
  )

  it('are moved once, even by several commands at the same time', async () => {
    await deliver('dota')
    const [item] = await heldItems(till.db)
    const answers = await Promise.all([1, 2, 3].map(() => moveItem(till.deps, item?.item ?? '')))
    expect(answers.filter(({ kind }) => kind === 'moved')).toHaveLength(1)
  })

  it('are counted, so a bot with 900 items of a game takes only items of other games', async () => {
    await deliver('dota')
    const metrics = await (await survey()).metrics()
    expect(metrics).toContain(`tradetill_bot_items{bot="${session.steamId}",game="dota"} 2`)
    expect(metrics).toContain(`tradetill_bot_room{bot="${session.steamId}",game="dota"} 898`)
    expect(metrics).toContain(`tradetill_bot_room{bot="${session.steamId}",game="tf"} 270`)
    expect(metrics).toContain('tradetill_bots{state="online"} 1')
    const choose = (game: Game = 'dota') =>
      inTransaction(till.db, (tx) => chooseBotForTrade(tx, { ...request, game }, DEFAULT_FLEET_LIMITS))
    expect(await choose()).toEqual({ botId: bot.botId })
    await changeItems('in', 898)
    expect(await choose()).toBeUndefined()
    expect(await choose('tf')).toEqual({ botId: bot.botId })
    await survey()
    expect(await choose()).toBeUndefined()
    expect(await choose('tf')).toEqual({ botId: bot.botId })
    await changeItems('out', 898)
    await survey()
    expect(await choose()).toEqual({ botId: bot.botId })
  })

  it('are each counted only once', async () => {
    await deliver('dota')
    await survey()
    await survey()
    expect(await countInRow()).toEqual({ items_held: 2, entries: 0 })
    await changeItems('in', 3)
    // A wrong count stays wrong: no later count corrects it, and only the check of the ledger finds it.
    await till.db.updateTable('bot').set({ items_held: 7 }).execute()
    await survey()
    expect(await countInRow()).toEqual({ items_held: 10, entries: 0 })
  })

  it('are each counted once by two processes that count at the same time', async () => {
    await deliver('dota')
    const tx = await till.db.startTransaction().execute()
    await countItems(tx)
    const otherCount = countItems(till.db)
    await expect.poll(countWaiting).toBe(1)
    await tx.commit().execute()
    await otherCount
    expect(await countInRow()).toEqual({ items_held: 2, entries: 0 })
  })

  it('are counted by game in small batches, each item once, and the count is right after every batch', async () => {
    await deliver('dota')
    await deliver('cs')
    await deliver('dota')
    await till.db.updateTable('trade').set({ state: 'final' }).where('game', '=', 'dota').execute()
    const countByGame = () =>
      till.db.selectFrom('bot_games').select(['items', 'counted_to']).executeTakeFirst()
    const games = [
      { appId: 570, held: 4, protected: 0 },
      { appId: 730, held: 2, protected: 2 },
    ]
    expect(await countByGame()).toBeUndefined()
    expect(await heldByGame(till.db, bot.botId)).toEqual(games)
    const entries = await till.db.selectFrom('custody_entry').select('id').orderBy('id').execute()
    for (const last of [entries[2], entries[5], entries[5]]) {
      await countItemsByGame(till.db, 3)
      expect(await countByGame()).toMatchObject({ counted_to: last?.id })
      expect(await heldByGame(till.db, bot.botId)).toEqual(games)
    }
    expect((await countByGame())?.items).toEqual({ 570: 4, 730: 2 })

    const [item] = await heldItems(till.db)
    await till.db
      .insertInto('custody_entry')
      .values({
        trade_id: BigInt(item?.item.split('-')[0] ?? ''),
        asset_id: item?.item.split('-')[1] ?? '',
        received_asset_id: null,
        bot_id: bot.botId,
        moved: 'out',
      })
      .execute()
    const fewer = [{ appId: 570, held: 3, protected: 0 }, games[1]]
    expect(await heldByGame(till.db, bot.botId)).toEqual(fewer)
    await survey()
    expect((await countByGame())?.items).toEqual({ 570: 3, 730: 2 })
    expect(await heldByGame(till.db, bot.botId)).toEqual(fewer)
  })

  it('are counted by game, each item once, when two processes count at the same time', async () => {
    await deliver('dota')
    const tx = await till.db.startTransaction().execute()
    await countItemsByGame(tx)
    const otherCount = countItemsByGame(till.db)
    await expect.poll(countWaiting).toBe(1)
    await tx.commit().execute()
    await otherCount
    expect(await heldByGame(till.db, bot.botId)).toEqual([{ appId: 570, held: 2, protected: 0 }])
  })

  it('are listed completely after each batch that updates the list, and removed when they leave', async () => {
    await deliver('dota')
    await deliver('cs')
    const listed = async () =>
      (
        await till.db.selectFrom('held_item').select('custody_entry_id').orderBy('custody_entry_id').execute()
      ).map((row) => row.custody_entry_id)
    const entries = await till.db.selectFrom('custody_entry').selectAll().orderBy('id').execute()
    const allHeld = await heldItems(till.db)
    expect(allHeld).toHaveLength(4)
    for (const count of [3, 4, 4]) {
      await updateHeldItems(till.db, 3)
      expect(await listed()).toEqual(entries.slice(0, count).map(({ id }) => id))
      expect(await heldItems(till.db)).toEqual(allHeld)
    }

    const [first] = entries
    if (first === undefined) throw new Error('nothing was delivered')
    const { id: _, moved: __, ...item } = first
    await till.db
      .insertInto('custody_entry')
      .values({ ...item, moved: 'out' })
      .execute()
    expect(await heldItems(till.db)).toEqual(allHeld.slice(1))
    await updateHeldItems(till.db)
    expect(await listed()).toEqual(entries.slice(1).map(({ id }) => id))
    expect(await heldItems(till.db, { botId: bot.botId })).toEqual(allHeld.slice(1))
    expect(await heldItems(till.db, { item: { tradeId: item.trade_id, assetId: item.asset_id } })).toEqual([])
    expect(await differences()).toEqual([])
  })

  it('are listed once when two processes update the list at the same time', async () => {
    await deliver('dota')
    const tx = await till.db.startTransaction().execute()
    await updateHeldItems(tx, 1)
    const otherUpdate = updateHeldItems(till.db)
    await expect.poll(countWaiting).toBe(1)
    await tx.commit().execute()
    await otherUpdate
    expect(await differences()).toEqual([])
    expect(await till.db.selectFrom('held_item').select('asset_id').execute()).toHaveLength(2)
  })

  const differences = () => {
    const pool = testPool(till.url)
    onTestFinished(() => pool.end())
    return verifyLedger(pool)
  }

  /** The number of statements that wait for another transaction. */
  const countWaiting = () =>
    sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      .execute(till.db)
      .then(({ rows }) => rows.length)

  /** Adds further items to the bot, or removes them. */
  const changeItems = (moved: 'in' | 'out', count: number) =>
    sql`
    with items as (
      insert into trade_item (trade_id, asset_id, app_id, context_id, name, market_hash_name, price, gross, live)
      select min(trade.id), 'more ' || n, 570, '2', 'More', 'More', 1, 1, false
      from trade, generate_series(1, ${count}::int) n group by n
      on conflict (trade_id, asset_id) do update set live = false returning trade_id, asset_id
    )
    insert into custody_entry (trade_id, asset_id, bot_id, moved, created_at)
    select trade_id, asset_id, ${bot.botId}, ${moved}, ${till.clock.now()} from items`.execute(till.db)

  /** The count in the bot's row, and how many entries are newer. */
  const countInRow = () =>
    till.db
      .selectFrom('bot')
      .leftJoin('custody_entry as entry', (join) =>
        join.onRef('entry.bot_id', '=', 'bot.id').onRef('entry.id', '>', 'bot.items_counted_to'),
      )
      .select((eb) => ['bot.items_held', sql<number>`${eb.fn.count('entry.id')}::int`.as('entries')])
      .groupBy('bot.id')
      .executeTakeFirst()
})

/** Bars the bot for Team Fortress 2, as if Steam had refused an offer because the bot's inventory is full. */
const barForTf = () => {
  const refusal = { botId: bot.botId, reason: 'inventory_full', game: 'tf', now: till.clock.now() } as const
  return till.db.transaction().execute((tx) => barBot(tx, refusal))
}

describe('a survey of the bots', () => {
  it('D-30 shows how long each bot is barred, and why', async () => {
    await barForTf()
    const [bar] = await listBars(till.db)
    const seconds = ((bar?.until.getTime() ?? 0) - till.clock.now().getTime()) / 1_000
    const labels = `bot="${session.steamId}",scope="tf",reason="inventory_full"`
    const barred = async () => (await (await survey()).metrics()).match(/^tradetill_bot_barred_seconds.*$/gm)
    expect(await barred()).toEqual([`tradetill_bot_barred_seconds{${labels}} ${seconds}`])
    await jump(till, seconds)
    expect(await barred()).toBeNull()
  })

  it('shows how long ago the last complete pass through the bot’s history began', async () => {
    const age = async () => (await (await survey()).metrics()).match(/^tradetill_bot_history_seconds.*$/gm)
    expect(await age()).toBeNull()
    await deliver('cs')
    await tradeHandlers(till.deps).history(bot)
    await jump(till, 1_800)
    expect(await age()).toEqual([`tradetill_bot_history_seconds{bot="${session.steamId}"} 1800`])
  })
})

describe('a bar', () => {
  it('D-30 is not prolonged by a later refusal that it covers', async () => {
    await barForTf()
    const barred = await listBars(till.db)
    await jump(till, 60)
    await barForTf()
    expect(await listBars(till.db)).toEqual(barred)
  })
})

describe('the limits of a bot', () => {
  const depsWith = (fleet: Partial<FleetLimits>) => ({
    ...till.deps,
    limits: { ...till.deps.limits, fleet: { ...DEFAULT_FLEET_LIMITS, ...fleet } },
  })
  const noBot = { kind: 'refused', code: 'no_bot_available' }

  const itemLimit = (dota: number) => ({ itemsHeld: { ...DEFAULT_FLEET_LIMITS.itemsHeld, dota } })

  it('stop new trades once reached: items of a game, open offers, and open offers to one partner', async () => {
    // The bot has ten items of Dota 2. A deposit brings two more.
    await till.db.insertInto('bot_games').values({ bot_id: bot.botId, items: '{"570": 10}' }).execute()
    const { body } = await aDeposit(till, store)
    expect(await requestTrade(depsWith(itemLimit(10)), body)).toEqual(noBot)
    expect(await requestTrade(depsWith(itemLimit(11)), body)).toEqual(noBot)
    const first = requestTrade(depsWith({ ...itemLimit(12), liveOffers: 1 }), body)
    const trades = () => till.db.selectFrom('trade').select('id').execute()
    await expect.poll(trades).toHaveLength(1)
    const otherDeposit = await aDeposit(till, store)
    expect(await requestTrade(depsWith({ liveOffers: 1 }), otherDeposit.body)).toEqual(noBot)
    await till.db
      .updateTable('deposit')
      .set({ user_steam_id: await partnerOf(body.hash) })
      .execute()
    expect(await requestTrade(depsWith({ liveOffersWithPartner: 1 }), otherDeposit.body)).toEqual(noBot)
    const [trade] = await trades()
    await tradeHandlers(till.deps).trade(bot, trade?.id ?? 0n)
    expect(await first).toEqual({ kind: 'active' })
  })

  const partnerOf = async (hash: string) => {
    const row = till.db.selectFrom('deposit').select('user_steam_id').where('hash', '=', hash)
    return (await row.executeTakeFirstOrThrow()).user_steam_id
  }
})

describe('the operator', () => {
  const id = () => String(bot.botId)
  const choose = () => inTransaction(till.db, (tx) => chooseBotForTrade(tx, request, DEFAULT_FLEET_LIMITS))

  it('pauses a bot, which then receives no new trades, and resumes it', async () => {
    expect(await actOnBot(till.db, id(), 'pause')).toMatchObject({ kind: 'done', name: 'Tradetill Bot' })
    expect(await choose()).toBeUndefined()
    expect(await (await survey()).metrics()).toContain('tradetill_bots{state="paused"} 1')
    expect(await actOnBot(till.db, session.steamId, 'resume')).toMatchObject({ kind: 'done' })
    expect(await choose()).toEqual({ botId: bot.botId })
  })

  it('removes a bot with its token, but not one whose trades must be watched', async () => {
    await deliver('cs')
    const watched = { open: 0, reviewed: 0, protected: 1 }
    expect(await actOnBot(till.db, id(), 'remove')).toEqual({ kind: 'refused', reason: 'busy', watched })
    await till.db.updateTable('trade').set({ state: 'final', held_amount: 0n, due_at: null }).execute()
    expect(await actOnBot(till.db, id(), 'remove')).toMatchObject({ kind: 'done' })
    expect(await choose()).toBeUndefined()
    const row = await till.db.selectFrom('bot').select(['state', 'refresh_token']).executeTakeFirstOrThrow()
    expect(row).toEqual({ state: 'removed', refresh_token: Buffer.alloc(0) })
    expect(await actOnBot(till.db, id(), 'resume')).toEqual({ kind: 'refused', reason: 'unknown_bot' })
  })

  it('cannot remove a bot while the offer of an ended trade can still be accepted', async () => {
    await offerFor(till, bot, await aDeposit(till, await aStore(till)))
    await till.db
      .updateTable('trade')
      .set({ state: 'refused', reason: 'trade_refused', ended_at: new Date() })
      .execute()
    const watched = { open: 0, reviewed: 1, protected: 0 }
    expect(await actOnBot(till.db, id(), 'remove')).toEqual({ kind: 'refused', reason: 'busy', watched })
    await till.db.updateTable('trade').set({ due_at: null }).execute()
    expect(await actOnBot(till.db, id(), 'remove')).toMatchObject({ kind: 'done' })
  })

  it('retires a bot once and deletes its token, and cannot resume the bot', async () => {
    expect(await actOnBot(till.db, id(), 'retire')).toMatchObject({ kind: 'done', state: 'retired' })
    expect(await actOnBot(till.db, id(), 'retire')).toMatchObject({ kind: 'unchanged' })
    expect(await choose()).toBeUndefined()
    const row = await till.db
      .selectFrom('bot')
      .select(['refresh_token', 'lease_until'])
      .executeTakeFirstOrThrow()
    expect(row).toEqual({ refresh_token: Buffer.alloc(0), lease_until: null })
    expect(await actOnBot(till.db, id(), 'resume')).toEqual({ kind: 'refused', reason: 'retired' })
    expect(await (await survey()).metrics()).toContain('tradetill_bots{state="retired"} 1')
  })

  it('cannot resume a dead bot, or pause an unknown one', async () => {
    await till.db.updateTable('bot').set({ state: 'dead' }).execute()
    expect(await (await survey()).metrics()).toContain('tradetill_bots{state="dead"} 1')
    expect(await actOnBot(till.db, id(), 'resume')).toEqual({ kind: 'refused', reason: 'dead' })
    expect(await actOnBot(till.db, '1 or 1=1', 'pause')).toEqual({ kind: 'refused', reason: 'unknown_bot' })
  })
})
