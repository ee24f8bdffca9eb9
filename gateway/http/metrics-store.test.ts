import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readNeeds } from '../alerts/needs-store.ts'
import { publishEvents } from '../events/service.ts'
import { createMetrics } from '../metrics.ts'
import { disableStore } from '../operations/stores.ts'
import { operatorOf } from '../testing/operator.ts'
import { offerFor, payFor } from '../testing/payment.ts'
import { startReceiver } from '../testing/receiver.ts'
import { aBot, aDeposit, aStore, jump, startTill, type Till } from '../testing/till.ts'
import { expiredDeposit, sendDue, senderDeps } from '../testing/webhooks.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { cancelDeposit } from '../trades/cancellation.ts'
import { replay } from '../webhooks/attempts.ts'
import { removeOwnEndpoint } from '../webhooks/endpoints.ts'
import { registerStorageMetrics } from './metrics-store.ts'

let till: Till

beforeEach(async () => {
  till = await startTill()
})
afterEach(() => till.close())

function lineReader() {
  const { registry } = createMetrics()
  registerStorageMetrics(registry, till.db)
  return async (metric: string) =>
    (await registry.metrics()).split('\n').find((line) => line.startsWith(metric))
}

it('the gauges are read from the database each time they are collected', async () => {
  const lineOf = lineReader()
  const store = await aStore(till, { webhookUrl: 'http://127.0.0.1:9/' })
  const [first] = [await aDeposit(till, store), await aDeposit(till, store)]
  expect(await lineOf('tradetill_deposits_open')).toBe('tradetill_deposits_open{status="created"} 2')
  await cancelDeposit(till.deps, store.id, first.id)
  expect(await lineOf('tradetill_deposits_open')).toBe('tradetill_deposits_open{status="created"} 1')
  expect(await lineOf('tradetill_events_unpublished')).toBe('tradetill_events_unpublished 1')
  await publishEvents(till.deps)
  expect(await lineOf('tradetill_events_unpublished')).toBe('tradetill_events_unpublished 0')
  expect(await lineOf('tradetill_webhooks_due')).toBe('tradetill_webhooks_due 1')
  expect(await lineOf('tradetill_webhook_endpoints')).toBe('tradetill_webhook_endpoints{state="enabled"} 1')
  expect(await lineOf('tradetill_trades_overdue')).toBe('tradetill_trades_overdue 0')
  expect(await lineOf('tradetill_queue_jobs')).toContain('tradetill_queue_jobs{queue="')
})

it('an endpoint that was removed after it got webhooks is not counted as disabled', async () => {
  const store = await aStore(till, { webhookUrl: 'http://127.0.0.1:9/' })
  await cancelDeposit(till.deps, store.id, (await aDeposit(till, store)).id)
  await publishEvents(till.deps)
  const { id } = await till.db.selectFrom('webhook_endpoint').select('id').executeTakeFirstOrThrow()
  const lineOf = lineReader()
  expect(await lineOf('tradetill_webhook_endpoints{')).toBe('tradetill_webhook_endpoints{state="enabled"} 1')
  await removeOwnEndpoint(till.deps, store.id, id)
  expect(await lineOf('tradetill_webhook_endpoints{')).toBeUndefined()
})

it('an item that was taken back does not count as protected, nor does its commission', async () => {
  const { bot, session } = await aBot(till)
  const deposit = await aDeposit(till, await aStore(till), { game: 'cs', prices: [1_000n, 2_000n] })
  await payFor(till, { bot, session }, deposit)
  const lineOf = lineReader()
  expect(await lineOf('tradetill_items_protected')).toBe('tradetill_items_protected{currency="USD"} 3300')
  session.takeBack('9001', deposit.body.items.slice(0, 1))
  await tradeHandlers(till.deps).history(bot)
  expect(await lineOf('tradetill_items_protected')).toBe('tradetill_items_protected{currency="USD"} 2200')
})

it('a deposit counts as one with an offer only once its offer is on Steam', async () => {
  const { bot, session } = await aBot(till)
  const store = await aStore(till)
  const [refused, offered] = [await aDeposit(till, store), await aDeposit(till, store)]
  const lineOf = lineReader()
  const offers = () => lineOf('tradetill_funnel_deposits{step="offer"}')
  session.sends.push({ answer: 'refused' })
  await expect(offerFor(till, bot, refused)).rejects.toThrow()
  expect(await till.db.selectFrom('trade').select('state').execute()).toEqual([{ state: 'refused' }])
  expect(await offers()).toBe('tradetill_funnel_deposits{step="offer"} 0')
  await offerFor(till, bot, offered)
  expect(await offers()).toBe('tradetill_funnel_deposits{step="offer"} 1')
})

it('a disabled store has no limit that its credit could approach', async () => {
  const { id } = await aStore(till, { riskLimitUsdCents: 5_000n })
  const lineOf = lineReader()
  expect(await lineOf('tradetill_store_risk_limit_usd{')).toBe(
    `tradetill_store_risk_limit_usd{store="${id}"} 50`,
  )
  expect(await disableStore(operatorOf(till, 'closed'), id)).toMatchObject({ kind: 'done' })
  expect(await lineOf('tradetill_store_risk_limit_usd{')).toBeUndefined()
})

it('a source of prices that fails and has never answered is infinitely late, so the alert about old prices fires', async () => {
  const feed = (source: string, failures: number) => ({
    source,
    feed: 'cs' as const,
    next_at: till.clock.now(),
    good_at: null,
    failures,
  })
  await till.db
    .insertInto('price_feed')
    .values([feed('skinport', 3), feed('waxpeer', 0)])
    .execute()
  const lineOf = lineReader()
  expect(await lineOf('tradetill_price_feed_age_seconds{source="skinport"')).toMatch(/ \+Inf$/)
  // It waits for its turn.
  expect(await lineOf('tradetill_price_feed_age_seconds{source="waxpeer"')).toBeUndefined()
})

it('the alert that no process sends webhooks does not fire for a long replay that is being sent', async () => {
  const rules = readFileSync(join(import.meta.dirname, '../../deploy/prometheus/alerts.yml'), 'utf8')
  const [, series = '', limitS] = /alert: WebhooksLate\n +expr: "max\((\w+)\) > (\d+)"/.exec(rules) ?? []
  const lineOf = lineReader()
  const isFiring = async () => Number((await lineOf(series))?.split(' ')[1]) > Number(limitS)
  const receiver = await startReceiver()
  const store = await aStore(till, { webhookUrl: receiver.url })
  const { id } = await till.db.selectFrom('webhook_endpoint').select('id').executeTakeFirstOrThrow()
  for (let n = 0; n < 3; n += 1) await expiredDeposit(till, store)
  await publishEvents(till.deps)
  const send = (most: number) => sendDue(senderDeps(till), id, most)
  await send(3)
  await jump(till, 3_600)
  expect(await isFiring()).toBe(false)
  await replay(till.deps, store.id, { id, body: { fromSequence: 1, toSequence: 3 } })
  // The store answers slowly, so most of the range still waits.
  await jump(till, 300)
  await send(1)
  expect(await lineOf('tradetill_webhooks_due')).toBe('tradetill_webhooks_due 2')
  expect(await isFiring()).toBe(false)
  await jump(till, 61)
  expect(await isFiring()).toBe(true)
  // The needs of operators allow five minutes.
  expect(await readNeeds(till.db)).toMatchObject({ webhooksLate: 0 })
  await jump(till, 240)
  expect(await readNeeds(till.db)).toMatchObject({ webhooksLate: 2 })
  await receiver.close()
})
