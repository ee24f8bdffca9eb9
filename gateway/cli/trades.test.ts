import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { balancesOf } from '../ledger/store.ts'
import { runCommand } from '../testing/command.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { offerFor, payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, jump, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'

const DAY_S = 86_400
const STEAM_TRADE = '6100000000000000001'

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

const run = (...args: string[]) => runCommand(args, { databaseUrl: till.url })
const because = ['--reason', 'the bot is banned']
const end = (tradeId: bigint) => run('trade', 'end', String(tradeId), ...because)
const credit = (tradeId: bigint, steamTrade = STEAM_TRADE, ...more: string[]) =>
  run('trade', 'credit', String(tradeId), '--steam-trade', steamTrade, ...more, ...because)
const release = (tradeId: bigint) => run('trade', 'release', String(tradeId), ...because)

const anOffer = async (game: 'cs' | 'dota' = 'cs') => {
  const deposit = await aDeposit(till, store, { game })
  return { depositId: deposit.id, ...(await offerFor(till, bot, deposit)) }
}
const tradeRow = (id: bigint) =>
  till.db.selectFrom('trade').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const statusOf = async (id: bigint) =>
  (await till.db.selectFrom('deposit').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status
const acts = () => till.db.selectFrom('operator_act').selectAll().orderBy('id').execute()
const ledgerErrors = async () => (await run('ledger', 'verify')).errors

/** Creates a trade in the state after a send whose answer was lost. */
async function unknownTrade() {
  const offer = await anOffer()
  await till.db
    .updateTable('trade')
    .set({ state: 'unknown', steam_offer_id: null, deadline: null })
    .where('id', '=', offer.tradeId)
    .execute()
  await till.db.updateTable('deposit').set({ status: 'created' }).where('id', '=', offer.depositId).execute()
  return offer
}

describe('trade end', () => {
  it('ends trade and deposit, frees the items, publishes an event, and is recorded', async () => {
    const { tradeId, depositId } = await anOffer()
    expect(await end(tradeId)).toMatchObject({ code: 0, out: expect.stringContaining('timed_out') })
    expect(await tradeRow(tradeId)).toMatchObject({ state: 'timed_out', reason: 'ended_by_operator' })
    expect(await statusOf(depositId)).toBe('tradeTimeout')
    const items = await till.db.selectFrom('trade_item').select('live').execute()
    expect(items.map(({ live }) => live)).toEqual([false, false])
    const events = await till.db.selectFrom('event').select(['type', 'payload']).orderBy('inserted').execute()
    expect(events.at(-1)).toMatchObject({ type: 'deposit.trade_timeout' })
    expect(JSON.stringify(events.at(-1))).toContain('ended_by_operator')
    expect(await acts()).toMatchObject([
      { act: 'trade end', reason: 'the bot is banned', arguments: { tradeId: String(tradeId) } },
    ])
    expect(await ledgerErrors()).toBe('')
  })

  it('is overruled by proof that the bot finds a minute later', async () => {
    const { tradeId, depositId, offerId } = await anOffer()
    await end(tradeId)
    session.accept(offerId)
    await jump(till, 60)
    await tradeHandlers(till.deps).trade(bot, tradeId)
    expect(await statusOf(depositId)).toBe('succeeded')
    expect(await ledgerErrors()).toBe('')
  })

  it('lets an active bot cancel the open offer on Steam', async () => {
    const { tradeId, offerId } = await anOffer()
    await end(tradeId)
    await jump(till, 60)
    await tradeHandlers(till.deps).trade(bot, tradeId)
    expect(session.offers.get(offerId)?.state).toBe('cancelled')
  })

  it('of a trade whose send got no answer lets the shopper try again', async () => {
    const { tradeId, depositId } = await unknownTrade()
    await end(tradeId)
    expect(await tradeRow(tradeId)).toMatchObject({ state: 'abandoned', reason: 'ended_by_operator' })
    expect(await statusOf(depositId)).toBe('created')
  })

  it('changes nothing the second time, and is refused for an unknown trade or one whose items have arrived', async () => {
    const { tradeId, offerId } = await anOffer()
    await end(tradeId)
    expect(await end(tradeId)).toMatchObject({ code: 0, out: expect.stringContaining('had already ended') })
    expect((await acts()).length).toBe(1)
    session.accept(offerId)
    await jump(till, 60)
    await tradeHandlers(till.deps).trade(bot, tradeId)
    expect(await end(tradeId)).toMatchObject({ code: 4, errors: expect.stringContaining('arrived') })
    expect(await run('trade', 'end', '99', ...because)).toMatchObject({ code: 3 })
  })
})

describe('trade credit', () => {
  it('credits the store like any delivery, with protection starting now, and is recorded', async () => {
    const { tradeId, depositId } = await anOffer()
    await end(tradeId)
    const out = expect.stringMatching(/Steam was not asked.*items drift --now/)
    expect(await credit(tradeId)).toMatchObject({ code: 0, errors: '', out })
    expect(await statusOf(depositId)).toBe('succeeded')
    const row = await tradeRow(tradeId)
    expect(row).toMatchObject({ state: 'held', steam_trade_id: STEAM_TRADE, credited_by_operator: true })
    expect(row.settles_at?.getTime()).toBeGreaterThanOrEqual(till.clock.now().getTime() + 8 * DAY_S * 1000)
    expect(await balancesOf(till.db, store.id)).toMatchObject([{ held: 0n, available: 3_000n }])
    expect((await acts()).at(-1)).toMatchObject({
      act: 'trade credit',
      arguments: { tradeId: String(tradeId), steamTradeId: STEAM_TRADE },
    })
    expect(await ledgerErrors()).toBe('')
  })

  it.each(['open', 'ended'])(
    'holds the credit of a trade that is %s as long as Steam said of its accepted offer, even in a game without protection',
    async (state) => {
      await till.db.updateTable('store').set({ credit_mode: 'on_release' }).execute()
      const { tradeId, offerId } = await anOffer('dota')
      session.accept(offerId, { isReceived: false })
      const offer = session.offers.get(offerId)
      if (offer === undefined) throw new Error('Steam has no offer')
      const settlesAt = new Date(till.clock.now().getTime() + 8 * DAY_S * 1000)
      session.offers.set(offerId, { ...offer, settlesAt, delaysSettlement: true })
      await tradeHandlers(till.deps).trade(bot, tradeId)
      if (state === 'ended') await end(tradeId)
      const { steam_trade_id } = await tradeRow(tradeId)
      expect(await credit(tradeId, steam_trade_id ?? '')).toMatchObject({ code: 0, errors: '' })
      expect(await tradeRow(tradeId)).toMatchObject({ state: 'held', settles_at: settlesAt })
      expect(await balancesOf(till.db, store.id)).toMatchObject([{ held: 3_000n, available: 0n }])
      expect(await ledgerErrors()).toBe('')
    },
  )

  it('credits neither a trade nor a Steam trade twice', async () => {
    const first = await anOffer()
    const second = await anOffer()
    await credit(first.tradeId)
    expect(await credit(first.tradeId)).toMatchObject({
      code: 4,
      errors: expect.stringContaining(`was credited for Steam trade ${STEAM_TRADE}`),
    })
    expect(await credit(second.tradeId)).toMatchObject({
      code: 4,
      errors: expect.stringContaining(`belongs to trade ${first.tradeId}`),
    })
    expect(await balancesOf(till.db, store.id)).toMatchObject([{ available: 3_000n }])
    expect((await acts()).length).toBe(1)
  })

  it('of a trade that was delivered on Steam is refused', async () => {
    const deposit = await aDeposit(till, store, { game: 'dota' })
    await payFor(till, { bot, session }, deposit)
    const { id } = await till.db.selectFrom('trade').select('id').executeTakeFirstOrThrow()
    expect(await credit(id)).toMatchObject({ code: 4 })
  })

  it('needs the offer’s number if the till does not know it, and refuses a number other than the known one', async () => {
    const lost = await unknownTrade()
    expect(await credit(lost.tradeId)).toMatchObject({ code: 2, errors: expect.stringContaining('--offer') })
    expect(await credit(lost.tradeId, STEAM_TRADE, '--offer', '77')).toMatchObject({ code: 0 })
    expect(await tradeRow(lost.tradeId)).toMatchObject({ state: 'held', steam_offer_id: '77' })
    const offered = await anOffer()
    expect(await credit(offered.tradeId, '6100000000000000002', '--offer', '78')).toMatchObject({ code: 4 })
    expect(await ledgerErrors()).toBe('')
  })

  it.each([
    ['an unknown trade', 99n, STEAM_TRADE, 3],
    ['an invalid Steam trade id', 1n, '61-00', 2],
  ])('for %s is refused', async (_title, tradeId, steamTrade, code) => {
    await anOffer()
    expect(await credit(tradeId, steamTrade)).toMatchObject({ code })
    expect(await acts()).toEqual([])
  })
})

describe('trade release', () => {
  it('makes held credit available, from a day after the end of the trade’s protection', async () => {
    await till.db.updateTable('store').set({ credit_mode: 'on_release' }).execute()
    const { tradeId } = await anOffer()
    await credit(tradeId)
    expect(await release(tradeId)).toMatchObject({
      code: 4,
      errors: expect.stringContaining('Steam protects trade'),
    })
    await jump(till, 8 * DAY_S + 60)
    expect(await release(tradeId)).toMatchObject({
      code: 4,
      errors: expect.stringContaining('Steam protects trade'),
    })
    await jump(till, DAY_S)
    expect(await release(tradeId)).toMatchObject({ code: 0 })
    expect(await balancesOf(till.db, store.id)).toMatchObject([{ held: 0n, available: 3_000n }])
    expect(await tradeRow(tradeId)).toMatchObject({ state: 'final', look_at: null, due_at: null })
    expect(await release(tradeId)).toMatchObject({ code: 4 })
    expect(await ledgerErrors()).toBe('')
  })
})

describe('trade reverse', () => {
  it('reverses held credit and items once, like a reversal on Steam', async () => {
    await till.db.updateTable('store').set({ credit_mode: 'on_release' }).execute()
    const { tradeId } = await anOffer()
    await credit(tradeId)
    const reverse = () => run('trade', 'reverse', String(tradeId), ...because)
    expect(await reverse()).toMatchObject({ code: 0 })
    expect(await balancesOf(till.db, store.id)).toMatchObject([{ held: 0n, available: 0n }])
    expect(await tradeRow(tradeId)).toMatchObject({
      state: 'reversed',
      due_at: null,
      reversed_by_operator: true,
    })
    const events = await till.db.selectFrom('event').select('type').orderBy('inserted').execute()
    expect(events.at(-1)).toEqual({ type: 'deposit.reversed' })
    expect(await reverse()).toMatchObject({ code: 4, errors: expect.stringContaining('only a held trade') })
    expect(await ledgerErrors()).toBe('')
  })
})

describe('trade list', () => {
  it('shows open trades with the numbers of their offers, for all bots or one', async () => {
    const { tradeId, depositId, offerId } = await anOffer()
    const { out } = await run('trade', 'list')
    expect(out).toContain(`${tradeId}\tdeposit ${depositId}\tactive`)
    expect(out).toContain(`offer ${offerId}`)
    expect((await run('trade', 'list', '--bot', String(bot.botId))).out).toBe(out)
    expect((await run('trade', 'list', '--bot', '99')).out).toBe('')
  })

  it('shows the oldest 500, and says if there are more', async () => {
    const { tradeId } = await anOffer()
    const addHeldTrades = (count: number) =>
      sql`insert into trade (deposit_id, bot_id, quote_id, game, secret_code, partner_steam_id, state, currency, total,
          gross_total)
        select deposit_id, bot_id, quote_id, game, 'copy ' || gen_random_uuid(), partner_steam_id, 'held', currency,
          total, gross_total
        from trade, generate_series(1, ${count}::integer) where id = ${tradeId}`.execute(till.db)
    await addHeldTrades(499)
    const atLimit = (await run('trade', 'list')).out.trim().split('\n')
    expect([atLimit.length, atLimit.at(-1)]).toEqual([500, expect.stringContaining('held')])
    await addHeldTrades(1)
    const aboveLimit = (await run('trade', 'list')).out.trim().split('\n')
    expect(aboveLimit).toEqual([...atLimit, 'Only the oldest are listed.'])
  })
})
