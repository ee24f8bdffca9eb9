import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { publishEvents } from '../events/service.ts'
import { runCommand } from '../testing/command.ts'
import { type FakeSession, steamTradeIdOf } from '../testing/fake-steam.ts'
import { offerFor } from '../testing/payment.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { SECRET, sendDue, senderDeps } from '../testing/webhooks.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { nextWaitMs } from '../webhooks/schedule.ts'

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

/** Returns a paid deposit of two items, worth 10 and 20 USD. Its credit is held if Steam protects the game. */
async function paidDeposit(game: 'cs' | 'dota') {
  const deposit = await aDeposit(till, store, { game })
  const { tradeId, code, offerId: offer } = await offerFor(till, bot, deposit)
  till.clock.advance(1_000)
  session.accept(offer)
  await tradeHandlers(till.deps).trade(bot, tradeId)
  return { deposit, trade: String(tradeId), code, offer, steamTrade: steamTradeIdOf(offer) }
}

async function sendWebhooks(): Promise<void> {
  await publishEvents(till.deps)
  await sendDue(senderDeps(till), 1n)
}

it('a deposit that was paid, held and reversed in part is shown with its trade, money and webhook attempts', async () => {
  const { deposit, trade, code, offer, steamTrade } = await paidDeposit('cs')
  till.clock.advance(1_000)
  receiver.answers.push(status(204), status(500))
  await sendWebhooks()
  till.clock.advance(nextWaitMs({ attempts: 1 }, 1) ?? 0)
  await sendWebhooks()
  session.takeBack(steamTrade, deposit.body.items.slice(0, 1))
  till.clock.advance(3_600_000)
  await tradeHandlers(till.deps).history(bot)
  till.clock.advance(1_000)
  await sendWebhooks()

  const { out, code: exit } = await run('deposit', 'show', String(deposit.id))
  expect(exit).toBe(0)
  const lines = out.trim().split('\n')
  // The timeline comes first. Each of its lines begins with a time and two spaces.
  const timeline = lines.filter((line) => /^2\d{3}-/.test(line))
  const times = timeline.map((line) => line.slice(0, 24))
  expect(times).toEqual([...times].sort())
  const moments = timeline.map((line) => line.slice(26))
  const shopper = `7656119800000${deposit.id}`
  expect(moments[0]).toMatch(/^opened by store 1 as top-up \d+, USD, link [0-9a-f]{6}…$/)
  expect(moments.slice(1)).toEqual([
    `trade ${trade}: cs, bot 1, shopper ${shopper}, code ${code}, 30.00 USD`,
    `trade ${trade}: sent to Steam, offer ${offer}`,
    'event 1: deposit.pending',
    `trade ${trade}: accepted on Steam, Steam trade ${steamTrade}`,
    `trade ${trade}: proof that the bot has the items, Steam trade ${steamTrade}`,
    'ledger: items → held, delivered, 30.00 USD',
    'ledger: items → commission, commission, 3.00 USD',
    'event 2: deposit.succeeded',
    'webhook of event 1 to endpoint 1, attempt 1: status 204',
    'webhook of event 2 to endpoint 1, attempt 1: status 500',
    'webhook of event 2 to endpoint 1, attempt 2: status 204',
    'ledger: held → items, reversed, 10.00 USD',
    'ledger: commission → items, commission_reversed, 1.00 USD',
    'event 3: deposit.reversed',
    'webhook of event 3 to endpoint 1, attempt 1: status 204',
    // This line's time is in the future.
    `trade ${trade}: Steam’s protection ends, held credit, 20.00 USD`,
  ])
  expect(lines.slice(timeline.length).map((line) => line.replaceAll(/\d{4}-\S*Z/g, 'TIME'))).toEqual([
    `shopper ${shopper} (nova_hound)`,
    '  1 trade, 1 delivered (for 1 store), 1 taken back, 0 declined or not accepted, 0 open',
    '  first TIME, last TIME',
    '  credited 30.00 USD, taken back 10.00 USD, held 20.00 USD',
    expect.stringMatching(/^ {2}credited on release since TIME: took items back once/),
    'Next:',
    `  TIME  trade ${trade}: the held credit is released, unless the items were taken back`,
    'You can:',
    expect.stringMatching(`^  deposit release ${deposit.id} --reason 'TEXT'  `),
    `  trade look ${trade}  ask Steam about the trade now`,
    expect.stringMatching(`^  trade release ${trade} --reason 'TEXT'  .* \\(from TIME\\)$`),
    expect.stringMatching(`^  trade reverse ${trade} --reason 'TEXT'  `),
    expect.stringMatching(`^  shopper deny ${shopper} --reason 'TEXT'  `),
  ])
  for (const secret of [deposit.hash, 'tok-en_1', SECRET]) expect(out).not.toContain(secret)
})

