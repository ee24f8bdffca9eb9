import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tradeBodySchema } from '../../contract/widget-api.ts'
import type { BotContext } from '../bots/bot.ts'
import { MOST_BODY_BYTES } from '../http/json-body.ts'
import { balancesOf } from '../ledger/store.ts'
import type { Offer } from '../steam/steam.ts'
import { type FakeSession, fakeSession } from '../testing/fake-steam.ts'
import { aBot, aDeposit, aStore, PROTECTION_DAYS, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'
import { expireDeposit } from './expiry.ts'
import { sweepTrades } from './jobs.ts'
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

/** Lets the bot do the due work on every trade, as a job or the sweep would. */
async function work(): Promise<void> {
  const rows = await till.db.selectFrom('trade').select('id').orderBy('id').execute()
  for (const { id } of rows) await tradeHandlers(till.deps).trade(bot, id)
}

const watch = () => tradeHandlers(till.deps).watch(bot)

/** Asks for the trade and lets the bot work until the request is answered. */
async function request(body: Parameters<typeof requestTrade>[1]) {
  let isAnswered = false
  const answer = requestTrade(till.deps, body).finally(() => {
    isAnswered = true
  })
  const workUntilAnswered = async () => {
    await work()
    return isAnswered
  }
  await expect.poll(workUntilAnswered).toBe(true)
  return answer
}

const depositStatus = async (id: bigint) =>
  (await till.db.selectFrom('deposit').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status

const events = async () =>
  (await till.db.selectFrom('event').select('type').orderBy('inserted').execute()).map((row) => row.type)

const tradeRow = () => till.db.selectFrom('trade').selectAll().orderBy('id').executeTakeFirstOrThrow()

describe('asking for a trade', () => {
  it('D-25 a request makes one offer with the secret code as its message, and the deposit is pending', async () => {
    const deposit = await aDeposit(till, store)
    expect(await request(deposit.body)).toEqual({ kind: 'active' })
    const trade = await tradeRow()
    expect(session.calls.filter((call) => call.startsWith('send'))).toEqual([`send ${trade.secret_code}`])
    expect(await depositStatus(deposit.id)).toBe('pending')
    expect(await events()).toEqual(['deposit.pending'])
  })

  it('D-25 twenty parallel requests for the same items make one offer', async () => {
    const deposit = await aDeposit(till, store)
    const answers = Promise.all(Array.from({ length: 20 }, () => requestTrade(till.deps, deposit.body)))
    await expect.poll(() => till.db.selectFrom('trade').select('id').execute()).toHaveLength(1)
    await work()
    expect(new Set((await answers).map((answer) => answer.kind))).toEqual(new Set(['active']))
    expect(session.offers.size).toBe(1)
  })

  it('D-25 another set of items is refused while a trade is under way', async () => {
    const deposit = await aDeposit(till, store)
    await request(deposit.body)
    const otherBody = { ...deposit.body, items: deposit.body.items.slice(1) }
    expect(await requestTrade(till.deps, otherBody)).toEqual({ kind: 'refused', code: 'trade_in_progress' })
  })

  it('a refusal by Steam leaves the deposit open, and the shopper can try again', async () => {
    const deposit = await aDeposit(till, store)
    session.sends.push({ answer: 'refused' })
    const refused = { kind: 'refused', code: 'trade_refused', cause: 'link_expired' }
    expect(await request(deposit.body)).toEqual(refused)
    expect(await depositStatus(deposit.id)).toBe('created')
    expect(await request(deposit.body)).toEqual({ kind: 'active' })
  })

  it('an unknown deposit, a closed one and too many items are refused', async () => {
    const deposit = await aDeposit(till, store)
    const unknown = { ...deposit.body, hash: '0'.repeat(32) }
    expect(await requestTrade(till.deps, unknown)).toEqual({ kind: 'refused', code: 'deposit_not_found' })
    // The limit is 50 items, but a body can hold thousands.
    for (const length of [51, 4_000]) {
      const items = Array.from({ length }, (_, index) => `${40_000_000_000 + index}`)
      const many = tradeBodySchema.parse({ ...deposit.body, items })
      expect(JSON.stringify(many).length).toBeLessThan(MOST_BODY_BYTES)
      expect(await requestTrade(till.deps, many)).toEqual({ kind: 'refused', code: 'too_many_items' })
    }
    till.clock.advance(60 * 60_000)
    await expireDeposit(till.deps, deposit.id)
    expect(await requestTrade(till.deps, deposit.body)).toEqual({ kind: 'refused', code: 'deposit_closed' })
  })

  it('the server enforces the minimum sum of the game', async () => {
    // The minimum of Dota 2 is 1 USD.
    const deposit = await aDeposit(till, store, { prices: [99n] })
    expect(await requestTrade(till.deps, deposit.body)).toEqual({ kind: 'refused', code: 'below_minimum' })
  })
})

describe('an accepted offer', () => {
  it('A-017 is credited once, however many readers see it at the same time', async () => {
    const deposit = await aDeposit(till, store)
    await request(deposit.body)
    session.accept('1')
    await Promise.all(Array.from({ length: 10 }, () => watch()))
    await watch()
    expect(await depositStatus(deposit.id)).toBe('succeeded')
    expect(await balancesOf(till.db, store.id)).toEqual([{ currency: 'USD', held: 0n, available: 3_000n }])
    expect(await events()).toEqual(['deposit.pending', 'deposit.succeeded'])
    const entries = await till.db
      .selectFrom('ledger_entry')
      .select(['cause', 'amount'])
      .orderBy('id')
      .execute()
    expect(entries).toEqual([
      { cause: 'delivered', amount: 3_000n },
      { cause: 'commission', amount: 300n },
    ])
  })

  it('D-8 keeps its deposit pending, without a deadline, until Steam proves that the items moved', async () => {
    const deposit = await aDeposit(till, store)
    await request(deposit.body)
    session.accept('1', { isReceived: false })
    await watch()
    till.clock.advance(10 * 60_000)
    await work()
    expect(await depositStatus(deposit.id)).toBe('pending')
    session.accept('1')
    await work()
    expect(await depositStatus(deposit.id)).toBe('succeeded')
    expect(session.calls.filter((call) => call.startsWith('cancel'))).toEqual([])
  })

  it.each([
    ['10 minutes: every minute', 10, 60],
    ['two hours: every 5 minutes', 120, 300],
    ['two days: every hour', 2 * 24 * 60, 3_600],
  ])('is checked at its own pace (after %s), not at the sweep’s pace', async (_name, minutes, pauseS) => {
    const deposit = await aDeposit(till, store)
    await request(deposit.body)
    session.accept('1', { isReceived: false })
    await watch()
    till.clock.advance(minutes * 60_000)
    await sweepTrades(till.deps)
    await work()
    expect((await tradeRow()).due_at).toEqual(new Date(till.clock.now().getTime() + pauseS * 1_000))
  })

  it('D-9 under trade protection makes credit available up to the risk limit, and holds the rest until protection ends', async () => {
    await till.db.updateTable('store').set({ risk_limit_usd_cents: 2_500n }).execute()
    const first = await aDeposit(till, store, { game: 'cs' })
    await request(first.body)
    session.accept('1')
    await watch()
    expect(await balancesOf(till.db, store.id)).toEqual([{ currency: 'USD', held: 500n, available: 2_500n }])
    const second = await aDeposit(till, store, { game: 'cs' })
    await request(second.body)
    session.accept('2')
    await watch()
    expect(await balancesOf(till.db, store.id)).toEqual([
      { currency: 'USD', held: 3_500n, available: 2_500n },
    ])
    till.clock.advance(PROTECTION_DAYS * 86_400_000)
    await work()
    expect(await balancesOf(till.db, store.id)).toEqual([{ currency: 'USD', held: 0n, available: 6_000n }])
    expect((await events()).filter((type) => type === 'deposit.funds_available')).toHaveLength(2)
  })

  it('has ledger entries that cannot be changed and whose sums are the balances', async () => {
    const deposit = await aDeposit(till, store)
    await request(deposit.body)
    session.accept('1')
    await watch()
    await expect(till.db.updateTable('ledger_entry').set({ amount: 1n }).execute()).rejects.toThrow(
      'append-only',
    )
    await expect(till.db.deleteFrom('ledger_entry').execute()).rejects.toThrow('append-only')
    const accounts = await till.db.selectFrom('account').select(['id', 'balance']).execute()
    const entries = await till.db.selectFrom('ledger_entry').selectAll().execute()
    for (const { id, balance } of accounts) {
      const sum = entries.reduce((total, entry) => {
        const credit = entry.credit_account === id ? entry.amount : 0n
        return total + credit - (entry.debit_account === id ? entry.amount : 0n)
      }, 0n)
      expect(balance).toBe(sum)
    }
  })
})

describe('a send without an answer', () => {
  it('D-25 is not repeated, and the till finds its offer by the secret code', async () => {
    const deposit = await aDeposit(till, store)
    session.sends.push({ answer: 'unknown', createsOffer: true })
    const answer = requestTrade(till.deps, deposit.body)
    await expect.poll(() => till.db.selectFrom('trade').select('id').execute()).toHaveLength(1)
    await work()
    expect(await answer).toEqual({ kind: 'active' })
    expect(session.calls.filter((call) => call.startsWith('send'))).toHaveLength(1)
    expect(await depositStatus(deposit.id)).toBe('pending')
  })

  it('D-25 is abandoned 45 s after it began if no read has found its offer', async () => {
    const deposit = await aDeposit(till, store)
    session.sends.push({ answer: 'unknown' })
    const answer = requestTrade(till.deps, deposit.body)
    await expect.poll(() => till.db.selectFrom('trade').select('id').execute()).toHaveLength(1)
    await work()
    for (const ms of [5_000, 15_000, 24_999]) {
      till.clock.advance(ms)
      await work()
    }
    expect((await tradeRow()).state).toBe('unknown')
    till.clock.advance(1)
    await work()
    expect((await tradeRow()).state).toBe('abandoned')
    expect(await answer).toEqual({ kind: 'refused', code: 'steam_unavailable' })
    expect(await depositStatus(deposit.id)).toBe('created')
  })

  it('is not repeated after its process was killed, and the till searches for its offer', async () => {
    const deposit = await aDeposit(till, store)
    const answer = requestTrade(till.deps, deposit.body)
    await expect.poll(() => till.db.selectFrom('trade').select('id').execute()).toHaveLength(1)
    const { secret_code: code, partner_steam_id: steamId } = await tradeRow()
    await till.db.updateTable('trade').set({ state: 'sending', send_started_at: till.clock.now() }).execute()
    await session.sendOffer(
      { steamId, token: 'x' },
      deposit.body.items.map((assetId) => ({ appId: 570, contextId: '2', assetId })),
      code,
    )
    till.clock.advance(20_000)
    await work()
    expect(await answer).toEqual({ kind: 'active' })
    expect(session.offers.size).toBe(1)
  })
})

/** Asks for a trade, whose shopper counters its offer. Returns the counteroffer, which the bot has received. */
async function counterOffer({ body }: Awaited<ReturnType<typeof aDeposit>>): Promise<Offer> {
  await request(body)
  const offer = session.offers.get('1')
  if (offer === undefined) throw new Error('no offer was sent')
  session.offers.set('1', { ...offer, state: 'countered' })
  const counter = { ...offer, offerId: '80', message: '', itemsToGive: offer.itemsToReceive }
  session.received.set('80', counter)
  return counter
}

describe('an offer', () => {
  it('A-055 that is declined ends the deposit and frees the items', async () => {
    const deposit = await aDeposit(till, store)
    await request(deposit.body)
    const offer = session.offers.get('1')
    if (offer === undefined) throw new Error('no offer was sent')
    session.offers.set('1', { ...offer, state: 'declined' })
    await watch()
    expect(await depositStatus(deposit.id)).toBe('tradeDeclined')
    expect(await events()).toEqual(['deposit.pending', 'deposit.trade_declined'])
    expect(await till.db.selectFrom('trade_item').select('live').where('live', '=', true).execute()).toEqual(
      [],
    )
  })

  it('D-19 that is countered ends the deposit; the bot declines the counteroffer, but no offer by a stranger', async () => {
    const deposit = await aDeposit(till, store)
    const counter = await counterOffer(deposit)
    session.received.set('81', { ...counter, offerId: '81', partnerSteamId: '76561198000999999' })
    await watch()
    expect(await depositStatus(deposit.id)).toBe('tradeCountered')
    expect(await events()).toEqual(['deposit.pending', 'deposit.trade_countered'])
    expect([...session.received.values()].map(({ state }) => state)).toEqual(['declined', 'active'])
  })

  it.each(['an account of the operator', 'another bot'])(
    'to %s does not make the bot decline offers by that account',
    async (who) => {
      await request((await aDeposit(till, store)).body)
      const offer = session.offers.get('1')
      if (offer === undefined) throw new Error('no offer was sent')
      const { partnerSteamId: steamId } = offer
      session.received.set('80', { ...offer, offerId: '80', message: 'top up' })
      const isOperator = who === 'an account of the operator'
      if (!isOperator) await aBot(till, fakeSession(steamId))
      const destinations = isOperator ? new Map([['storage', steamId]]) : till.deps.destinations
      await tradeHandlers({ ...till.deps, destinations }).watch(bot)
      expect(session.received.get('80')?.state).toBe('active')
    },
  )

  it('D-19 that is countered has its counteroffer declined, even if it was read because the shopper returned to the page', async () => {
    const deposit = await aDeposit(till, store)
    await counterOffer(deposit)
    await tradeHandlers(till.deps).refresh(bot, (await tradeRow()).id)
    expect(await depositStatus(deposit.id)).toBe('tradeCountered')
    till.clock.advance(60_000)
    await work()
    expect(session.received.get('80')?.state).toBe('declined')
  })

  it('D-19 that is countered has its counteroffer declined, even if no process held the bot for half an hour', async () => {
    const deposit = await aDeposit(till, store)
    await counterOffer(deposit)
    till.clock.advance(30 * 60_000)
    await watch()
    expect(await depositStatus(deposit.id)).toBe('tradeCountered')
    expect(session.received.get('80')?.state).toBe('declined')
  })

  it('A-111 is cancelled on Steam at the deadline, and its trade then times out', async () => {
    const deposit = await aDeposit(till, store)
    await request(deposit.body)
    till.clock.advance(5 * 60_000 - 1)
    await work()
    expect(await depositStatus(deposit.id)).toBe('pending')
    till.clock.advance(1)
    await work()
    expect(session.calls.slice(-2)).toEqual(['cancel 1', 'read 1'])
    expect(await depositStatus(deposit.id)).toBe('tradeTimeout')
  })

  it('D-18 is credited if it is accepted before the cancel', async () => {
    const deposit = await aDeposit(till, store)
    await request(deposit.body)
    session.beforeCancel = () => session.accept('1')
    till.clock.advance(5 * 60_000)
    await work()
    expect(await depositStatus(deposit.id)).toBe('succeeded')
    expect(await balancesOf(till.db, store.id)).toEqual([{ currency: 'USD', held: 0n, available: 3_000n }])
  })

  it('that is accepted is not credited by a process with an older lease', async () => {
    const deposit = await aDeposit(till, store)
    await request(deposit.body)
    await till.db.updateTable('bot').set({ lease_epoch: 2n }).execute()
    session.accept('1')
    await watch()
    expect(await depositStatus(deposit.id)).toBe('pending')
    expect(await till.db.selectFrom('ledger_entry').selectAll().execute()).toEqual([])
  })
})
