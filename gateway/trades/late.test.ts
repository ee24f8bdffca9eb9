import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { balancesOf } from '../ledger/store.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'
import { cancelDeposit } from './cancellation.ts'
import { reportOverdue, sweepTrades } from './jobs.ts'
import { createTradeStore } from './postgres-store.ts'
import { requestTrade } from './request.ts'

let till: Till
let store: { id: bigint }
let bot: BotContext
let session: FakeSession

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till, { riskLimitUsdCents: 100_000n })
  ;({ bot, session } = await aBot(till))
})
afterEach(() => till.close())

type Deposit = Awaited<ReturnType<typeof aDeposit>>

const trades = () => till.db.selectFrom('trade').selectAll().orderBy('id').execute()

const tradeOf = async (deposit: Deposit) => {
  const row = (await trades()).filter((trade) => trade.deposit_id === deposit.id).at(-1)
  if (row === undefined) throw new Error('the deposit has no trade')
  return row
}

/** Lets the bot do the work that is due on its trades. */
async function work(): Promise<void> {
  for (const { id, due_at: dueAt } of await trades()) {
    if (dueAt !== null && dueAt <= till.clock.now()) await tradeHandlers(till.deps).trade(bot, id)
  }
}

const watch = () => tradeHandlers(till.deps).watch(bot)

/** Requests the trade and lets the bot send it, without waiting for the answer to the request. */
async function requestAndSend(deposit: Deposit) {
  const before = (await trades()).length
  const answer = requestTrade(till.deps, deposit.body)
  // If no offer follows, the call still waits when the till closes.
  answer.catch(() => undefined)
  await expect.poll(trades).toHaveLength(before + 1)
  await work()
  return { answer }
}

const offer = (id: string) => {
  const offer = session.offers.get(id)
  if (offer === undefined) throw new Error(`Steam has no offer ${id}`)
  return offer
}

const depositOf = ({ id }: Deposit) =>
  till.db.selectFrom('deposit').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

const eventTypes = async () =>
  (await till.db.selectFrom('event').select('type').orderBy('inserted').execute()).map((row) => row.type)

const available = async () => (await balancesOf(till.db, store.id))[0]?.available ?? 0n

/** Starts a trade that is abandoned, because its offer cannot be found. */
async function abandon(deposit: Deposit) {
  session.sends.push({ answer: 'unknown' })
  const { answer } = await requestAndSend(deposit)
  for (const ms of [5_000, 15_000, 25_000]) {
    till.clock.advance(ms)
    await work()
  }
  expect((await tradeOf(deposit)).state).toBe('abandoned')
  await answer
}

/** Makes an offer with the code of the deposit's latest trade appear on Steam. */
async function appearOnSteam(deposit: Deposit, offerId = '70') {
  const trade = await tradeOf(deposit)
  session.offers.set(offerId, {
    offerId,
    partnerSteamId: trade.partner_steam_id,
    message: trade.secret_code,
    state: 'active',
    tradeId: null,
    itemsToReceive: deposit.body.items.map((assetId) => ({ appId: 570, contextId: '2', assetId })),
    itemsToGive: [],
    createdAt: till.clock.now(),
    escrowEndsAt: null,
    delaysSettlement: false,
    settlesAt: null,
  })
}

