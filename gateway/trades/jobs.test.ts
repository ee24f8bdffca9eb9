import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { offerFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'
import { sweepFarTrades, sweepTrades } from './jobs.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const TWO_DAYS_MS = 48 * HOUR_MS

let till: Till

beforeEach(async () => {
  till = await startTill()
})
afterEach(() => till.close())

it('the sweep logs no refusal of an intent that a bot took up after the sweep had read it', async () => {
  const { bot } = await aBot(till)
  const deposit = await aDeposit(till, await aStore(till))
  const { tradeId } = await offerFor(till, bot, deposit)
  const { botId } = bot
  const staleIntents = async () => [{ id: tradeId, depositId: deposit.id, botId }]
  await sweepTrades({ ...till.deps, trades: { ...till.deps.trades, staleIntents } })
  expect(till.lines.filter((line) => line.includes('trade was refused'))).toEqual([])
})

describe('a trade of a time when the clock was two days ahead', () => {
  let bot: BotContext
  let session: FakeSession
  let tradeId: bigint

  /** Sends an offer while the clock is ahead. */
  beforeEach(async () => {
    ;({ bot, session } = await aBot(till))
    const store = await aStore(till)
    till.clock.advance(TWO_DAYS_MS)
    ;({ tradeId } = await offerFor(till, bot, await aDeposit(till, store)))
  })

  const tradeRow = () =>
    till.db.selectFrom('trade').selectAll().where('id', '=', tradeId).executeTakeFirstOrThrow()
  const setBack = () => till.clock.advance(-TWO_DAYS_MS)
  const work = () => tradeHandlers(till.deps).trade(bot, tradeId)
  const pass = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      till.clock.advance(MINUTE_MS)
      await work()
    }
  }

  it('is cancelled if the shopper does not accept within five minutes after the clock is right again', async () => {
    setBack()
    await sweepFarTrades(till.deps)
    await pass(4)
    expect(session.offers.get('1')?.state).toBe('active')
    await pass(2)
    expect(session.offers.get('1')?.state).toBe('cancelled')
    expect(till.lines.filter((line) => line.includes('times of trades lay far ahead'))).toHaveLength(1)
  })

  it('is searched for on Steam if its process ended during the send', async () => {
    const lost = { state: 'sending', steam_offer_id: null, deadline: null } as const
    await till.db.updateTable('trade').set(lost).execute()
    setBack()
    await sweepFarTrades(till.deps)
    expect(await tradeRow()).toMatchObject({
      send_started_at: till.clock.now(),
      deadline: null,
      ended_at: null,
    })
    await pass(1)
    expect(await tradeRow()).toMatchObject({ state: 'active', steam_offer_id: '1' })
  })

  it('counts as ended now if the shopper declined it, so its review and the shopper’s pause are not late', async () => {
    session.offers.set('1', { ...offerNow(), state: 'declined' })
    await work()
    setBack()
    const now = till.clock.now()
    await sweepFarTrades(till.deps)
    expect(await tradeRow()).toMatchObject({ state: 'declined', ended_at: now, due_at: now })
  })

  it('keeps times that are not far ahead, even if the sweep runs in a gateway whose own clock is two days behind', async () => {
    setBack()
    const startedAt = new Date(till.clock.now().getTime() + HOUR_MS)
    const deadline = new Date(startedAt.getTime() + 5 * MINUTE_MS)
    const times = { created_at: startedAt, send_started_at: startedAt, deadline, due_at: deadline }
    await till.db.updateTable('trade').set(times).execute()
    await sweepFarTrades(till.deps)
    setBack()
    await sweepFarTrades(till.deps)
    expect(await tradeRow()).toMatchObject(times)
  })

  function offerNow() {
    const offer = session.offers.get('1')
    if (offer === undefined) throw new Error('no offer was sent')
    return offer
  }
})
