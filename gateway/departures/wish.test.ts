import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import type { ActDeps, Answer } from '../operations/operation.ts'
import { changeSendRule, listWishes, returnItems, sendItems, withdraw } from '../operations/wishes.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, jump, PROTECTION_DAYS, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { freeItems, sweepWishes } from './wish.ts'
import { withdrawWish } from './wish-store.ts'

let till: Till
let deps: ActDeps
let depositId: bigint
let botId: bigint
let free: { assetId: string; appId: number }[]

beforeAll(async () => {
  till = await startTill()
  const sender = await aBot(till)
  botId = sender.bot.botId
  const store = await aStore(till)
  const unprotected = await aDeposit(till, store, { game: 'cs' })
  depositId = unprotected.id
  await payFor(till, sender, unprotected)
  await jump(till, (PROTECTION_DAYS + 1) * 86_400)
  const trade = await till.db
    .selectFrom('trade')
    .select('id')
    .where('deposit_id', '=', unprotected.id)
    .executeTakeFirstOrThrow()
  await tradeHandlers(till.deps).trade(sender.bot, trade.id)
  // A second deposit, whose items are still under protection.
  await payFor(till, sender, await aDeposit(till, store, { game: 'cs' }))
  // These acts read no settings.
  const config = Object.create(null)
  deps = { config, db: till.db, clock: till.clock, operator: 'Ada', reason: 'to the storage' }
  free = await itemsOfDeposit()
})
beforeEach(async () => {
  await till.db.deleteFrom('vault_deed').execute()
  await till.db.deleteFrom('wish_item').execute()
  await till.db.deleteFrom('wish').execute()
})
afterAll(() => till.close())

async function itemsOfDeposit() {
  const rows = await till.db
    .selectFrom('custody_entry')
    .innerJoin('trade', 'trade.id', 'custody_entry.trade_id')
    .select('received_asset_id as assetId')
    .where('deposit_id', '=', depositId)
    .orderBy('custody_entry.id')
    .execute()
  return rows.map(({ assetId }) => ({ assetId: assetId ?? '', appId: 730 }))
}

async function newestWishes() {
  const answer = await listWishes(deps, { limit: 10 })
  return answer.kind === 'refused' ? [] : answer.data.wishes
}

const refusalOf = <T>(answer: Answer<T>) => (answer.kind === 'refused' ? answer.message : answer.kind)

const recordDeed = async (
  wishId: bigint,
  state: 'delivered' | 'refused' | 'offered' | 'ended',
  because: string | null = null,
) =>
  till.db
    .insertInto('vault_deed')
    .values({ wish_id: wishId, state, because, assets: [], at: till.clock.now() })
    .execute()

it('a wish for all items contains the free items, but not the protected ones', async () => {
  const sent = await sendItems(deps, { to: 'storage', assets: undefined })
  expect(sent).toMatchObject({ kind: 'done', data: { items: free.length } })
  const [wish] = await newestWishes()
  expect(wish).toMatchObject({ kind: 'send', destination: 'storage', askedBy: 'operator', state: null })
  expect(wish?.items.map(({ assetId }) => assetId).sort()).toEqual(free.map(({ assetId }) => assetId).sort())
})

it('an item is in at most one open wish, and is free again after the vault has refused the wish', async () => {
  await sendItems(deps, { to: 'storage', assets: undefined })
  const named = [free[0]?.assetId ?? '']
  const secondAnswer = await sendItems(deps, { to: 'storage', assets: named })
  expect(refusalOf(secondAnswer)).toMatch(/^Not free, or in an open wish already/)
  expect(refusalOf(await sendItems(deps, { to: 'storage', assets: undefined }))).toMatch(/^There are no free/)
  await recordDeed((await newestWishes())[0]?.wishId ?? 0n, 'refused')
  expect(await sendItems(deps, { to: 'storage', assets: named })).toMatchObject({ data: { items: 1 } })
})

it('an item that the vault delivered stays in its wish while no departure is booked', async () => {
  await sendItems(deps, { to: 'storage', assets: undefined })
  await recordDeed((await newestWishes())[0]?.wishId ?? 0n, 'delivered')
  expect(refusalOf(await sendItems(deps, { to: 'storage', assets: undefined }))).toMatch(/^There are no free/)
})

