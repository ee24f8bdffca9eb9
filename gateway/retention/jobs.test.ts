import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { actOnBot } from '../bots/operator.ts'
import { viewReader } from '../deposits/shopper-view.ts'
import { publishEvents } from '../events/service.ts'
import { readEvents } from '../events/store.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { offerFor, payFor } from '../testing/payment.ts'
import {
  aBot,
  aDeposit,
  anEndpoint,
  aStore,
  jump,
  PROTECTION_DAYS,
  startTill,
  type Till,
} from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { expireDeposit } from '../trades/expiry.ts'
import { sweepTrades } from '../trades/jobs.ts'
import { sweepOldData } from './jobs.ts'
import { KEEP_SETTINGS, keepOf } from './settings.ts'
import { eraseTokens } from './store.ts'

const DAY_S = 86_400
/** The default periods. */
const KEEP = keepOf({
  TRADETILL_KEEP_ATTEMPTS_DAYS: KEEP_SETTINGS.TRADETILL_KEEP_ATTEMPTS_DAYS.parse(undefined),
  TRADETILL_KEEP_DELIVERIES_DAYS: KEEP_SETTINGS.TRADETILL_KEEP_DELIVERIES_DAYS.parse(undefined),
  TRADETILL_KEEP_INVENTORIES_HOURS: KEEP_SETTINGS.TRADETILL_KEEP_INVENTORIES_HOURS.parse(undefined),
  TRADETILL_KEEP_TOKENS_DAYS: KEEP_SETTINGS.TRADETILL_KEEP_TOKENS_DAYS.parse(undefined),
  TRADETILL_KEEP_PAGES_DAYS: KEEP_SETTINGS.TRADETILL_KEEP_PAGES_DAYS.parse(undefined),
})

let till: Till
let store: { id: bigint }
let bot: BotContext
let session: FakeSession

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till)
  ;({ bot, session } = await aBot(till))
})
afterEach(() => till.close())

const sweep = () => sweepOldData({ ...till.deps, keep: KEEP })

/** Resolves to whether the deposit, then each of its trades, still has a token. */
async function haveTokens(depositId: bigint): Promise<boolean[]> {
  const deposit = await till.db
    .selectFrom('deposit')
    .select('user_token_sealed')
    .where('id', '=', depositId)
    .executeTakeFirstOrThrow()
  const trades = await till.db
    .selectFrom('trade')
    .select('partner_token_sealed')
    .where('deposit_id', '=', depositId)
    .orderBy('id')
    .execute()
  return [deposit.user_token_sealed, ...trades.map((trade) => trade.partner_token_sealed)].map(
    (token) => token !== null,
  )
}

/** Lets the bot do what is due for the deposit's trades. */
async function runTradeJobs(depositId: bigint): Promise<void> {
  const trades = await till.db
    .selectFrom('trade')
    .select('id')
    .where('deposit_id', '=', depositId)
    .orderBy('id')
    .execute()
  for (const { id } of trades) await tradeHandlers(till.deps).trade(bot, id)
}

describe('D-35 a trade token', () => {
  it('is erased a day after the last check of a protected delivery, and no earlier', async () => {
    const deposit = await aDeposit(till, store, { game: 'cs' })
    await payFor(till, { bot, session }, deposit)
    await jump(till, (PROTECTION_DAYS - 1) * DAY_S)
    await sweep()
    expect(await haveTokens(deposit.id)).toEqual([true, true])
    await jump(till, 2 * DAY_S)
    await runTradeJobs(deposit.id)
    await sweep()
    // The credit was just released. The delivery is checked once more within a day.
    expect(await haveTokens(deposit.id)).toEqual([true, true])
    await jump(till, DAY_S)
    await runTradeJobs(deposit.id)
    await sweep()
    expect(await haveTokens(deposit.id)).toEqual([true, true])
    await jump(till, DAY_S + 1)
    await sweep()
    expect(await haveTokens(deposit.id)).toEqual([false, false])
  })

  it('is erased a day after the last review of an offer that was declined', async () => {
    const deposit = await aDeposit(till, store)
    const { offerId } = await offerFor(till, bot, deposit)
    const offer = session.offers.get(offerId)
    if (offer !== undefined) session.offers.set(offerId, { ...offer, state: 'declined' })
    await runTradeJobs(deposit.id)
    await jump(till, DAY_S + 60)
    await sweep()
    expect(await haveTokens(deposit.id)).toEqual([true, true])
    await runTradeJobs(deposit.id)
    await jump(till, DAY_S)
    await sweep()
    expect(await haveTokens(deposit.id)).toEqual([false, false])
  })

  it('is kept while its delivery is protected, and a sweep does not examine the deposit twice', async () => {
    const deposit = await aDeposit(till, store, { game: 'cs' })
    await payFor(till, { bot, session }, deposit)
    // With microseconds, which a Date would cut off.
    await sql`update deposit set expires_at = '2020-01-01 00:00:00.123456Z' where id = ${deposit.id}`.execute(
      till.db,
    )
    const now = till.clock.now()
    const batch = { before: now, endedBefore: now, now, limit: 1 }
    const place = await eraseTokens(till.db, { ...batch, after: { expiresAt: '-infinity', id: 0n } })
    expect(place).toMatchObject({ id: deposit.id })
    expect(await haveTokens(deposit.id)).toEqual([true, true])
    if (place === undefined) return
    expect(await eraseTokens(till.db, { ...batch, after: place })).toBeUndefined()
  })

  it('is erased 15 days after a look at the delivery that its retired bot no longer makes', async () => {
    const deposit = await aDeposit(till, store)
    await payFor(till, { bot, session }, deposit)
    await actOnBot(till.db, String(bot.botId), 'retire')
    await sweepTrades(till.deps)
    // The bot may be enrolled again, and would then look.
    await jump(till, 14 * DAY_S)
    await sweep()
    expect(await haveTokens(deposit.id)).toEqual([true, true])
    await jump(till, 2 * DAY_S)
    await sweep()
    expect(await haveTokens(deposit.id)).toEqual([false, false])
  })

  it('is kept while an offer is open', async () => {
    const deposit = await aDeposit(till, store)
    await offerFor(till, bot, deposit)
    await jump(till, 40 * DAY_S)
    await sweep()
    expect(await haveTokens(deposit.id)).toEqual([true, true])
  })

  it('is erased a day after a deposit ended without any trade', async () => {
    const deposit = await aDeposit(till, store)
    await jump(till, DAY_S)
    await expireDeposit(till.deps, deposit.id)
    await sweep()
    expect(await haveTokens(deposit.id)).toEqual([true])
    await jump(till, DAY_S)
    await sweep()
    expect(await haveTokens(deposit.id)).toEqual([false])
  })
})

