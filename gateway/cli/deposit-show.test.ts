/** What the operator sees of a deposit that lived through everything, and of the money that is paid out for one. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { runCommand } from '../testing/command.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { offerFor } from '../testing/payment.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { SECRET, sendDue, senderDeps } from '../testing/webhooks.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { publishEvents } from '../webhooks/publisher.ts'

let till: Till
let receiver: Receiver
let store: { id: bigint }
let bot: BotContext
let session: FakeSession

beforeEach(async () => {
  till = await startTill()
  receiver = await startReceiver()
  store = await aStore(till, { webhookUrl: receiver.url })
  ;({ bot, session } = await aBot(till))
})
afterEach(async () => {
  await receiver.close()
  await till.close()
})

const run = (...args: string[]) => runCommand(args, { databaseUrl: till.url })

/** A deposit of 10 and 20 USD that is paid: held where the game has trade protection. */
async function paid(game: 'cs' | 'dota') {
  const deposit = await aDeposit(till, store, { game })
  const { tradeId, code, offerId: offer } = await offerFor(till, bot, deposit)
  till.clock.advance(1_000)
  session.accept(offer)
  await tradeHandlers(till.deps).trade(bot, tradeId)
  return { deposit, trade: String(tradeId), code, offer, exchange: `900${offer}` }
}

/** Sends what is due, one after the other. */
async function tellStore(): Promise<void> {
  await publishEvents(till.deps)
  await sendDue(senderDeps(till), 1n)
}

it('a deposit that was paid, held, told and reversed in part is shown with its trade, money and attempts', async () => {
  const { deposit, trade, code, offer, exchange } = await paid('cs')
  till.clock.advance(1_000)
  receiver.answers.push(status(204), status(500))
  await tellStore()
  till.clock.advance(5_000)
  await tellStore()
  session.takeBack(exchange, deposit.body.items.slice(0, 1))
  till.clock.advance(3_600_000)
  await tradeHandlers(till.deps).history(bot)
  till.clock.advance(1_000)
  await tellStore()

  const { out, code: exit } = await run('deposit', 'show', String(deposit.id))
  expect(exit).toBe(0)
  const lines = out.trim().split('\n')
  const times = lines.map((line) => line.slice(0, 24))
  expect(times).toEqual([...times].sort())
  const what = lines.map((line) => line.slice(26))
  const shopper = `7656119800000${deposit.id}`
  expect(what[0]).toMatch(/^opened by store 1 as top-up \d+, USD, link [0-9a-f]{6}…$/)
  expect(what.slice(1)).toEqual([
    `trade ${trade}: 3000 USD of cs, bot 1, shopper ${shopper}, code ${code}`,
    `trade ${trade}: sent to Steam, offer ${offer}`,
    'event 1: deposit.pending',
    `trade ${trade}: accepted on Steam, exchange ${exchange}`,
    `trade ${trade}: items proved to be with the bot, exchange ${exchange}`,
    'ledger: items → held 3000 USD, delivered',
    'ledger: items → commission 300 USD, commission',
    'event 2: deposit.succeeded',
    'webhook of event 1 to endpoint 1, attempt 1: status 204',
    'webhook of event 2 to endpoint 1, attempt 1: status 500',
    'webhook of event 2 to endpoint 1, attempt 2: status 204',
    'ledger: held → items 1000 USD, reversed',
    'ledger: commission → items 100 USD, commission_reversed',
    'event 3: deposit.reversed',
    'webhook of event 3 to endpoint 1, attempt 1: status 204',
    // In a week: a moment to come.
    `trade ${trade}: Steam’s protection ends, 2000 held`,
  ])
  for (const secret of [deposit.hash, 'tok-en_1', SECRET]) expect(out).not.toContain(secret)
})

it('a payout is recorded, and the balance falls by it once', async () => {
  await paid('dota')
  const balance = async () => (await run('store', 'show', '1')).out.match(/available .*/)?.[0]
  expect(await balance()).toBe('available 3000, held 0, reversed 0 (minor units)')
  const record = (amount: string, reference: string) =>
    run('payout', 'record', '--store', '1', '--currency', 'USD', '--amount', amount, '--reference', reference)
  expect(await record('2500', 'wire 1')).toEqual({ out: 'wire 1 recorded\n', errors: '', code: 0 })
  expect(await balance()).toBe('available 500, held 0, reversed 0 (minor units)')
  expect(await record('2500', 'wire 1')).toMatchObject({ out: 'wire 1 was recorded before\n', code: 0 })
  expect(await record('501', 'wire 2')).toMatchObject({
    code: 1,
    errors: expect.stringContaining('the store has 500 USD available'),
  })
  expect(await balance()).toBe('available 500, held 0, reversed 0 (minor units)')
  expect((await run('store', 'show', '1')).out).not.toContain(SECRET)
})
