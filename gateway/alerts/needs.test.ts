/** Which problems count as needing an operator, and cause an alert. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import type { Stage } from '../departures/departure.ts'
import { publishEvents } from '../events/service.ts'
import { HOUR_MS } from '../kit/duration.ts'
import { endOnRelease, putOnRelease } from '../shoppers/on-release-store.ts'
import { payFor } from '../testing/payment.ts'
import { startReceiver, status } from '../testing/receiver.ts'
import { aBot, aDeparture, aDeposit, aStore, aVaultNeed, startTill, type Till } from '../testing/till.ts'
import { sendDue, senderDeps } from '../testing/webhooks.ts'
import { nextAsk } from '../trades/alarm.ts'
import { RELEASE_AFTER_MS } from '../trades/by-hand.ts'
import { ASK_AGAIN_MS, IN_VAIN_MS, readNeeds } from './needs-store.ts'

let till: Till
let bot: Awaited<ReturnType<typeof aBot>>

beforeAll(async () => {
  till = await startTill()
  bot = await aBot(till)
})
afterAll(() => till.close())

const needs = () => readNeeds(till.db)

test('a till without problems has only counts of 0', async () => {
  expect(Object.values(await needs()).filter((count) => count > 0)).toEqual([])
})

test('a restore counts until the next epoch begins; bots that an operator disarmed do not count as a restore', async () => {
  const halt = (kind: 'behind' | 'disarmed') =>
    till.db.insertInto('halt').values({ kind, since: till.clock.now() }).execute()
  await halt('disarmed')
  expect(await needs()).toMatchObject({ restoreUnfinished: 0 })
  await halt('behind')
  expect(await needs()).toMatchObject({ restoreUnfinished: 1 })
  await till.db.deleteFrom('halt').execute()
  expect(await needs()).toMatchObject({ restoreUnfinished: 0 })
})

test('a barred bot counts while its bar has more than half an hour left, unless the bar’s reason is a doubt', async () => {
  const { botId } = bot.bot
  const bar = (reason: string, minutes: number) =>
    sql`
    insert into bot_bar (bot_id, scope, reason, barred_at, until, times)
    values (${botId}, 'all', ${reason}, till_now(), till_now() + make_interval(mins => ${minutes}), 1)
    on conflict (bot_id, scope) do update set reason = excluded.reason, until = excluded.until`.execute(
      till.db,
    )
  await bar('bot_cannot_trade', 20)
  expect(await needs()).toMatchObject({ botsBarred: 0 })
  await bar('doubted', 60)
  expect(await needs()).toMatchObject({ botsBarred: 0 })
  await bar('bot_cannot_trade', 60)
  expect(await needs()).toMatchObject({ botsBarred: 1 })
  await till.db.deleteFrom('bot_bar').execute()
})

test('a store counts while its credit at risk is at least 90 % of its limit', async () => {
  const { id } = await aStore(till, { riskLimitUsdCents: 10_000n })
  const setCreditAtRisk = (usdCents: number) =>
    sql`
    insert into credit_at_risk (store_id, usd_cents) values (${id}, ${usdCents})
    on conflict (store_id) do update set usd_cents = excluded.usd_cents`.execute(till.db)
  await setCreditAtRisk(8_999)
  expect(await needs()).toMatchObject({ storesAtLimit: 0 })
  await setCreditAtRisk(9_000)
  expect(await needs()).toMatchObject({ storesAtLimit: 1 })
  await till.db.updateTable('store').set({ risk_limit_usd_cents: 20_000n }).where('id', '=', id).execute()
  expect(await needs()).toMatchObject({ storesAtLimit: 0 })
})

test('an account counts for a day after it took items back, unless an operator trusts it again before', async () => {
  await payFor(till, bot, await aDeposit(till, await aStore(till)))
  const { id: tradeId, steamId } = await till.db
    .selectFrom('trade')
    .select(['id', 'partner_steam_id as steamId'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  const takeBack = async (hoursAgo: number) =>
    putOnRelease(till.db, { steamId, tradeId, at: new Date(till.clock.now().getTime() - hoursAgo * HOUR_MS) })
  await takeBack(25)
  expect(await needs()).toMatchObject({ shoppersTookBack: 0 })
  await takeBack(23)
  expect(await needs()).toMatchObject({ shoppersTookBack: 1 })
  await inTransaction(till.db, (tx) => endOnRelease(tx, steamId))
  expect(await needs()).toMatchObject({ shoppersTookBack: 0 })
})

test('a departure counts until it is explained or called off, or its items are back', async () => {
  const id = await aDeparture(till.db, bot.bot.botId)
  const change = (values: { stage: Stage } | { explanation: 'operator' }) =>
    till.db.updateTable('departure').set(values).where('id', '=', id).execute()
  for (const stage of ['gone', 'under_way'] as const) {
    await change({ stage })
    expect(await needs()).toMatchObject({ departuresUnexplained: 1 })
  }
  for (const stage of ['called_off', 'returned'] as const) {
    await change({ stage })
    expect(await needs()).toMatchObject({ departuresUnexplained: 0 })
  }
  await change({ stage: 'gone' })
  await change({ explanation: 'operator' })
  expect(await needs()).toMatchObject({ departuresUnexplained: 0 })
})

test('an active bot counts if it has no session or its process has died', async () => {
  const set = (values: { online: boolean; lease_until: Date }) =>
    till.db.updateTable('bot').set(values).where('id', '=', bot.bot.botId).execute()
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000)
  await set({ online: false, lease_until: inHours(1) })
  expect(await needs()).toMatchObject({ botsUnheld: 1 })
  // A killed process leaves the bot marked as online; only its lease ends.
  await set({ online: true, lease_until: inHours(-1) })
  expect(await needs()).toMatchObject({ botsUnheld: 1 })
  await set({ online: true, lease_until: inHours(1) })
  expect(await needs()).toMatchObject({ botsUnheld: 0 })
})

test('a missing item does not count before its absence is certain', async () => {
  await payFor(till, bot, await aDeposit(till, await aStore(till), { game: 'dota' }))
  const { trade_id, asset_id } = await till.db.selectFrom('trade_item').selectAll().executeTakeFirstOrThrow()
  const recordMissing = (isSure: boolean) =>
    sql`
    insert into custody_drift (bot_id, kind, app_id, trade_id, given_asset_id, market_hash_name, first_seen_at, seen_at, looks, is_sure)
    values (${bot.bot.botId}, 'missing', 570, ${trade_id}, ${asset_id}, 'Hook', now(), now(), 1, ${isSure})`.execute(
      till.db,
    )
  await recordMissing(false)
  expect(await needs()).toMatchObject({ itemsMissing: 0 })
  await recordMissing(true)
  expect(await needs()).toMatchObject({ itemsMissing: 1 })
})

test('a trade counts a day after it should have been settled, and an open trade counts a day after its send began', async () => {
  await payFor(till, bot, await aDeposit(till, await aStore(till), { game: 'cs' }))
  const held = till.db.selectFrom('trade').select('id').where('state', '=', 'held')
  const { id } = await held.executeTakeFirstOrThrow()
  const ago = (hours: number) => sql<Date>`till_now() - make_interval(hours => ${hours})`
  const set = (values: object) => till.db.updateTable('trade').set(values).where('id', '=', id).execute()
  await set({ settles_at: ago(23), due_at: ago(-1) })
  expect(await needs()).toMatchObject({ tradesOverdue: 0 })
  await set({ settles_at: ago(25) })
  expect(await needs()).toMatchObject({ tradesOverdue: 1 })
  const open = { state: 'active', delivered_at: null, settles_at: null, look_at: null }
  await set({ ...open, send_started_at: ago(23) })
  expect(await needs()).toMatchObject({ tradesOverdue: 0 })
  await set({ send_started_at: ago(25) })
  expect(await needs()).toMatchObject({ tradesOverdue: 1 })
  await set({ due_at: null })
})

test('an endpoint counts once a webhook to it has failed five times, unless its store has disabled it', async () => {
  const receiver = await startReceiver()
  receiver.answers.push(...Array.from({ length: 20 }, () => status(500)))
  const store = await aStore(till, { webhookUrl: receiver.url })
  await payFor(till, bot, await aDeposit(till, store, { game: 'dota' }))
  await publishEvents(till.deps)
  const { id } = await till.db
    .selectFrom('webhook_endpoint')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  await sendDue(senderDeps(till), id)
  expect(await needs()).toMatchObject({ endpointsFailing: 0 })
  await till.db.updateTable('webhook_delivery').set({ attempts: 5 }).where('endpoint_id', '=', id).execute()
  expect(await needs()).toMatchObject({ endpointsFailing: 1 })
  const disabled = { state: 'disabled', disabled_reason: 'by_store' } as const
  await till.db.updateTable('webhook_endpoint').set(disabled).where('id', '=', id).execute()
  expect(await needs()).toMatchObject({ endpointsFailing: 0 })
  await receiver.close()
})

test('a problem that the vault reports counts until the vault no longer reports it', async () => {
  await aVaultNeed(till.db)
  expect(await needs()).toMatchObject({ vaultNeeds: 1 })
  await till.db.deleteFrom('vault_need').execute()
  expect(await needs()).toMatchObject({ vaultNeeds: 0 })
})

// The alerts have copies of these times, because most commands do not load the rules of trades.
test('IN_VAIN_MS equals RELEASE_AFTER_MS, and ASK_AGAIN_MS is a minute longer than the longest pause', () => {
  const now = new Date()
  const nextLookAt = nextAsk(new Date(now.getTime() - IN_VAIN_MS), now)
  expect(nextLookAt.getTime() - now.getTime()).toBe(ASK_AGAIN_MS - 60_000)
  expect(RELEASE_AFTER_MS).toBe(IN_VAIN_MS)
})
