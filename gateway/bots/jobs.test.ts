/** Times of bots that were written by a clock that was far ahead, and has been set back since. */
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import { plus } from '../kit/clock.ts'
import { fakeSession, steamTradeIdOf } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { sweepHistories } from '../trades/protection.ts'
import { barBot, listBars } from './bar-store.ts'
import type { BotContext } from './bot.ts'
import { mendFutureTimes } from './jobs.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

let till: Till

beforeEach(async () => {
  till = await startTill()
})
afterEach(() => till.close())

/** A bot with a delivery under protection, in a till whose clock is two days ahead. */
async function botAhead() {
  const known = await aBot(till)
  await payFor(till, known, await aDeposit(till, await aStore(till), { game: 'cs' }))
  till.clock.advance(2 * DAY_MS)
  return known
}

const setBack = () => till.clock.advance(-2 * DAY_MS)
const historyRow = () => till.db.selectFrom('bot_history').selectAll().executeTakeFirstOrThrow()

it('a history that was read while the clock was ahead is read again a minute later, far enough back', async () => {
  const { bot, session } = await botAhead()
  const { history } = tradeHandlers(till.deps)
  await sweepHistories(till.deps)
  await history(bot)
  setBack()
  session.takeBack(steamTradeIdOf('1'))
  await mendFutureTimes(till.deps)
  till.clock.advance(MINUTE_MS)
  const takenAt = till.clock.now()
  await sweepHistories(till.deps)
  expect(await historyRow()).toMatchObject({
    turned_at: takenAt,
    complete_at: new Date(takenAt.getTime() - MINUTE_MS - 30 * DAY_MS),
  })
  await history(bot)
  expect(await historyRow()).toMatchObject({ begun_at: null, complete_at: takenAt })
  expect((await till.db.selectFrom('trade').select('state').executeTakeFirstOrThrow()).state).toBe('reversed')
  expect(till.lines.filter((line) => line.includes('times of bots lay far ahead'))).toHaveLength(1)
})

it('a pass through a history that began while the clock was ahead begins again', async () => {
  const { bot } = await botAhead()
  const begun = { begunAt: till.clock.now(), after: { tradeId: '7', begunAt: new Date(0) }, knownUntil: null }
  await till.deps.trades.saveHistoryPass(bot.botId, { writer: bot, now: till.clock.now() }, begun)
  setBack()
  await mendFutureTimes(till.deps)
  expect(await till.deps.trades.historyOf(bot.botId)).toEqual({
    begunAt: null,
    after: null,
    knownUntil: null,
  })
})

it('a bar that began while the clock was ahead is ended, and one that began since goes on', async () => {
  const { bot } = await botAhead()
  const bar = (reason: 'own_hold' | 'inventory_full') =>
    inTransaction(till.db, (tx) =>
      barBot(tx, { botId: bot.botId, reason, game: 'cs', now: till.clock.now() }),
    )
  await bar('own_hold')
  setBack()
  await bar('inventory_full')
  await mendFutureTimes(till.deps)
  expect((await listBars(till.db)).map(({ reason }) => reason)).toEqual(['inventory_full'])
})

it('a bot whose login was put off while the clock was ahead may log in, and one that was put off since may not yet', async () => {
  const { bot: ahead } = await botAhead()
  const { bot: since } = await aBot(till, fakeSession('76561198000000002'))
  const putOff = ({ botId }: BotContext) => {
    const now = till.clock.now()
    const change = { token_refused_at: now, login_after: plus(now, 60 * MINUTE_MS) }
    return till.db.updateTable('bot').set(change).where('id', '=', botId).execute()
  }
  await putOff(ahead)
  setBack()
  await putOff(since)
  await mendFutureTimes(till.deps)
  const now = till.clock.now()
  const rows = await till.db
    .selectFrom('bot')
    .select(['token_refused_at', 'login_after'])
    .orderBy('id')
    .execute()
  expect(rows).toEqual([
    { token_refused_at: now, login_after: null },
    { token_refused_at: now, login_after: plus(now, 60 * MINUTE_MS) },
  ])
})

it('a gateway whose own clock is far behind changes no history', async () => {
  const { bot } = await botAhead()
  setBack()
  await sweepHistories(till.deps)
  await tradeHandlers(till.deps).history(bot)
  const before = await historyRow()
  setBack()
  await mendFutureTimes(till.deps)
  expect(await historyRow()).toEqual(before)
})

it('a lease that a killed process took while the database’s clock was ahead ends as soon as any other', async () => {
  const { bot } = await aBot(till)
  const { bot: other } = await aBot(till, fakeSession('76561198000000002'))
  const endIn = (botId: bigint, time: string) =>
    sql`update bot set lease_until = now() + ${time}::interval where id = ${botId}`.execute(till.db)
  await endIn(bot.botId, '2 hours')
  await endIn(other.botId, '10 seconds')
  await mendFutureTimes(till.deps)
  const { rows } = await sql<{ ends: string }>`
    select case when lease_until <= now() + interval '10 seconds' then 'as before'
      when lease_until <= now() + interval '25 seconds' then 'as after a renewal' else 'far ahead' end as ends
    from bot order by id`.execute(till.db)
  expect(rows.map(({ ends }) => ends)).toEqual(['as after a renewal', 'as before'])
})
