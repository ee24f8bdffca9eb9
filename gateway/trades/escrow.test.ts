/** D-24 with a real database: items that Steam holds. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { viewReader } from '../deposits/shopper-view.ts'
import { balancesOf } from '../ledger/store.ts'
import type { OfferState } from '../steam/steam.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { offerFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'
import { requestTrade } from './request.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

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

/** The shopper accepted without an authenticator: Steam holds the items for 15 days. */
async function offerInEscrow() {
  const deposit = await aDeposit(till, store)
  const { tradeId } = await offerFor(till, bot, deposit)
  setOffer('in_escrow')
  await tradeHandlers(till.deps).watch(bot)
  return { deposit, tradeId }
}

function setOffer(state: OfferState): void {
  const offer = session.offers.get('1')
  if (offer === undefined) throw new Error('Steam has no offer')
  const escrowEndsAt = state === 'in_escrow' ? new Date(till.clock.now().getTime() + 15 * DAY_MS) : null
  session.offers.set('1', { ...offer, state, escrowEndsAt })
}

/** Does the due work after a while, as the sweep would. */
async function workAfter(ms: number): Promise<void> {
  till.clock.advance(ms)
  const due = await till.db
    .selectFrom('trade')
    .select('id')
    .where('due_at', '<=', till.clock.now())
    .orderBy('id')
    .execute()
  for (const { id } of due) await tradeHandlers(till.deps).trade(bot, id)
}

const trade = () => till.db.selectFrom('trade').selectAll().orderBy('id').executeTakeFirstOrThrow()
const statusOf = async (id: bigint) =>
  (await till.db.selectFrom('deposit').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status
const liveFlags = async () =>
  (await till.db.selectFrom('trade_item').select('live').execute()).map((row) => row.live)
const cancels = () => session.calls.filter((call) => call.startsWith('cancel'))

describe('D-24 items that Steam holds', () => {
  it('end the deposit immediately and stay reserved, and the till does not cancel their offer', async () => {
    const { deposit } = await offerInEscrow()
    expect(await statusOf(deposit.id)).toBe('tradeHasInvalidItems')
    expect(await trade()).toMatchObject({ state: 'invalid', reason: 'escrow' })
    expect(await liveFlags()).toEqual([true, true])
    // Thirty reads take seven and a half days, half of the hold.
    for (let look = 0; look < 30; look += 1) await workAfter(6 * HOUR_MS)
    expect(cancels()).toEqual([])
    expect((await trade()).due_at).not.toBeNull()
  })

  it('leave the bot free for other trades, which may not include the held items', async () => {
    const { deposit } = await offerInEscrow()
    // An asset id is its deposit's number, followed by the item's index.
    const second = await aDeposit(till, store)
    await till.db
      .updateTable('quote_item')
      .set({ asset_id: `${deposit.id}0` })
      .where('quote_id', '=', second.quoteId)
      .where('asset_id', '=', `${second.id}0`)
      .execute()
    const answer = await requestTrade(till.deps, {
      ...second.body,
      items: [`${deposit.id}0`, `${second.id}1`],
    })
    expect(answer).toEqual({ kind: 'refused', code: 'items_unavailable' })
    const open = await till.db
      .selectFrom('trade')
      .select('id')
      .where('state', 'in', ['intended', 'sending', 'unknown', 'active'])
      .execute()
    expect(open).toEqual([])
  })

  it('are credited when the hold ends with a delivery', async () => {
    const { deposit } = await offerInEscrow()
    await workAfter(15 * DAY_MS)
    session.accept('1')
    await workAfter(HOUR_MS)
    expect(await statusOf(deposit.id)).toBe('succeeded')
    expect(await balancesOf(till.db, store.id)).toEqual([{ currency: 'USD', held: 0n, available: 3_000n }])
    expect(cancels()).toEqual([])
  })

  it('stay reserved when the hold ends with an acceptance, until Steam names its trade, and are then credited', async () => {
    const { deposit } = await offerInEscrow()
    till.clock.advance(15 * DAY_MS)
    setOffer('accepted')
    await workAfter(HOUR_MS)
    expect(await liveFlags()).toEqual([true, true])
    session.accept('1')
    await workAfter(HOUR_MS)
    expect(await statusOf(deposit.id)).toBe('succeeded')
    expect(till.lines.filter((line) => line.includes('ended without a delivery'))).toEqual([])
  })

  it('are free again when the shopper cancels, and the trade has no step due two days later', async () => {
    await offerInEscrow()
    setOffer('cancelled')
    await workAfter(6 * HOUR_MS)
    expect(await liveFlags()).toEqual([false, false])
    await workAfter(2 * DAY_MS)
    expect((await trade()).due_at).toBeNull()
    expect((await balancesOf(till.db, store.id)).length).toBe(0)
  })

  it('are free again a day after the hold should have ended, and an error is logged', async () => {
    await offerInEscrow()
    await workAfter(16 * DAY_MS + HOUR_MS)
    expect(await liveFlags()).toEqual([false, false])
    const lines: Record<string, unknown>[] = till.lines.map((line) => JSON.parse(line))
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
      { msg: 'Steam still holds the items of an offer, a day after the hold should have ended' },
    ])
  })

  it('are shown to the shopper even if Steam first reported their offer as declined', async () => {
    const deposit = await aDeposit(till, store)
    await offerFor(till, bot, deposit)
    setOffer('declined')
    await tradeHandlers(till.deps).watch(bot)
    setOffer('in_escrow')
    await workAfter(HOUR_MS)
    const shown = (await viewReader(till.db, 'https://steam.test')([deposit.body.hash])).values().next().value
    const { steam_hold_until: until } = await trade()
    expect(shown?.payment).toMatchObject({ status: 'tradeDeclined', steamHoldUntil: until?.toISOString() })
  })

  it('are noticed at the deadline, and their offer is not cancelled', async () => {
    const deposit = await aDeposit(till, store)
    await offerFor(till, bot, deposit)
    setOffer('in_escrow')
    await workAfter(301_000)
    expect(cancels()).toEqual([])
    expect(await statusOf(deposit.id)).toBe('tradeHasInvalidItems')
  })
})