it('the end of protection is shown without an amount if no credit is held, and not at all after a reversal', async () => {
  const { deposit, trade } = await paidDeposit('cs')
  const ends = async () =>
    (await run('deposit', 'show', String(deposit.id))).out
      .split('\n')
      .filter((line) => /^2\d{3}-.*protection ends/.test(line))
  const set = (values: { held_amount: bigint } | { state: 'reversed' }) =>
    till.db.updateTable('trade').set(values).where('id', '=', BigInt(trade)).execute()
  await set({ held_amount: 0n })
  expect((await ends()).map((line) => line.slice(26))).toEqual([`trade ${trade}: Steam’s protection ends`])
  await set({ state: 'reversed' })
  expect(await ends()).toEqual([])
})

it('moved items are recorded, each with operator and reason, and the export shows the rest', async () => {
  const { trade } = await paidDeposit('dota')
  const lines = (await run('items', 'export')).out.trim().split('\n')
  expect(lines.slice(1).map((line) => line.split(',').slice(6, 8))).toEqual([
    ['10.00', 'USD'],
    ['20.00', 'USD'],
  ])
  const [, first = '', second = ''] = lines
  const input = [first, 'nonsense', first].join('\n')
  const result = await runCommand(['items', 'moved', '--reason', 'sold', '--by', 'Ada'], {
    databaseUrl: till.url,
    input,
  })
  const [item = ''] = first.split(',')
  expect(item).toMatch(new RegExp(`^${trade}-`))
  expect(result).toEqual({
    code: 2,
    out: `nonsense is not an item of the export\n${item} is not held by a bot\n1 recorded as moved.\n`,
    errors: '2 not recorded.\n',
  })
  expect((await run('items', 'export')).out).toBe(`${lines[0]}\n${second}\n`)
  const { acts } = JSON.parse((await run('acts', '--json')).out)
  const record = { act: 'items moved', operator: 'Ada', reason: 'sold' }
  expect(acts).toMatchObject([{ ...record, arguments: { item, bot: 'Tradetill Bot' } }])
})

it('a payout reduces the balance once, and is refused if it is too large or has another payout’s reference', async () => {
  await paidDeposit('dota')
  const balance = async () => (await run('store', 'show', '1')).out.match(/available .*/)?.[0]
  expect(await balance()).toBe('available 30.00 USD, held 0.00 USD, reversed 0.00 USD')
  const payout = ['payout', 'record', '--store', '1', '--currency', 'USD', '--reason', 'November']
  const record = (amount: string, reference: string) =>
    run(...payout, '--amount', amount, '--reference', reference)
  expect(await record('25.00', 'wire 1')).toEqual({
    out: 'wire 1 recorded: 25.00 USD paid to store 1.\n',
    errors: '',
    code: 0,
  })
  expect(await balance()).toBe('available 5.00 USD, held 0.00 USD, reversed 0.00 USD')
  expect(await record('25.00', 'wire 1')).toEqual({
    out: 'wire 1 was recorded before.\n',
    errors: '',
    code: 0,
  })
  expect(await record('5.01', 'wire 2')).toEqual({
    out: '',
    errors: 'Nothing was recorded: the store has 5.00 USD available.\n',
    code: 4,
  })
  expect(await record('24.99', 'wire 1')).toMatchObject({
    code: 4,
    errors: 'Nothing was recorded: wire 1 is another payout, of 25.00 USD.\n',
  })
  expect(await balance()).toBe('available 5.00 USD, held 0.00 USD, reversed 0.00 USD')
  expect((await run('store', 'show', '1')).out).not.toContain(SECRET)
})

it('a send whose offer is not known, and a delivery by the word of an operator, are shown as such', async () => {
  const { deposit, trade, steamTrade } = await paidDeposit('cs')
  await till.db
    .updateTable('trade')
    .set({ steam_offer_id: null, credited_by_operator: true })
    .where('id', '=', BigInt(trade))
    .execute()
  const { out } = await run('deposit', 'show', String(deposit.id))
  const lines = out.split('\n').map((line) => line.slice(26))
  expect(lines).toContain(`trade ${trade}: a send to Steam began, and no offer is known`)
  expect(lines).toContain(`trade ${trade}: credited by an operator, Steam trade ${steamTrade}`)
})
