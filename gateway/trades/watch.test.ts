import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import type { Offer } from '../steam/steam.ts'
import { type FakeSession, steamTradeIdOf } from '../testing/fake-steam.ts'
import { offerFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'
import { sweepTrades } from './jobs.ts'
import { requestTrade } from './request.ts'

let till: Till
let bot: BotContext
let session: FakeSession

beforeEach(async () => {
  till = await startTill()
  ;({ bot, session } = await aBot(till))
})
afterEach(() => till.close())

const theTrade = () => till.db.selectFrom('trade').selectAll().orderBy('id').executeTakeFirst()

/** Requests a trade, whose offer is then open. */
async function openTrade() {
  const { tradeId: id } = await offerFor(till, bot, await aDeposit(till, await aStore(till)))
  return { id, watch: () => tradeHandlers(till.deps).watch(bot) }
}

/** Requests a trade that is abandoned, because the bot never finds its offer. Resolves to the trade's id. */
async function abandonedTrade({ body }: Awaited<ReturnType<typeof aDeposit>>) {
  const answer = requestTrade(till.deps, body)
  await expect.poll(theTrade).toBeDefined()
  const id = (await theTrade())?.id ?? 0n
  for (const ms of [0, 5_000, 15_000, 30_000]) {
    till.clock.advance(ms)
    await tradeHandlers(till.deps).trade(bot, id)
  }
  await answer
  return id
}

const setOffer = (state: 'needs_confirmation' | 'accepted') => {
  const offer = session.offers.get('1')
  if (offer !== undefined) session.offers.set('1', { ...offer, state })
}

type Line = { msg: string; offer?: string }

const orphanLines = () =>
  till.lines.map((line): Line => JSON.parse(line)).filter(({ msg }) => /belongs to no trade/.test(msg))

describe('the watch over a bot’s offers', () => {
  it('catches up after days by reading, one by one, the offers that the list no longer shows', async () => {
    const store = await aStore(till)
    const offerIds: string[] = []
    for (let made = 0; made < 3; made += 1) {
      offerIds.push((await offerFor(till, bot, await aDeposit(till, store))).offerId)
    }
    const [accepted = '', declined = '', countered = ''] = offerIds
    const endedAt = till.clock.now()
    session.accept(accepted)
    for (const [id, state] of [[declined, 'declined'] as const, [countered, 'countered'] as const]) {
      const offer = session.offers.get(id)
      if (offer !== undefined) session.offers.set(id, { ...offer, state })
    }
    // Like Steam: includes ended offers only if they changed after the cut-off.
    const { listOffers } = session
    session.listOffers = async (since, cursor) => {
      const answer = await listOffers(since, cursor)
      return answer.kind === 'offers' && since > endedAt ? { ...answer, sent: [] } : answer
    }
    till.clock.advance(3 * 86_400_000)
    await tradeHandlers(till.deps).watch(bot)
    const rows = await till.db.selectFrom('trade').select(['steam_offer_id', 'state']).execute()
    expect(new Map(rows.map((row) => [row.steam_offer_id, row.state]))).toEqual(
      new Map([
        [accepted, 'final'],
        [declined, 'declined'],
        [countered, 'countered'],
      ]),
    )
  })

  it.each([
    ['its row in the list cannot be read', [{ offerId: '1', partnerSteamId: null, message: null }]],
    ['a complete list lacks it, as happens while Steam has trouble', []],
  ])('reads the offer of an open trade separately if %s', async (_, unreadable) => {
    const { watch } = await openTrade()
    session.accept('1')
    const { listOffers } = session
    session.listOffers = async (...where) => {
      const page = await listOffers(...where)
      return page.kind === 'offers' ? { ...page, sent: [], unreadable } : page
    }
    await watch()
    expect(await theTrade()).toMatchObject({ state: 'final' })
  })

  it('repeats the cancel of an offer if Steam did not cancel it', async () => {
    const { watch } = await openTrade()
    setOffer('needs_confirmation')
    // The fake cancels only active offers, so it leaves this one unchanged, as Steam sometimes does.
    await watch()
    const cancels = () => session.calls.filter((call) => call === 'cancel 1').length
    expect(cancels()).toBe(1)
    for (let look = 0; look < 30; look += 1) {
      till.clock.advance(5_000)
      await watch()
    }
    expect(cancels()).toBeGreaterThan(1)
  })

  it('D-25 cancels an offer whose code belongs to no trade, and ignores offers unlike a till’s', async () => {
    const { watch } = await openTrade()
    const ownOffer = session.offers.get('1')
    if (ownOffer === undefined) throw new Error('Steam has no offer')
    const orphan = { ...ownOffer, message: 'ZZZZZZ' }
    session.offers.set('50', { ...orphan, offerId: '50' })
    session.offers.set('51', { ...orphan, offerId: '51', message: 'for the operator' })
    session.offers.set('52', { ...orphan, offerId: '52', itemsToGive: ownOffer.itemsToReceive })
    session.offers.set('53', { ...orphan, offerId: '53', state: 'accepted', tradeId: steamTradeIdOf('53') })
    await watch()
    const states = ['1', '50', '51', '52', '53'].map((id) => session.offers.get(id)?.state)
    expect(states).toEqual(['active', 'cancelled', 'active', 'active', 'accepted'])
    const lines = orphanLines()
    const about = { level: 'error', botId: String(bot.botId), partner: ownOffer.partnerSteamId }
    expect(lines).toMatchObject([
      {
        ...about,
        offer: '50',
        steamTrade: null,
        msg: 'bot began to cancel an offer whose code belongs to no trade',
      },
      {
        ...about,
        offer: '53',
        steamTrade: steamTradeIdOf('53'),
        msg: 'items arrived for an offer that belongs to no trade',
      },
    ])
    expect(await till.db.selectFrom('ledger_entry').select('id').execute()).toEqual([])
    expect((await theTrade())?.state).toBe('active')
  })

  it('D-24 does not cancel an orphan that is now in escrow, even if Steam’s list shows another state', async () => {
    const { watch } = await openTrade()
    const ownOffer = session.offers.get('1')
    if (ownOffer === undefined) throw new Error('Steam has no offer')
    const old = { ...ownOffer, offerId: '50', message: 'ZZZZZZ' }
    session.offers.set('50', { ...old, state: 'in_escrow' })
    const { listOffers } = session
    session.listOffers = async (since, cursor) => {
      const answer = await listOffers(since, cursor)
      if (answer.kind !== 'offers') return answer
      return { ...answer, sent: answer.sent.map((offer) => (offer.offerId === '50' ? old : offer)) }
    }
    await watch()
    expect(session.calls).toContain('read 50')
    expect(session.calls).not.toContain('cancel 50')
  })

  it('D-25 logs an orphan once per lease, however often Steam lists the orphan', async () => {
    await openTrade()
    const ownOffer = session.offers.get('1')
    if (ownOffer === undefined) throw new Error('Steam has no offer')
    session.offers.set('50', {
      ...ownOffer,
      offerId: '50',
      message: 'ZZZZZZ',
      state: 'accepted',
      tradeId: steamTradeIdOf('50'),
    })
    const { watch } = tradeHandlers(till.deps)
    for (let look = 0; look < 3; look += 1) await watch(bot)
    expect(orphanLines()).toHaveLength(1)
  })

  it('does not touch an offer that was sent while the list was read', async () => {
    const { watch } = await openTrade()
    const { body } = await aDeposit(till, await aStore(till))
    const answer = requestTrade(till.deps, body)
    const sent = () =>
      till.db.selectFrom('trade').select(['id', 'state', 'steam_offer_id']).orderBy('id').execute()
    await expect.poll(sent).toHaveLength(2)
    const { listOffers } = session
    session.listOffers = async (since, cursor) => {
      session.listOffers = listOffers
      await tradeHandlers(till.deps).trade(bot, (await sent())[1]?.id ?? 0n)
      return listOffers(since, cursor)
    }
    await watch()
    expect(await answer).toEqual({ kind: 'active' })
    expect(session.calls.filter((call) => call.startsWith('cancel'))).toEqual([])
    expect((await sent())[1]).toMatchObject({ state: 'active', steam_offer_id: '2' })
    expect(session.offers.get('2')?.state).toBe('active')
  })

  it('does not read a failed Steam trade after its reviews are over', async () => {
    const { id, watch } = await openTrade()
    session.accept('1', { isReceived: false })
    const answer = session.trades.get(steamTradeIdOf('1'))
    if (answer?.kind !== 'trade') throw new Error('no Steam trade')
    session.trades.set(steamTradeIdOf('1'), { ...answer, trade: { ...answer.trade, state: 'failed' } })
    await watch()
    till.clock.advance(11_000)
    await tradeHandlers(till.deps).trade(bot, id)
    expect(await theTrade()).toMatchObject({ state: 'invalid', reason: 'exchange_failed' })
    till.clock.advance(25 * 3_600_000)
    await tradeHandlers(till.deps).trade(bot, id)
    expect((await theTrade())?.due_at).toBeNull()
    session.calls.length = 0
    till.clock.advance(3_600_000)
    await sweepTrades(till.deps)
    await watch()
    expect(session.calls.filter((call) => /^(status|read)/.test(call))).toEqual([])
  })
})

/**
 * The state after a restore from a backup that is older than the offer. No trade is open, so `watch` resolves to 1
 * while the search for orphans is incomplete, and then to 0.
 */
describe('a till that has lost a trade', () => {
  const orphan: Offer = {
    offerId: '50',
    partnerSteamId: '76561198000000009',
    message: 'ZZZZZZ',
    state: 'active',
    tradeId: null,
    itemsToReceive: [{ appId: 570, contextId: '2', assetId: '7' }],
    itemsToGive: [],
    createdAt: new Date(0),
    escrowEndsAt: null,
    delaysSettlement: false,
    settlesAt: null,
  }
  const lists = () => session.calls.filter((call) => call === 'list').length

  it('D-25 searches for orphans once per lease, two weeks back, and then lists no offers', async () => {
    session.offers.set('50', orphan)
    session.offers.set('51', { ...orphan, offerId: '51', state: 'accepted', tradeId: steamTradeIdOf('51') })
    const starts: Date[] = []
    const { listOffers } = session
    session.listOffers = (since, cursor) => {
      starts.push(since)
      return listOffers(since, cursor)
    }
    const { watch } = tradeHandlers(till.deps)
    expect([await watch(bot), await watch(bot)]).toEqual([0, 0])
    expect(starts).toEqual([new Date(till.clock.now().getTime() - 14 * 86_400_000)])
    expect(session.offers.get('50')?.state).toBe('cancelled')
    expect(orphanLines().map(({ offer }) => offer)).toEqual(['50', '51'])
    expect(await watch({ ...bot, leaseEpoch: 2n })).toBe(0)
    expect(lists()).toBe(2)
  })

  it.each([
    ['a minute later', 60_000],
    ['once a clock that was two days ahead is set back', -172_800_000],
  ])('D-25 searches again %s if Steam did not answer', async (_, ms) => {
    session.offers.set('50', orphan)
    session.isDown = true
    const { watch } = tradeHandlers(till.deps)
    expect([await watch(bot), await watch(bot)]).toEqual([1, 1])
    expect(lists()).toBe(1)
    session.isDown = false
    till.clock.advance(ms)
    expect(await watch(bot)).toBe(0)
    expect(session.offers.get('50')?.state).toBe('cancelled')
  })

  it('D-25 reads the list again if the database failed before the list’s offers were handled', async () => {
    session.offers.set('50', orphan)
    const { trades } = till.deps
    let hasFailed = false
    const tradesByCode: typeof trades.tradesByCode = async (...args) => {
      if (!hasFailed) {
        hasFailed = true
        throw new Error('the database is down')
      }
      return trades.tradesByCode(...args)
    }
    const { watch } = tradeHandlers({ ...till.deps, trades: { ...trades, tradesByCode } })
    await expect(watch(bot)).rejects.toThrow('the database is down')
    // The list is read again a minute later, not with the next watch.
    expect(await watch(bot)).toBe(1)
    expect(session.offers.get('50')?.state).toBe('active')
    till.clock.advance(60_000)
    expect(await watch(bot)).toBe(0)
    expect(session.offers.get('50')?.state).toBe('cancelled')
  })

  it('D-25 searches again if it could not cancel the orphan, and logs items that arrive before the cancel', async () => {
    session.offers.set('50', orphan)
    const { watch } = tradeHandlers(till.deps)
    expect(await watch({ ...bot, mayWrite: () => false })).toBe(1)
    expect(session.offers.get('50')?.state).toBe('active')
    session.beforeCancel = () => session.accept('50')
    till.clock.advance(60_000)
    expect(await watch(bot)).toBe(0)
    expect(orphanLines()).toMatchObject([
      { msg: 'bot began to cancel an offer whose code belongs to no trade' },
      { msg: 'items arrived for an offer that belongs to no trade', steamTrade: steamTradeIdOf('50') },
    ])
  })
})

describe('an offer whose send was not answered', () => {
  it('D-25 is cancelled and not shown if it has our code but other items', async () => {
    const deposit = await aDeposit(till, await aStore(till))
    session.sends.push({ answer: 'unknown', createsOffer: true })
    session.afterSend = async () => {
      const offer = session.offers.get('1')
      if (offer === undefined) throw new Error('Steam has no offer')
      session.offers.set('1', { ...offer, itemsToReceive: offer.itemsToReceive.slice(1) })
    }
    const answer = requestTrade(till.deps, deposit.body)
    await expect.poll(theTrade).toBeDefined()
    const id = (await theTrade())?.id ?? 0n
    await tradeHandlers(till.deps).trade(bot, id)
    till.clock.advance(5_000)
    await tradeHandlers(till.deps).trade(bot, id)
    expect(session.offers.get('1')?.state).toBe('cancelled')
    expect(await theTrade()).toMatchObject({ state: 'unknown', steam_offer_id: null })
    for (const ms of [15_000, 30_000]) {
      till.clock.advance(ms)
      await tradeHandlers(till.deps).trade(bot, id)
    }
    expect(await answer).toEqual({ kind: 'refused', code: 'steam_unavailable' })
    expect((await theTrade())?.state).toBe('abandoned')
    expect(JSON.stringify(till.lines)).toContain('offer asks for other items than its trade')
  })

  it('is found, even if the till’s clock was wrong at the send', async () => {
    const deposit = await aDeposit(till, await aStore(till, { riskLimitUsdCents: 100_000n }))
    session.sends.push({ answer: 'unknown', createsOffer: true })
    let isHidden = true
    const { listOffers } = session
    session.listOffers = async (since, cursor) => {
      const answer = await listOffers(since, cursor)
      if (answer.kind !== 'offers') return answer
      const isListed = ({ createdAt }: { createdAt: Date }) => !isHidden && createdAt >= since
      return { ...answer, sent: answer.sent.filter(isListed) }
    }
    // The fake dates its offers by the machine's clock, which is behind the till's from here on.
    till.clock.advance(10 * 60_000)
    const id = await abandonedTrade(deposit)
    expect((await theTrade())?.state).toBe('abandoned')
    session.accept('1')
    isHidden = false
    till.clock.advance(60_000)
    await tradeHandlers(till.deps).trade(bot, id)
    expect((await theTrade())?.state).toBe('final')
  })

  it('D-25 is credited if it was accepted, even if the database failed at its last review', async () => {
    session.sends.push({ answer: 'unknown', createsOffer: true })
    const { listOffers } = session
    session.listOffers = async (since, cursor) => {
      const answer = await listOffers(since, cursor)
      return answer.kind === 'offers' ? { ...answer, sent: [] } : answer
    }
    const id = await abandonedTrade(await aDeposit(till, await aStore(till)))
    session.accept('1')
    session.listOffers = listOffers
    till.clock.advance(25 * 3_600_000)
    const { trades } = till.deps
    const failing = { ...trades, transaction: () => Promise.reject(new Error('the database is down')) }
    const review = tradeHandlers({ ...till.deps, trades: failing }).trade(bot, id)
    await expect(review).rejects.toThrow('the database is down')
    till.clock.advance(3_600_000)
    await sweepTrades(till.deps)
    const isDue = (await theTrade())?.due_at !== null
    if (isDue) await tradeHandlers(till.deps).trade(bot, id)
    expect(await theTrade()).toMatchObject({ state: 'final', steam_trade_id: steamTradeIdOf('1') })
  })
})

it('an ended trade is reviewed again if Steam’s answer about its offer was empty at the last review', async () => {
  const { id, watch } = await openTrade()
  const offer = session.offers.get('1')
  if (offer === undefined) throw new Error('Steam has no offer')
  session.offers.set('1', { ...offer, state: 'declined' })
  await watch()
  const { readOffer } = session
  session.readOffer = async () => ({ kind: 'missing' })
  till.clock.advance(86_400_000)
  await tradeHandlers(till.deps).trade(bot, id)
  session.readOffer = readOffer
  session.accept('1')
  till.clock.advance(3_600_000)
  await sweepTrades(till.deps)
  if ((await theTrade())?.due_at !== null) await tradeHandlers(till.deps).trade(bot, id)
  expect(await theTrade()).toMatchObject({ state: 'final' })
})
