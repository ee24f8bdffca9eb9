/** A shopper who took items back is credited on release in any store, until an operator restores the stores' terms. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readNeeds } from '../alerts/needs-store.ts'
import type { BotContext } from '../bots/bot.ts'
import { viewReader } from '../deposits/shopper-view.ts'
import { forecastPromise } from '../ledger/promise.ts'
import { creditModeOf } from '../shoppers/on-release-store.ts'
import { runCommand } from '../testing/command.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { offerFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'

const SHOPPER = '76561198000000042'
const OTHER_SHOPPER = '76561198000000043'
const WEEK_MS = 7 * 86_400_000

let till: Till
let store: { id: bigint }
let bot: BotContext
let session: FakeSession

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till, { riskLimitUsdCents: 1_000_000n })
  ;({ bot, session } = await aBot(till))
})
afterEach(() => till.close())

const run = (...args: string[]) => runCommand(['shopper', ...args], { databaseUrl: till.url })

/** Opens an offer for 30 USD in items that Steam protects. */
async function openOffer(steamId = SHOPPER) {
  const deposit = await aDeposit(till, store, { game: 'cs' })
  await till.db.updateTable('deposit').set({ user_steam_id: steamId }).where('id', '=', deposit.id).execute()
  return offerFor(till, bot, deposit)
}

async function accept({ tradeId, offerId }: { tradeId: bigint; offerId: string }): Promise<bigint> {
  session.accept(offerId, { settlesAt: new Date(till.clock.now().getTime() + WEEK_MS) })
  await tradeHandlers(till.deps).trade(bot, tradeId)
  return tradeId
}

const deliver = async (steamId?: string) => accept(await openOffer(steamId))

async function takeBack(tradeId: bigint, assetIds?: string[]): Promise<void> {
  const { steam_trade_id: steamTradeId } = await rowOf(tradeId)
  session.takeBack(steamTradeId ?? '', assetIds)
  await tradeHandlers(till.deps).history(bot)
}

const rowOf = (tradeId: bigint) =>
  till.db
    .selectFrom('trade')
    .select(['steam_trade_id', 'held_amount', 'at_risk_amount', 'credit_mode', 'promised_amount', 'state'])
    .where('id', '=', tradeId)
    .executeTakeFirstOrThrow()

const HELD = { held_amount: 3_000n, at_risk_amount: 0n, credit_mode: 'on_release' }
const AT_ONCE = { held_amount: 0n, at_risk_amount: 3_000n, credit_mode: 'on_accept' }

describe('D-36 a shopper who took a trade back', () => {
  it('is credited on release the next time, as the open offer’s page says; other shoppers are credited as before', async () => {
    const first = await deliver()
    expect(await rowOf(first)).toMatchObject(AT_ONCE)
    await takeBack(first)
    // The first trade's terms were fixed at its delivery.
    expect(await rowOf(first)).toMatchObject({ state: 'reversed', credit_mode: 'on_accept' })
    const open = await openOffer()
    expect(await rowOf(open.tradeId)).toMatchObject({ promised_amount: 0n })
    const { hash } = await till.db
      .selectFrom('deposit')
      .innerJoin('trade', 'trade.deposit_id', 'deposit.id')
      .select('hash')
      .where('trade.id', '=', open.tradeId)
      .executeTakeFirstOrThrow()
    const shown = (await viewReader(till.db, 'https://steam.test')([hash])).get(hash)
    expect(shown?.payment).toMatchObject({ heldAmount: 3_000, heldBy: 'release' })
    expect(await rowOf(await accept(open))).toMatchObject(HELD)
    expect(await rowOf(await deliver(OTHER_SHOPPER))).toMatchObject(AT_ONCE)
    expect(till.lines.filter((line) => line.includes('were taken back by their sender'))).toEqual([
      expect.stringContaining(SHOPPER),
    ])
    expect(await readNeeds(till.db)).toMatchObject({ shoppersTookBack: 1 })
  })

  it('gets a warning of credit on release before picking items, and uses no part of the limit', async () => {
    await takeBack(await deliver())
    const { id: rateId } = await till.db.selectFrom('exchange_rate').select('id').executeTakeFirstOrThrow()
    const query = { deposit: { store_id: store.id, credit_mode: null }, rateId, total: 3_000n, days: 8 }
    const forecastFor = async (steamId: string) =>
      forecastPromise(till.db, { ...query, shopperMode: await creditModeOf(till.db, steamId) })
    expect(await forecastFor(SHOPPER)).toEqual({ atOnce: 0n, days: 8, by: 'release' })
    expect(await forecastFor(OTHER_SHOPPER)).toEqual({ atOnce: 3_000n, days: 8, by: 'limit' })
    const promised = () =>
      till.db.selectFrom('credit_at_risk').select('promised_usd_cents').executeTakeFirst()
    const before = await promised()
    await openOffer()
    expect(await promised()).toEqual(before)
  })

  it('is credited on release for an offer that was already open, even if only a part was taken back', async () => {
    const open = await openOffer()
    const first = await deliver()
    const [asset] = await till.db
      .selectFrom('trade_item')
      .select('asset_id')
      .where('trade_id', '=', first)
      .orderBy('asset_id')
      .limit(1)
      .execute()
    await takeBack(first, [asset?.asset_id ?? ''])
    expect(await rowOf(await accept(open))).toMatchObject(HELD)
  })

  it('is shown to the operator, who can restore the stores’ terms, which then apply until the next reversal', async () => {
    expect(await run('show', SHOPPER)).toMatchObject({ code: 3 })
    expect(await run('trust', SHOPPER, '--reason', 'x')).toMatchObject({
      code: 0,
      out: expect.stringContaining('already credited as its stores decide'),
    })
    const first = await deliver()
    await takeBack(first)
    const shown = await run('show', SHOPPER)
    expect(shown.out).toContain(`took items back once, last in trade ${first}`)
    expect((await run('list')).out).toContain(SHOPPER)
    expect(await run('trust', SHOPPER)).toMatchObject({ code: 2 })
    expect(await run('trust', SHOPPER, '--by', 'Ada', '--reason', 'the account was stolen')).toMatchObject({
      code: 0,
    })
    const acts = await till.db.selectFrom('operator_act').select(['act', 'operator', 'reason']).execute()
    expect(acts).toEqual([{ act: 'shopper trust', operator: 'Ada', reason: 'the account was stolen' }])
    const second = await deliver()
    expect(await rowOf(second)).toMatchObject(AT_ONCE)
    await takeBack(second)
    expect(await rowOf(await deliver())).toMatchObject(HELD)
    expect((await run('show', SHOPPER)).out).toContain(`took items back once, last in trade ${second}`)
  })

  it('is remembered when the data of the account is erased', async () => {
    await takeBack(await deliver())
    const erased = await run('erase', SHOPPER, '--reason', 'asked for by mail')
    expect(erased.out).toContain('its Steam id is kept for that')
    expect(await creditModeOf(till.db, SHOPPER)).toBe('on_release')
  })

  it('is credited as before if only an operator reports the reversal', async () => {
    const tradeId = await deliver()
    const reversed = await runCommand(
      ['trade', 'reverse', String(tradeId), '--reason', 'the items went back'],
      { databaseUrl: till.url },
    )
    expect(reversed.code).toBe(0)
    expect(await creditModeOf(till.db, SHOPPER)).toBeNull()
  })
})