describe('an offer whose trade has ended', () => {
  it('D-25 is cancelled if it appears later', async () => {
    const deposit = await aDeposit(till, store)
    await abandon(deposit)
    await appearOnSteam(deposit)
    till.clock.advance(60_000)
    await work()
    expect(offer('70').state).toBe('cancelled')
    expect((await tradeOf(deposit)).state).toBe('abandoned')
    expect(await available()).toBe(0n)
  })

  it('D-25 is credited if it was accepted', async () => {
    const deposit = await aDeposit(till, store)
    await abandon(deposit)
    await appearOnSteam(deposit)
    session.accept('70')
    till.clock.advance(60_000)
    await work()
    expect(await depositOf(deposit)).toMatchObject({ status: 'succeeded', credited_amount: 3_000n })
    expect(await tradeOf(deposit)).toMatchObject({ state: 'final', steam_offer_id: '70' })
    expect(await eventTypes()).toEqual(['deposit.succeeded'])
    expect(await available()).toBe(3_000n)
  })

  it.each(['accepted before it was listed', 'accepted before the cancel'])(
    'D-25 D-8 %s is credited, and held until the end of protection that it states',
    async (how) => {
      const deposit = await aDeposit(till, store)
      await abandon(deposit)
      await appearOnSteam(deposit)
      const settlesAt = new Date(till.clock.now().getTime() + 7 * 86_400_000)
      const accept = () => {
        session.accept('70')
        session.offers.set('70', { ...offer('70'), delaysSettlement: true, settlesAt })
      }
      if (how === 'accepted before it was listed') accept()
      else session.beforeCancel = accept
      till.clock.advance(60_000)
      await work()
      expect((await depositOf(deposit)).status).toBe('succeeded')
      expect(await tradeOf(deposit)).toMatchObject({ state: 'held', settles_at: settlesAt })
    },
  )

  it.each(['declined', 'cancelled', 'expired'] as const)(
    'D-6 that ended as %s is credited by a proof of delivery 21 hours later',
    async (state) => {
      const deposit = await aDeposit(till, store)
      await requestAndSend(deposit)
      session.offers.set('1', { ...offer('1'), state })
      await watch()
      expect((await depositOf(deposit)).status).not.toBe('pending')
      till.clock.advance(3_600_000)
      await work()
      session.accept('1')
      till.clock.advance(20 * 3_600_000)
      await work()
      expect((await depositOf(deposit)).status).toBe('succeeded')
      expect(await available()).toBe(3_000n)
      expect((await eventTypes()).at(-1)).toBe('deposit.succeeded')
    },
  )

  it('D-6 is cancelled if Steam reports it as active again', async () => {
    const deposit = await aDeposit(till, store)
    await requestAndSend(deposit)
    session.offers.set('1', { ...offer('1'), state: 'declined' })
    await watch()
    session.offers.set('1', { ...offer('1'), state: 'active' })
    till.clock.advance(60_000)
    await work()
    expect(offer('1').state).toBe('cancelled')
  })

  it('is no longer read after a day', async () => {
    const deposit = await aDeposit(till, store)
    await requestAndSend(deposit)
    session.offers.set('1', { ...offer('1'), state: 'declined' })
    await watch()
    for (const ms of [60_000, 600_000, 3_600_000, 21_600_000, 86_400_000]) {
      till.clock.advance(ms)
      await work()
    }
    expect((await tradeOf(deposit)).due_at).toBeNull()
  })

  it('is read after a day if Steam has not answered before', async () => {
    const deposit = await aDeposit(till, store)
    await requestAndSend(deposit)
    session.offers.set('1', { ...offer('1'), state: 'declined' })
    await watch()
    session.isDown = true
    till.clock.advance(86_400_000)
    await work()
    session.isDown = false
    session.accept('1')
    till.clock.advance(3_600_000)
    await work()
    expect((await depositOf(deposit)).status).toBe('succeeded')
  })
})

