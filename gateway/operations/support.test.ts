import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { publishEvents } from '../events/service.ts'
import { DAY_MS, HOUR_MS } from '../kit/duration.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { steamTradeIdOf } from '../testing/fake-steam.ts'
import { operatorOf } from '../testing/operator.ts'
import { offerFor, payFor } from '../testing/payment.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { aBot, aDeposit, aStore, PROTECTION_DAYS, startTill, type Till } from '../testing/till.ts'
import { expiredDeposit, sendDue, senderDeps } from '../testing/webhooks.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { sweepTrades } from '../trades/jobs.ts'
import { secretsOf } from '../webhooks/endpoints.ts'
import { holdDeposit, showDeposit } from './deposits.ts'
import type { ActDeps } from './operation.ts'
import { showShopper } from './shoppers.ts'
import { lookAtTrade } from './trades.ts'
import {
  listAttempts,
  listEndpoints,
  removeWebhook,
  replayWebhooks,
  rotateWebhookSecret,
} from './webhooks.ts'

let till: Till
let deps: ActDeps
let bot: Awaited<ReturnType<typeof aBot>>
let receiver: Receiver
let store: { id: bigint }
let endpointId: bigint

beforeAll(async () => {
  till = await startTill()
  deps = operatorOf(till)
  bot = await aBot(till)
})
afterAll(() => till.close())
beforeEach(async () => {
  receiver = await startReceiver()
  store = await aStore(till, { webhookUrl: `${receiver.url}?key=5ecret`, riskLimitUsdCents: 1_000_000n })
  const row = await till.db
    .selectFrom('webhook_endpoint')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  endpointId = row.id
})
afterEach(() => receiver.close())

const lastAct = () =>
  till.db
    .selectFrom('operator_act')
    .select(['act', 'arguments', 'reason'])
    .orderBy('id', 'desc')
    .executeTakeFirst()

