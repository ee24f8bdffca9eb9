import { expect } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import type { Signals } from '../db/signals.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { requestTrade } from '../trades/request.ts'
import type { FakeSession } from './fake-steam.ts'
import type { aDeposit, Till } from './till.ts'

type OpenDeposit = Pick<Awaited<ReturnType<typeof aDeposit>>, 'id' | 'body'>

/** Requests the trade for the shopper, and lets the bot send the offer, which is then open on Steam. */
export async function offerFor(
  till: Till,
  bot: BotContext,
  { id, body }: OpenDeposit,
): Promise<{ tradeId: bigint; code: string; offerId: string }> {
  const trade = () =>
    till.db
      .selectFrom('trade')
      .select(['id', 'secret_code', 'steam_offer_id'])
      .where('deposit_id', '=', id)
      .orderBy('id', 'desc')
      .executeTakeFirst()
  // The request begins to wait for the bot once its trade is committed.
  const waiting = Promise.withResolvers<void>()
  const { signals } = till.deps
  const until: Signals['until'] = (...about) => {
    waiting.resolve()
    return signals.until(...about)
  }
  const request = requestTrade({ ...till.deps, signals: { ...signals, until } }, body)
  // A refused request resolves immediately, with the reason.
  await Promise.race([waiting.promise, request])
  const begun = await trade()
  if (begun !== undefined) await tradeHandlers(till.deps).trade(bot, begun.id)
  expect(await request).toEqual({ kind: 'active' })
  const sent = await trade()
  if (!sent?.steam_offer_id) throw new Error('no offer was sent')
  return { tradeId: sent.id, code: sent.secret_code, offerId: sent.steam_offer_id }
}

/** Sends the offer of the deposit, then accepts it as the shopper. The store is credited. */
export async function payFor(
  till: Till,
  { bot, session }: { bot: BotContext; session: FakeSession },
  deposit: OpenDeposit,
): Promise<void> {
  const { tradeId, offerId } = await offerFor(till, bot, deposit)
  session.accept(offerId)
  await tradeHandlers(till.deps).trade(bot, tradeId)
}
