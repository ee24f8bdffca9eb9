/** Sweeps of deliveries: those of a disabled endpoint, and those that a wrong clock scheduled. */
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { publishEvents } from '../events/service.ts'
import { aStore, startTill, type Till } from '../testing/till.ts'
import { claimDue, expiredDeposit } from '../testing/webhooks.ts'
import { enableByOperator, MOST_GIVEN_UP } from './endpoint-store.ts'
import { removeOwnEndpoint, switchEndpoint } from './endpoints.ts'
import { sweepDisabledEndpoints, sweepFarDeliveries } from './jobs.ts'
import { nextWaitMs } from './schedule.ts'

const WAITING = 2 * MOST_GIVEN_UP + 1

let till: Till
let store: { id: bigint }
let endpointId: bigint

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till, { webhookUrl: 'http://127.0.0.1:9/' })
  endpointId = (await till.db.selectFrom('webhook_endpoint').select('id').executeTakeFirstOrThrow()).id
  await expiredDeposit(till, store)
  await publishEvents(till.deps)
  await sql`
    with more as (
      insert into event (id, store_id, deposit_id, type, payload, sequence, part)
      select gen_random_uuid(), store_id, deposit_id, type, payload, number, number
      from event, generate_series(2, ${WAITING}::int) number returning id
    )
    insert into webhook_delivery (event_id, endpoint_id, due_at)
    select id, ${endpointId}, ${till.clock.now()} from more`.execute(till.db)
})
afterEach(() => till.close())

const switchTo = (on: boolean) => switchEndpoint(till.db, store.id, { id: endpointId, on })

/** The number of deliveries by their last result, or by their state if there is none. */
async function deliveries(): Promise<Record<string, number>> {
  const rows = await till.db
    .selectFrom('webhook_delivery')
    .select(({ fn }) => ['state', 'last_result', fn.countAll<bigint>().as('count')])
    .groupBy(['state', 'last_result'])
    .execute()
  return Object.fromEntries(rows.map((row) => [row.last_result ?? row.state, Number(row.count)]))
}

describe('an endpoint with many waiting deliveries', () => {
  it('is disabled in a short transaction, and the sweep gives up what is left', async () => {
    expect(await switchTo(false)).toMatchObject({ state: 'disabled' })
    expect(await deliveries()).toEqual({
      'the endpoint was disabled': MOST_GIVEN_UP,
      due: WAITING - MOST_GIVEN_UP,
    })
    expect(await claimDue(till.deps, endpointId)).toEqual([])
    await sweepDisabledEndpoints(till.deps)
    expect(await deliveries()).toEqual({ 'the endpoint was disabled': WAITING })
  })

  it('is removed in a short transaction, and the sweep gives up what is left', async () => {
    await removeOwnEndpoint(till.deps, store.id, endpointId)
    expect(await deliveries()).toEqual({
      'the endpoint was removed': MOST_GIVEN_UP,
      due: WAITING - MOST_GIVEN_UP,
    })
    await sweepDisabledEndpoints(till.deps)
    expect(await deliveries()).toEqual({ 'the endpoint was removed': WAITING })
  })

  it.each([
    ['its store', () => switchTo(true)],
    ['the operator', () => till.db.transaction().execute((tx) => enableByOperator(tx, endpointId))],
  ])('gets none of them if it is disabled, and %s enables it again before the sweep', async (_, enable) => {
    await switchTo(false)
    await enable()
    expect(await till.db.selectFrom('webhook_endpoint').select('state').execute()).toEqual([
      { state: 'enabled' },
    ])
    expect(await deliveries()).toEqual({ 'the endpoint was disabled': WAITING })
  })
})

it('the sweep, and an operator who enables an endpoint that is enabled already, leave its deliveries due', async () => {
  await sweepDisabledEndpoints(till.deps)
  await till.db.transaction().execute((tx) => enableByOperator(tx, endpointId))
  expect(await deliveries()).toEqual({ due: WAITING })
})

it('retries scheduled by a clock that was years ahead are due now, and the longest wait of the schedule stays', async () => {
  const now = till.clock.now()
  const after = (ms: number) => new Date(now.getTime() + ms)
  const yearsAhead = after(9e10)
  const longest = after(nextWaitMs({ attempts: 10 }, 1) ?? 0)
  await till.db.updateTable('webhook_delivery').set({ attempts: 1, claim: 1n, due_at: yearsAhead }).execute()
  await sql`update webhook_delivery set due_at = ${longest} where id = (select min(id) from webhook_delivery)`.execute(
    till.db,
  )
  await sweepFarDeliveries(till.deps)
  const rows = await till.db.selectFrom('webhook_delivery').select('due_at').orderBy('id').execute()
  expect(rows.map(({ due_at }) => due_at)).toEqual([longest, ...Array(WAITING - 1).fill(now)])
})

it('deliveries that were never sent are due now if a clock a few hours ahead wrote them', async () => {
  const now = till.clock.now()
  const after = (ms: number) => new Date(now.getTime() + ms)
  await till.db
    .updateTable('webhook_delivery')
    .set({ due_at: after(5 * 3_600_000) })
    .execute()
  const retriedId = sql`(select max(id) from webhook_delivery)`
  await sql`update webhook_delivery set attempts = 1, claim = 1 where id = ${retriedId}`.execute(till.db)
  const soonDueId = sql`(select min(id) from webhook_delivery)`
  await sql`update webhook_delivery set due_at = ${after(1_800_000)} where id = ${soonDueId}`.execute(till.db)
  await sweepFarDeliveries(till.deps)
  const rows = await till.db.selectFrom('webhook_delivery').select('due_at').orderBy('id').execute()
  expect(rows.map(({ due_at }) => due_at)).toEqual([
    after(1_800_000),
    ...Array(WAITING - 2).fill(now),
    after(5 * 3_600_000),
  ])
})

it('the sweep of a gateway whose own clock is far behind leaves the retries of the others', async () => {
  const later = sql`(select till_now()) + interval '10 hours'`
  await sql`update webhook_delivery set attempts = 1, claim = 1, due_at = ${later}`.execute(till.db)
  const due = () => till.db.selectFrom('webhook_delivery').select('due_at').orderBy('id').execute()
  const before = await due()
  const now = new Date(till.clock.now().getTime() - 48 * 3_600_000)
  await sweepFarDeliveries({ ...till.deps, clock: { ...till.clock, now: () => now } })
  expect(await due()).toEqual(before)
})