describe('webhooks that fail', () => {
  async function sendWebhooks(): Promise<void> {
    await publishEvents(till.deps)
    await sendDue(senderDeps(till), endpointId)
  }
  beforeEach(async () => {
    receiver.answers.push(status(500), status(500))
    await payFor(till, bot, await aDeposit(till, store))
    await sendWebhooks()
  })

  it('are counted by endpoint, first as retried and then as given up; the endpoint’s URL is shown without the query', async () => {
    const { data } = await listEndpoints(deps, { failing: true, storeId: store.id, limit: 10 })
    expect(data?.endpoints).toMatchObject([
      {
        endpointId,
        storeId: store.id,
        state: 'enabled',
        retrying: 2,
        givenUp: 0,
        lastAttempt: { status: 500 },
      },
    ])
    expect(data?.endpoints[0]?.failingSince).toBeInstanceOf(Date)
    expect(data?.endpoints[0]?.url).not.toContain('5ecret')
    await till.db.updateTable('webhook_delivery').set({ state: 'failed' }).execute()
    const later = await listEndpoints(deps, { failing: true, storeId: store.id, limit: 10 })
    const givenUp = { givenUp: 2, givenUpFrom: 1n, givenUpTo: 2n }
    expect(later.data?.endpoints).toMatchObject([{ retrying: 0, ...givenUp }])
  })

  it('are reported with the lowest and highest sequence of those given up, whatever the order of their deliveries', async () => {
    await till.db.deleteFrom('webhook_attempt').where('endpoint_id', '=', endpointId).execute()
    const [first] = await till.db
      .deleteFrom('webhook_delivery')
      .where('endpoint_id', '=', endpointId)
      .where('event_id', 'in', till.db.selectFrom('event').select('id').where('sequence', '=', 1n))
      .returning('event_id')
      .execute()
    // A replay of an old event whose delivery was deleted adds a delivery with a high id.
    await till.db
      .insertInto('webhook_delivery')
      .values({ event_id: String(first?.event_id), endpoint_id: endpointId, due_at: till.clock.now() })
      .execute()
    await till.db.updateTable('webhook_delivery').set({ state: 'failed' }).execute()
    const { data } = await listEndpoints(deps, { storeId: store.id, limit: 10 })
    expect(data?.endpoints).toMatchObject([{ givenUp: 2, givenUpFrom: 1n, givenUpTo: 2n }])
  })

  it('are listed with each attempt, page by page', async () => {
    const first = await listAttempts(deps, { endpointId, limit: 1 })
    expect(first.data?.attempts).toMatchObject([{ type: 'deposit.succeeded', attempt: 1, status: 500 }])
    const rest = await listAttempts(deps, { endpointId, limit: 5, before: first.data?.next ?? 0n })
    expect(rest.data).toMatchObject({ attempts: [{ type: 'deposit.pending' }], next: null })
    expect(await listAttempts(deps, { endpointId: 999n, limit: 1 })).toMatchObject({ refusal: 'not_found' })
  })

  it('are sent again as a range or one by one, and the view of their deposit suggests this', async () => {
    await till.db.updateTable('webhook_delivery').set({ state: 'failed', due_at: null }).execute()
    const { id } = await till.db
      .selectFrom('deposit')
      .select('id')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
    const { data } = await showDeposit(deps, id)
    expect(data?.can.map(({ command }) => command)).toContain(`webhook replay ${endpointId} --from 2 --to 2`)
    const range = { endpointId, fromSequence: 1, toSequence: 2 }
    expect(await replayWebhooks(deps, range)).toMatchObject({ kind: 'done', data: { replayed: 2 } })
    expect(await lastAct()).toMatchObject({
      act: 'webhook replay',
      arguments: { replayed: 2, fromSequence: 1, toSequence: 2 },
    })
    const before = receiver.received.length
    await sendDue(senderDeps(till), endpointId)
    expect(receiver.received.length).toBe(before + 2)
    const { event_id: eventId } = await till.db
      .selectFrom('webhook_delivery')
      .select('event_id')
      .where('endpoint_id', '=', endpointId)
      .executeTakeFirstOrThrow()
    expect(await replayWebhooks(deps, { endpointId, eventId })).toMatchObject({ data: { replayed: 1 } })
    const unknown = '00000000-0000-4000-8000-000000000000'
    expect(await replayWebhooks(deps, { endpointId, eventId: unknown })).toMatchObject({
      refusal: 'not_found',
      message: `There is no event ${unknown} in the log of store ${store.id}.`,
    })
  })

  it('are not sent again in a range of more than 10,000 events', async () => {
    await sql`
      insert into event (id, store_id, part, type, payload, sequence)
      select gen_random_uuid(), ${store.id}, n, 'epoch.started', '{}', n from generate_series(3, 10001) n`.execute(
      till.db,
    )
    const replay = (toSequence: number) => replayWebhooks(deps, { endpointId, fromSequence: 1, toSequence })
    expect(await replay(1_052_202_005)).toMatchObject({
      refusal: 'usage',
      message: 'The range may have at most 10000 events.',
    })
    expect(await replay(10_000)).toMatchObject({ kind: 'done', data: { replayed: 10_000 } })
  })

  it('are not sent again if the endpoint is disabled, and nothing is recorded', async () => {
    await till.db
      .updateTable('webhook_endpoint')
      .set({ state: 'disabled', disabled_reason: 'by_store' })
      .where('id', '=', endpointId)
      .execute()
    const before = await lastAct()
    const range = { endpointId, fromSequence: 1, toSequence: 2 }
    expect(await replayWebhooks(deps, range)).toMatchObject({ refusal: 'conflict', message: /disabled/ })
    expect(await lastAct()).toEqual(before)
  })

  it('can be signed with another secret, which the record of the act does not contain', async () => {
    const { data } = await rotateWebhookSecret(deps, { endpointId, overlapHours: 0 })
    const row = await till.db
      .selectFrom('webhook_endpoint')
      .selectAll()
      .where('id', '=', endpointId)
      .executeTakeFirstOrThrow()
    const box = createSecretBox(deps.config.masterKey)
    expect(secretsOf(box, row, till.clock.now())).toEqual([data?.webhookSecret])
    expect(await lastAct()).toMatchObject({ act: 'webhook rotate', reason: 'case 7' })
    expect(JSON.stringify(await lastAct())).not.toContain(data?.webhookSecret)
  })

  it('end with their endpoint: due deliveries are given up and nothing is sent, but the events stay', async () => {
    const before = receiver.received.length
    expect(await removeWebhook(deps, { endpointId })).toMatchObject({
      kind: 'done',
      data: { endpointId, storeId: store.id, url: receiver.url },
    })
    expect(await lastAct()).toMatchObject({ act: 'webhook remove', reason: 'case 7' })
    expect(JSON.stringify(await lastAct())).not.toContain('5ecret')
    const states = till.db
      .selectFrom('webhook_delivery')
      .select('state')
      .where('endpoint_id', '=', endpointId)
      .orderBy('id')
    expect(await states.execute()).toEqual([{ state: 'failed' }, { state: 'failed' }])
    await expiredDeposit(till, store)
    await sendWebhooks()
    expect(receiver.received.length).toBe(before)
    const events = till.db.selectFrom('event').select('sequence').where('store_id', '=', store.id)
    // Two events of the paid deposit, and one of the expired deposit.
    expect(await events.orderBy('sequence').execute()).toHaveLength(3)
    const range = { endpointId, fromSequence: 1, toSequence: 2 }
    for (const answer of [
      await removeWebhook(deps, { endpointId }),
      await replayWebhooks(deps, range),
      await rotateWebhookSecret(deps, { endpointId, overlapHours: 0 }),
    ])
      expect(answer).toMatchObject({ refusal: 'not_found' })
    const { data } = await listEndpoints(deps, { storeId: store.id, limit: 10 })
    expect(data?.endpoints).toEqual([])
  })
})