describe('two trades of one deposit', () => {
  it('D-25 the offer of one trade is cancelled when the other trade is delivered after all', async () => {
    const deposit = await aDeposit(till, store)
    await abandon(deposit)
    const first = await tradeOf(deposit)
    await requestAndSend(deposit)
    const [secondOfferId] = [...session.offers.keys()]
    await appearOnSteam(deposit)
    session.offers.set('70', { ...offer('70'), message: first.secret_code })
    session.accept('70')
    await watch()
    expect(await depositOf(deposit)).toMatchObject({ status: 'succeeded', credited_amount: 3_000n })
    await work()
    expect(offer(secondOfferId ?? '').state).toBe('cancelled')
    expect((await trades()).map((trade) => trade.state)).toEqual(['final', 'timed_out'])
    expect(await available()).toBe(3_000n)
  })

  it('keep the reason of a cancel that began before the other trade’s delivery', async () => {
    const deposit = await aDeposit(till, store)
    await abandon(deposit)
    const first = await tradeOf(deposit)
    await requestAndSend(deposit)
    await cancelDeposit(till.deps, store.id, deposit.id)
    await appearOnSteam(deposit)
    session.offers.set('70', { ...offer('70'), message: first.secret_code })
    session.accept('70')
    till.clock.advance(60_000)
    await tradeHandlers(till.deps).trade(bot, first.id)
    expect(await tradeOf(deposit)).toMatchObject({ state: 'active', cancelling: 'store' })
    await work()
    expect(await tradeOf(deposit)).toMatchObject({ state: 'timed_out', reason: 'cancelled_by_store' })
    expect((await depositOf(deposit)).status).toBe('succeeded')
  })

  it('are both credited if the shopper gave the items of both trades', async () => {
    const deposit = await aDeposit(till, store, { prices: [1_000n, 2_000n] })
    const [one = '', other = ''] = deposit.body.items
    const first = { ...deposit, body: { ...deposit.body, items: [one] } }
    await abandon(first)
    await appearOnSteam(first)
    const code = (await tradeOf(deposit)).secret_code
    await requestAndSend({ ...deposit, body: { ...deposit.body, items: [other] } })
    const secondOfferId = [...session.offers.keys()].find((id) => id !== '70') ?? ''
    session.offers.set('70', { ...offer('70'), message: code })
    session.accept(secondOfferId)
    await watch()
    expect(await depositOf(deposit)).toMatchObject({ status: 'succeeded', credited_amount: 2_000n })
    session.accept('70')
    till.clock.advance(60_000)
    await work()
    expect(await depositOf(deposit)).toMatchObject({ status: 'succeeded', credited_amount: 3_000n })
    expect(await available()).toBe(3_000n)
    expect(await eventTypes()).toEqual(['deposit.pending', 'deposit.succeeded', 'deposit.amount_increased'])
  })
})

describe('a second offer with the code of a trade', () => {
  it('is cancelled', async () => {
    const deposit = await aDeposit(till, store)
    await requestAndSend(deposit)
    await appearOnSteam(deposit, '71')
    await watch()
    expect([offer('1').state, offer('71').state]).toEqual(['active', 'cancelled'])
  })

  it('is credited if it was accepted, even though the first offer is then invalid', async () => {
    const deposit = await aDeposit(till, store)
    await requestAndSend(deposit)
    await appearOnSteam(deposit, '71')
    session.accept('71')
    await watch()
    session.offers.set('1', { ...offer('1'), state: 'invalid_items' })
    await watch()
    expect(await tradeOf(deposit)).toMatchObject({ state: 'final', steam_offer_id: '71' })
    expect((await depositOf(deposit)).status).toBe('succeeded')
    expect(await available()).toBe(3_000n)
  })
})

describe('a send without an answer', () => {
  it('stays unknown after a list that could not be read completely', async () => {
    const deposit = await aDeposit(till, store)
    session.sends.push({ answer: 'unknown' })
    session.unreadable = [{ offerId: '70', partnerSteamId: null, message: null }]
    await requestAndSend(deposit)
    for (let look = 0; look < 20; look += 1) {
      till.clock.advance(15_000)
      await work()
    }
    expect(await tradeOf(deposit)).toMatchObject({ state: 'unknown', missed_reads: 0 })
  })
})

describe('a trade that Steam undid before it was proved', () => {
  it.each(['failed', 'rolled_back'] as const)('is ended after two reads that say %s', async (state) => {
    const deposit = await aDeposit(till, store)
    await requestAndSend(deposit)
    session.accept('1')
    const steamTrade = session.trades.get('9001')
    if (steamTrade?.kind !== 'trade') throw new Error('Steam has no such trade')
    session.trades.set('9001', { kind: 'trade', trade: { ...steamTrade.trade, state } })
    await watch()
    expect((await depositOf(deposit)).status).toBe('pending')
    till.clock.advance(11_000)
    await work()
    expect((await depositOf(deposit)).status).toBe('tradeHasInvalidItems')
    expect(await available()).toBe(0n)
  })
})

