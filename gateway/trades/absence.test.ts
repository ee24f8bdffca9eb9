/** A bot returns after an absence to all the work that became due meanwhile, on the real queue. */
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { startWork } from '../bots/work.ts'
import type { SteamTradeAnswer } from '../steam/steam.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, jump, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'
import { sweepTrades } from './jobs.ts'
import { requestTrade } from './request.ts'

const TWO_DAYS_S = 2 * 86_400
/** More jobs than a bot takes from the queue at a time. */
const DUE_TRADES = 150

let till: Till
let bot: BotContext
let session: FakeSession
let stopWork: () => Promise<void>
const slowAnswer = Promise.withResolvers<SteamTradeAnswer>()

beforeEach(async () => {
  till = await startTill()
  ;({ bot, session } = await aBot(till))
  stopWork = async () => {}
})
afterEach(async () => {
  slowAnswer.resolve({ kind: 'missing' })
  await stopWork()
  await till.close()
})

/** Creates deliveries whose protection ends while the bot is away: one, and copies of its rows. */
async function createDeliveries(store: { id: bigint }): Promise<void> {
  await payFor(till, { bot, session }, await aDeposit(till, store, { game: 'cs' }))
  const settled = new Date(till.clock.now().getTime() + 1_000)
  await till.db.updateTable('trade').set({ settles_at: settled, due_at: settled }).execute()
  const copies = sql`generate_series(1000000, ${1_000_000 + DUE_TRADES - 2}) n`
  await sql`
    insert into deposit overriding system value
    select (jsonb_populate_record(deposit, jsonb_build_object(
      'id', id + n, 'hash', md5(n::text), 'external_id', 'old ' || n))).*
    from deposit, ${copies}`.execute(till.db)
  await sql`
    insert into trade overriding system value
    select (jsonb_populate_record(trade, jsonb_build_object(
      'id', id + n, 'deposit_id', deposit_id + n, 'secret_code', 'OLD' || n,
      'steam_offer_id', n, 'steam_trade_id', n))).*
    from trade, ${copies}`.execute(till.db)
}

it('after two days of absence, a new trade’s offer does not wait for Steam’s answers about old trades', async () => {
  const store = await aStore(till, { riskLimitUsdCents: 100_000n })
  await createDeliveries(store)
  await jump(till, TWO_DAYS_S)
  await till.db
    .updateTable('bot')
    .set({ lease_until: new Date(Date.now() + 3_600_000) })
    .execute()
  session.calls.length = 0
  session.readSteamTrade = (id) => {
    session.calls.push(`status ${id}`)
    return slowAnswer.promise
  }
  await sweepTrades(till.deps)
  const { queue, log } = till.deps
  const handlers = { ...tradeHandlers(till.deps), inventory: async () => {}, drift: async () => {} }
  stopWork = await startWork({ queue, handlers, log, watchMs: 3_600_000 }, bot)
  const callKinds = () =>
    session.calls.filter((call) => /^(status|send)/.test(call)).map((call) => call.split(' ')[0])
  await expect.poll(callKinds).toEqual(['status', 'status'])

  const deposit = await aDeposit(till, store)
  expect(await requestTrade(till.deps, deposit.body)).toEqual({ kind: 'active' })
  expect(callKinds()).toEqual(['status', 'status', 'send'])
})