describe('an operator’s hold of a deposit', () => {
  it('is set once, and further calls change nothing, even while an offer is open', async () => {
    const deposit = await aDeposit(till, store, { game: 'cs' })
    expect(await holdDeposit(deps, deposit.id)).toMatchObject({ kind: 'done' })
    expect(await holdDeposit(deps, deposit.id)).toMatchObject({ kind: 'unchanged' })
    await offerFor(till, bot.bot, deposit)
    expect(await holdDeposit(deps, deposit.id)).toMatchObject({ kind: 'unchanged' })
  })

  it('keeps all credit of a payment held, despite room in the store’s limit, and is refused after the payment', async () => {
    const deposit = await aDeposit(till, store, { game: 'cs' })
    await holdDeposit(deps, deposit.id)
    await payFor(till, bot, deposit)
    expect((await showDeposit(deps, deposit.id)).data).toMatchObject({
      amountMinor: 3_000n,
      heldMinor: 3_000n,
    })
    expect(await holdDeposit(deps, deposit.id)).toMatchObject({ refusal: 'conflict' })
  })

  it('cannot begin once there is an offer, or for an unknown deposit', async () => {
    const deposit = await aDeposit(till, store, { game: 'cs' })
    await offerFor(till, bot.bot, deposit)
    expect(await holdDeposit(deps, deposit.id)).toMatchObject({ refusal: 'conflict' })
    expect(await holdDeposit(deps, 999n)).toMatchObject({ refusal: 'not_found' })
  })
})

describe('a look at a trade', () => {
  it('asks Steam immediately whether the items of a delivery were taken back', async () => {
    const deposit = await aDeposit(till, store, { game: 'cs' })
    const { tradeId, offerId } = await offerFor(till, bot.bot, deposit)
    bot.session.accept(offerId)
    await tradeHandlers(till.deps).trade(bot.bot, tradeId)
    till.clock.advance(1_000)
    bot.session.takeBack(steamTradeIdOf(offerId), deposit.body.items)
    // Nothing is due. The till would find the reversal only when it next reads the history.
    await tradeHandlers(till.deps).trade(bot.bot, tradeId)
    expect((await showDeposit(deps, deposit.id)).data).toMatchObject({ reversedMinor: 0n })
    expect(await lookAtTrade(deps, tradeId)).toMatchObject({ kind: 'done' })
    await sweepTrades(till.deps)
    await tradeHandlers(till.deps).trade(bot.bot, tradeId)
    expect((await showDeposit(deps, deposit.id)).data).toMatchObject({ reversedMinor: 3_000n })
    expect(await lookAtTrade(deps, tradeId)).toMatchObject({ refusal: 'conflict' })
    expect(await lookAtTrade(deps, 999n)).toMatchObject({ refusal: 'not_found' })
  })

  it('does not replace the last look, a day after the settlement, which finds a reversal that Steam reports late', async () => {
    const deposit = await aDeposit(till, store, { game: 'cs' })
    const { tradeId, offerId } = await offerFor(till, bot.bot, deposit)
    const work = async () => {
      await sweepTrades(till.deps)
      await tradeHandlers(till.deps).trade(bot.bot, tradeId)
    }
    bot.session.accept(offerId)
    await tradeHandlers(till.deps).trade(bot.bot, tradeId)
    till.clock.advance(PROTECTION_DAYS * DAY_MS)
    await work()
    till.clock.advance(HOUR_MS)
    expect(await lookAtTrade(deps, tradeId)).toMatchObject({ kind: 'done' })
    await work()
    bot.session.takeBack(steamTradeIdOf(offerId), deposit.body.items)
    till.clock.advance(DAY_MS - HOUR_MS)
    await work()
    expect((await showDeposit(deps, deposit.id)).data).toMatchObject({ reversedMinor: 3_000n })
  })
})

it('a shopper’s history shows deliveries, credits and deposits', async () => {
  const deposit = await aDeposit(till, store, { game: 'cs' })
  await payFor(till, bot, deposit)
  const { data } = await showShopper(deps, `7656119800000${deposit.id}`)
  expect(data).toMatchObject({
    name: 'nova_hound',
    denied: null,
    history: { trades: 1, delivered: 1, reversed: 0, open: 0, stores: 1 },
    money: [{ currency: 'USD', creditedMinor: 3_000n, reversedMinor: 0n }],
    deposits: [{ depositId: deposit.id }],
  })
  expect(await showShopper(deps, '76561198999999999')).toMatchObject({ refusal: 'not_found' })
})