describe('an item that the bot has according to the till’s books', () => {
  /** Records the trade in which the first item leaves the bot, at this stage. */
  const recordDeparture = async (stage: 'under_way' | 'returned') => {
    const { id } = await till.db
      .insertInto('departure')
      .values({
        bot_id: botId,
        steam_trade_id: '9900',
        partner_steam_id: '76561198000009001',
        begun_at: till.clock.now(),
        stage,
        explanation: 'vault',
      })
      .onConflict((conflict) => conflict.columns(['bot_id', 'steam_trade_id']).doUpdateSet({ stage }))
      .returning('id')
      .executeTakeFirstOrThrow()
    await till.db
      .insertInto('departed_item')
      .values({ departure_id: id, app_id: 730, context_id: '2', asset_id: free[0]?.assetId ?? '' })
      .onConflict((conflict) => conflict.columns(['departure_id', 'app_id', 'asset_id']).doNothing())
      .execute()
  }
  const recordSale = async (state: 'delivered' | 'paid') => {
    const { trade_id: tradeId, asset_id: assetId } = await till.db
      .selectFrom('custody_entry')
      .select(['trade_id', 'asset_id'])
      .where('received_asset_id', '=', free[0]?.assetId ?? '')
      .executeTakeFirstOrThrow()
    await till.db
      .insertInto('sale')
      .values({
        market: 'market.csgo.com',
        reference: '1',
        trade_id: tradeId,
        asset_id: assetId,
        app_id: 730,
        currency: 'USD',
        price: 100n,
        listed_at: till.clock.now(),
        sold_at: till.clock.now(),
        by_hand: false,
        steam_trade_id: '9900',
        state,
        ...(state === 'paid' && { received: 90n, ended_at: till.clock.now() }),
      })
      .execute()
  }
  const isFree = async () =>
    (await inTransaction(till.db, (tx) => freeItems(tx))).some(({ assetId }) => assetId === free[0]?.assetId)

  afterEach(async () => {
    await till.db.deleteFrom('sale').execute()
    await till.db.deleteFrom('departed_item').execute()
    await till.db.deleteFrom('departure').execute()
  })

  it.each(['delivered', 'paid'] as const)(
    'and gave away in a sale (%s) is free once it is back, or after a day without a departure',
    async (state) => {
      await recordSale(state)
      expect(await isFree()).toBe(false)
      await recordDeparture('under_way')
      expect(await isFree()).toBe(false)
      await recordDeparture('returned')
      expect(await isFree()).toBe(true)
      await till.db.deleteFrom('departed_item').execute()
      await till.db.deleteFrom('departure').execute()
      expect(await isFree()).toBe(false)
      await jump(till, 86_400 + 60)
      expect(await isFree()).toBe(true)
    },
  )

  it('and that Steam holds in escrow is not free', async () => {
    await recordDeparture('under_way')
    expect(await isFree()).toBe(false)
  })
})

it('a wish can be withdrawn only before the vault has taken it up', async () => {
  await sendItems(deps, { to: 'storage', assets: undefined })
  const wishId = (await newestWishes())[0]?.wishId ?? 0n
  await recordDeed(wishId, 'offered')
  expect(refusalOf(await withdraw(deps, wishId))).toMatch(/^Wish \d+ is not open/)
  await till.db.deleteFrom('vault_deed').execute()
  expect(await withdraw(deps, wishId)).toMatchObject({ kind: 'done' })
  expect(await newestWishes()).toMatchObject([{ isOpen: false }])
})

it('a wish that the vault takes up at the same moment is not withdrawn', async () => {
  await sendItems(deps, { to: 'storage', assets: undefined })
  const wishId = (await newestWishes())[0]?.wishId ?? 0n
  const vault = await till.db.startTransaction().execute()
  await sql`select hold_open_wish(${wishId})`.execute(vault)
  const withdrawn = withdraw(deps, wishId)
  await expect.poll(countWaiting).toBe(1)
  await sql`insert into vault_deed (wish_id, state, assets, at) values (${wishId}, 'intended', '{}', now())`.execute(
    vault,
  )
  await vault.commit().execute()
  expect(refusalOf(await withdrawn)).toMatch(/^Wish \d+ is not open/)
})

it('the vault takes up no wish that is withdrawn at the same moment', async () => {
  await sendItems(deps, { to: 'storage', assets: undefined })
  const wishId = (await newestWishes())[0]?.wishId ?? 0n
  const tx = await till.db.startTransaction().execute()
  expect(await withdrawWish(tx, wishId)).toBe(true)
  const held = sql<{ isOpen: boolean }>`select hold_open_wish(${wishId}) as "isOpen"`.execute(till.db)
  await expect.poll(countWaiting).toBe(1)
  await tx.commit().execute()
  expect((await held).rows).toEqual([{ isOpen: false }])
})

/** The number of statements that wait for another transaction. */
const countWaiting = () =>
  sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    .execute(till.db)
    .then(({ rows }) => rows.length)