describe('a bot that is gone', () => {
  it('leaves an intent, which is refused after a minute, and the shopper may try again', async () => {
    const deposit = await aDeposit(till, store)
    const answer = requestTrade(till.deps, deposit.body)
    await expect.poll(trades).toHaveLength(1)
    till.clock.advance(59_999)
    await sweepTrades(till.deps)
    expect((await tradeOf(deposit)).state).toBe('intended')
    till.clock.advance(1)
    await sweepTrades(till.deps)
    expect(await answer).toEqual({ kind: 'refused', code: 'no_bot_available' })
    await requestAndSend(deposit)
    expect((await depositOf(deposit)).status).toBe('pending')
  })

  it('and returns too late for an intent does not send its offer', async () => {
    const deposit = await aDeposit(till, store)
    const answer = requestTrade(till.deps, deposit.body)
    await expect.poll(trades).toHaveLength(1)
    till.clock.advance(60_000)
    await work()
    expect(await answer).toEqual({ kind: 'refused', code: 'no_bot_available' })
    expect(session.offers.size).toBe(0)
  })

  it('is logged with the number of trades that wait for it', async () => {
    const deposit = await aDeposit(till, store)
    await requestAndSend(deposit)
    await till.db
      .updateTable('bot')
      .set({ online: false, state: 'dead', state_reason: 'token_dead' })
      .execute()
    till.clock.advance(5 * 60_000)
    await sweepTrades(till.deps)
    await reportOverdue(till.deps)
    const line = till.lines.find((each) => each.includes('trades wait for a bot that is offline'))
    expect(JSON.parse(line ?? '{}')).toMatchObject({ botId: String(bot.botId), trades: 1 })
  })
})

describe('a lease that runs out', () => {
  it('between the record of a send and the send prevents the send, and the intent stays', async () => {
    const deposit = await aDeposit(till, store)
    let checks = 0
    bot = { ...bot, mayWrite: () => ++checks === 1 }
    await requestAndSend(deposit)
    expect(session.offers.size).toBe(0)
    expect(await tradeOf(deposit)).toMatchObject({ state: 'intended', send_started_at: null })
  })

  it('during the send leaves an offer that is cancelled', async () => {
    const deposit = await aDeposit(till, store)
    session.afterSend = async () => {
      await till.db.updateTable('bot').set({ lease_epoch: 2n }).execute()
    }
    await requestAndSend(deposit)
    expect((await tradeOf(deposit)).state).toBe('sending')
    expect(offer('1').state).toBe('cancelled')
  })
})

describe('the sweep', () => {
  it('gives every due trade its turn, and continues after a trade whose bot it cannot wake', async () => {
    const first = await aDeposit(till, store)
    const second = await aDeposit(till, store)
    for (const deposit of [first, second]) {
      const before = (await trades()).length
      // No bot sends the offer, so the shopper's call still waits when the till closes.
      requestTrade(till.deps, deposit.body).catch(() => undefined)
      await expect.poll(trades).toHaveLength(before + 1)
    }
    const woken: string[] = []
    const failing = {
      ...till.deps.queue,
      send: async (_tx: unknown, { data }: { data: object }) => {
        woken.push(JSON.stringify(data))
        if (woken.length === 1) throw new Error('the queue is out of order')
      },
    }
    const deps = { ...till.deps, trades: createTradeStore({ ...till.deps, queue: failing }) }
    await sweepTrades(deps)
    expect(new Set(woken).size).toBe(2)
    await sweepTrades(deps)
    expect(woken).toHaveLength(2)
    till.clock.advance(30_000)
    await sweepTrades(deps)
    expect(woken).toHaveLength(4)
  })
})
