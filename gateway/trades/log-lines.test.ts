/** A search of the log for a deposit finds every line of its trades and webhooks. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { publishEvents } from '../events/service.ts'
import { type FakeSession, steamTradeIdOf } from '../testing/fake-steam.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { sendDue, senderDeps } from '../testing/webhooks.ts'
import { tradeHandlers } from './advance.ts'
import { sweepTrades } from './jobs.ts'
import { requestTrade } from './request.ts'

const MINUTE_MS = 60_000

let till: Till
let receiver: Receiver
let store: { id: bigint }
let bot: BotContext
let session: FakeSession
/** The answers to the shoppers' calls. The call whose offer was lost waits for a while. */
let answers: Promise<unknown>[]

beforeEach(async () => {
  till = await startTill()
  receiver = await startReceiver()
  answers = []
  store = await aStore(till, { webhookUrl: receiver.url })
  ;({ bot, session } = await aBot(till))
})
afterEach(async () => {
  await receiver.close()
  await till.close()
})

const tradeOf = (depositId: bigint) =>
  till.db.selectFrom('trade').selectAll().where('deposit_id', '=', depositId).executeTakeFirst()

async function advance(depositId: bigint): Promise<void> {
  await tradeHandlers(till.deps).trade(bot, (await tradeOf(depositId))?.id ?? 0n)
}

/** Requests a trade, and lets the bot try once to send its offer. Resolves to the deposit's id. */
async function requestOnce(): Promise<bigint> {
  const { id, body } = await aDeposit(till, store, { game: 'cs' })
  answers.push(requestTrade(till.deps, body).catch(() => undefined))
  await expect.poll(() => tradeOf(id)).toBeDefined()
  await advance(id)
  return id
}

const offerOf = async (depositId: bigint) => {
  const offer = session.offers.get((await tradeOf(depositId))?.steam_offer_id ?? '')
  if (offer === undefined) throw new Error('no offer was sent')
  return offer
}

async function failInThreeWays(): Promise<bigint[]> {
  session.sends.push({ answer: 'refused' })
  const refused = await requestOnce()
  session.sends.push({ answer: 'unknown', createsOffer: false })
  const lost = await requestOnce()
  for (let turn = 0; turn < 6; turn += 1) {
    till.clock.advance(MINUTE_MS)
    await advance(lost)
  }
  const stopped = await requestOnce()
  const offer = await offerOf(stopped)
  session.offers.set(offer.offerId, { ...offer, state: 'cancelled' })
  session.received.set('77', { ...offer, offerId: '77', state: 'active' })
  await tradeHandlers(till.deps).watch(bot)
  till.clock.advance(MINUTE_MS)
  await advance(stopped)
  return [refused, lost, stopped]
}

async function payAndTakeBack(): Promise<bigint> {
  const id = await requestOnce()
  const { offerId } = await offerOf(id)
  session.accept(offerId)
  await advance(id)
  session.takeBack(steamTradeIdOf(offerId))
  await tradeHandlers(till.deps).history(bot)
  return id
}

async function sendWebhooks(): Promise<void> {
  await publishEvents(till.deps)
  receiver.answers.push(status(500), status(204), status(410))
  await sendDue(senderDeps(till), 1n, 3)
}

it('every line about a trade, an offer or a webhook has the id of its deposit', {
  timeout: 60_000,
}, async () => {
  const bad = await failInThreeWays()
  const good = await payAndTakeBack()
  await sweepTrades(till.deps)
  await sendWebhooks()
  await Promise.all(answers)
  const lines: Record<string, unknown>[] = till.lines.map((line) => JSON.parse(line))
  const ours = lines.filter((line) => 'trade' in line || 'offer' in line || 'event' in line)
  const messages = new Set(ours.map((line) => line.msg))
  for (const line of [
    'Steam did not confirm an offer',
    'trade was refused',
    'send of an offer got no clear answer',
    'offer of a send without a clear answer was not found on Steam',
    'bot began to decline a counteroffer',
    'offer was cancelled, but not by this till: check the account of the bot',
    'items were delivered',
    'items of a trade were taken back by their sender',
    'webhook was not accepted and will be sent again',
    'webhook was delivered',
    'webhook was given up: no attempt was accepted',
  ]) {
    expect(messages).toContain(line)
  }
  const known = new Set([...bad, good].map(String))
  expect(ours.filter((line) => !known.has(String(line.deposit)))).toEqual([])
})