it('D-35 after 30 days the page of an ended deposit shows how it ended, but not who paid', async () => {
  const deposit = await aDeposit(till, store)
  const fixed = { min_amount: 3_000n, max_amount: 3_000n, target_amount: 3_000n }
  await till.db.updateTable('deposit').set(fixed).execute()
  await payFor(till, { bot, session }, deposit)
  const view = async () => (await viewReader(till.db, 'https://steam.test')([deposit.hash])).get(deposit.hash)
  await jump(till, 30 * DAY_S)
  await sweep()
  expect((await view())?.payment).toMatchObject({
    status: 'succeeded',
    amount: 3_000,
    user: { name: 'nova_hound' },
    bot: { name: 'Tradetill Bot' },
  })
  await jump(till, DAY_S)
  const shown = (await view())?.payment
  expect(shown).toMatchObject({ status: 'succeeded', amount: null, user: null, bot: null })
  expect(shown).toMatchObject({ steamTradeMessage: null, steamTradeId: null, heldAmount: 0, itemCount: 0 })
  // No other field contains them either.
  expect(JSON.stringify(shown)).not.toMatch(/:3000[,}]|nova_hound|Tradetill Bot/)
  await sweep()
  const row = await till.db.selectFrom('deposit').selectAll().executeTakeFirstOrThrow()
  expect(row).toMatchObject({ user_name: null, user_avatar_url: null, user_profile_url: null })
  // The store's events and the books stay.
  expect(row).toMatchObject({ credited_amount: 3_000n, status: 'succeeded' })
})

describe('D-35 the retention of webhooks', () => {
  it('deletes attempts after 30 days and deliveries after 90, and keeps events readable by cursor', async () => {
    const endpoint = await anEndpoint(till, store, 'https://store.test/hook')
    await payFor(till, { bot, session }, await aDeposit(till, store))
    await publishEvents(till.deps)
    await till.db.updateTable('webhook_delivery').set({ state: 'delivered', due_at: null }).execute()
    const deliveries = () => till.db.selectFrom('webhook_delivery').select('id').orderBy('id').execute()
    const attempts = () => till.db.selectFrom('webhook_attempt').select('id').execute()
    const written = await deliveries()
    expect(written.length).toBeGreaterThan(1)
    const attemptOf = ({ id }: { id: bigint }) => ({
      delivery_id: id,
      endpoint_id: endpoint.id,
      attempt: 1,
      at: till.clock.now(),
      duration_ms: 5,
      status: 204,
    })
    await till.db.insertInto('webhook_attempt').values(written.map(attemptOf)).execute()
    const events = await readEvents(till.db, store.id, { after: 0, limit: 100 })

    await jump(till, 30 * DAY_S - 60)
    await sweep()
    expect(await attempts()).toHaveLength(written.length)
    await jump(till, 120)
    await sweep()
    expect(await attempts()).toEqual([])
    expect(await deliveries()).toEqual(written)

    // One delivery was just sent again by hand, and another waits for its store.
    await jump(till, 60 * DAY_S)
    const [resent, ...others] = written
    await till.db.insertInto('webhook_attempt').values(written.slice(0, 1).map(attemptOf)).execute()
    const waiting = others.slice(0, 1)
    for (const { id } of waiting) {
      await till.db.updateTable('webhook_delivery').set({ state: 'due' }).where('id', '=', id).execute()
    }
    await sweep()
    expect(await deliveries()).toEqual([resent, ...waiting])
    expect(await readEvents(till.db, store.id, { after: 0, limit: 100 })).toEqual(events)
  })
})
