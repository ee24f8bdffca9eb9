/** Requests that are not sent yet when an earlier offer of their deposit turns out to be accepted. */
import { expect, it, onTestFinished } from 'vitest'
import { aBot, aDeposit, aStore, startTill } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'
import { requestTrade } from './request.ts'

it('D-6 a request that waits for its bot is not sent once an earlier offer has paid the deposit', async () => {
  const till = await startTill()
  onTestFinished(() => till.close())
  const { bot, session } = await aBot(till)
  const { body } = await aDeposit(till, await aStore(till))
  const trades = () => till.db.selectFrom('trade').selectAll().orderBy('id').execute()
  const work = async (index: number) => tradeHandlers(till.deps).trade(bot, (await trades())[index]?.id ?? 0n)
  // Steam gives no answer to the first send, and does not list its offer yet.
  session.sends.push({ answer: 'unknown' })
  const first = requestTrade(till.deps, body)
  await expect.poll(trades).toHaveLength(1)
  for (const ms of [0, 5_000, 15_000, 25_000]) {
    till.clock.advance(ms)
    await work(0)
  }
  expect(await first).toEqual({ kind: 'refused', code: 'steam_unavailable' })
  till.clock.advance(30_000)
  const second = requestTrade(till.deps, body)
  await expect.poll(trades).toHaveLength(2)
  const [abandoned] = await trades()
  if (abandoned === undefined) throw new Error('no trade')
  session.offers.set('70', {
    offerId: '70',
    partnerSteamId: abandoned.partner_steam_id,
    message: abandoned.secret_code,
    state: 'active',
    tradeId: null,
    itemsToReceive: body.items.map((assetId) => ({ appId: 570, contextId: '2', assetId })),
    itemsToGive: [],
    createdAt: till.clock.now(),
    escrowEndsAt: null,
    delaysSettlement: false,
    settlesAt: null,
  })
  session.accept('70')
  till.clock.advance(30_000)
  await work(0)
  expect((await trades())[0]?.state).toBe('final')
  await work(1)
  expect(session.calls.filter((call) => call.startsWith('send'))).toHaveLength(1)
  expect((await trades())[1]).toMatchObject({ state: 'refused', steam_offer_id: null })
  expect(await second).toEqual({ kind: 'refused', code: 'deposit_closed' })
})
