/** The receipt of a deposit whose offer Steam first reported as declined, and whose items it then holds. */
import { fastify } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { receiptPath } from '../deposits/receipt-link.ts'
import { DAY_MS, HOUR_MS } from '../kit/duration.ts'
import type { OfferState } from '../steam/steam.ts'
import { offerFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { receiptRoute } from './routes.ts'
import { RECEIPT_TEXTS } from './texts.ts'

it('says that Steam put the trade on hold, and not that the items stayed with their owner', async () => {
  const till = await startTill()
  const app = fastify()
  onTestFinished(async () => {
    await app.close()
    await till.close()
  })
  const { db, clock } = till
  const config = { publicUrl: new URL('https://pay.test'), keep: { pagesMs: 30 * DAY_MS } }
  await app.register(receiptRoute({ db, clock, config, unableReason: () => undefined }))
  const { bot, session } = await aBot(till)
  const deposit = await aDeposit(till, await aStore(till))
  const { offerId, tradeId } = await offerFor(till, bot, deposit)
  const setOffer = (state: OfferState, escrowEndsAt: Date | null) => {
    const offer = session.offers.get(offerId)
    if (offer === undefined) throw new Error('Steam has no offer')
    session.offers.set(offerId, { ...offer, state, escrowEndsAt })
  }
  const read = async () => (await app.inject(receiptPath(deposit.id, deposit.hash))).body
  const { results, reasons } = RECEIPT_TEXTS.en
  setOffer('declined', null)
  await tradeHandlers(till.deps).watch(bot)
  expect(await read()).toContain(results.tradeDeclined)
  setOffer('in_escrow', new Date(clock.now().getTime() + 15 * DAY_MS))
  clock.advance(HOUR_MS)
  await tradeHandlers(till.deps).trade(bot, tradeId)
  const held = await read()
  expect(held).not.toContain(results.tradeDeclined)
  expect(held).toContain(reasons.escrow)
})