it('a wish to give back a deposit names the trade that brought its items', async () => {
  expect(await returnItems(deps, depositId)).toMatchObject({ kind: 'done', data: { items: free.length } })
  const row = await till.db.selectFrom('wish').selectAll().executeTakeFirstOrThrow()
  const trade = await till.db
    .selectFrom('trade')
    .select('steam_trade_id')
    .where('deposit_id', '=', depositId)
    .executeTakeFirstOrThrow()
  expect(row).toMatchObject({ kind: 'return', destination: null, bot_id: botId })
  expect(row.steam_trade_id).toBe(trade.steam_trade_id)
  expect(refusalOf(await returnItems(deps, 99n))).toBe('No items were received for deposit 99.')
})

it('a wish to give back a deposit of two delivered trades names the trade that was delivered last', async () => {
  const { steam_trade_id: last } = await till.db
    .selectFrom('trade')
    .select('steam_trade_id')
    .where('deposit_id', '=', depositId)
    .executeTakeFirstOrThrow()
  onTestFinished(async () => {
    await till.db.deleteFrom('trade').where('secret_code', '=', 'SECOND').execute()
  })
  // The trade with the higher id was delivered an hour earlier.
  await sql`
    insert into trade (deposit_id, bot_id, quote_id, game, secret_code, partner_steam_id, state, currency, total,
      gross_total, credit_mode, liability, risk_limit_usd_cents, steam_trade_id, delivered_at)
    select deposit_id, bot_id, quote_id, game, 'SECOND', partner_steam_id, 'final', currency, total,
      gross_total, credit_mode, liability, risk_limit_usd_cents, '777777', delivered_at - interval '1 hour'
    from trade where deposit_id = ${depositId}`.execute(till.db)
  expect(await returnItems(deps, depositId)).toMatchObject({ kind: 'done' })
  const { steam_trade_id: named } = await till.db
    .selectFrom('wish')
    .select('steam_trade_id')
    .executeTakeFirstOrThrow()
  expect(named).toBe(last)
})

it('the operator’s rule makes one wish for the free items beyond the number that a bot keeps, and none while the till is stopped', async () => {
  await changeSendRule(deps, { destination: 'storage', keep: free.length })
  await sweepWishes(till.deps)
  expect(await newestWishes()).toEqual([])
  await changeSendRule(deps, { destination: 'storage', keep: free.length - 1 })
  // Stops the till, as after a restore, until the next epoch begins.
  await sql`insert into halt (kind, since) values ('behind', now())`.execute(till.db)
  await sweepWishes(till.deps)
  expect(await newestWishes()).toEqual([])
  await till.db.deleteFrom('halt').execute()
  await sweepWishes(till.deps)
  await sweepWishes(till.deps)
  const wishes = await newestWishes()
  // The item in the wish no longer counts, so the other items stay.
  expect(wishes).toMatchObject([{ askedBy: 'rule', items: [{ appId: 730 }] }])
  await changeSendRule(deps, undefined)
})

it('an item that the vault refuses does not block the others of its wish forever, and is seldom requested again', async () => {
  await changeSendRule(deps, { destination: 'storage', keep: 0 })
  onTestFinished(async () => void (await changeSendRule(deps, undefined)))
  const badAssetId = free[0]?.assetId
  const offeredAssets = new Set<string>()
  let asked = 0
  // A day of sweeps. The vault refuses each wish with the bad item, and makes offers for the others.
  for (let quarter = 0; quarter < 96; quarter += 1) {
    await sweepWishes(till.deps)
    for (const { wishId, items, state } of await newestWishes()) {
      if (state !== null) continue
      asked += 1
      const isRefused = items.some(({ assetId }) => assetId === badAssetId)
      await recordDeed(wishId, isRefused ? 'refused' : 'offered')
      if (!isRefused) for (const { assetId } of items) offeredAssets.add(assetId)
    }
    await jump(till, 15 * 60)
  }
  expect(offeredAssets.size).toBe(free.length - 1)
  expect(asked).toBeLessThan(20)
})

it.each([
  ['that no item can cause', 'no_session', 'together'],
  ['that an item may have caused', 'steam_26', 'one by one'],
] as const)('after failures %s (%s), the rule asks for its items again %s', async (_, because, how) => {
  await changeSendRule(deps, { destination: 'storage', keep: 0 })
  onTestFinished(async () => void (await changeSendRule(deps, undefined)))
  // After five halvings, even a wish of 50 items has only one.
  for (let failures = 0; failures < 6; failures += 1) {
    await sweepWishes(till.deps)
    for (const { wishId, state } of await newestWishes())
      if (state === null) await recordDeed(wishId, 'ended', because)
    await sweepWishes(till.deps)
    // The rule waits 8 hours at most.
    await jump(till, 9 * 3_600)
  }
  await sweepWishes(till.deps)
  const openWishes = (await newestWishes()).filter(({ isOpen }) => isOpen)
  expect(openWishes.flatMap(({ items }) => items)).toHaveLength(free.length)
  expect(openWishes).toHaveLength(how === 'together' ? 1 : free.length)
})
