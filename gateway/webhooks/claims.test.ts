/** An endpoint's answer settles a delivery only if the sender's claim still owns the delivery. */
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { publishEvents } from '../events/service.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { aStore, startTill, type Till } from '../testing/till.ts'
import { claimDue, expiredDeposit, senderDeps } from '../testing/webhooks.ts'
import { replay } from './attempts.ts'
import { attemptDelivery, type DeliveryDeps } from './delivery.ts'
import { switchEndpoint } from './endpoints.ts'
import { nextWaitMs } from './schedule.ts'
import type { Claim } from './store.ts'

/** How long a claim lasts, as in store.ts. */
const CLAIM_MS = 18_000

let till: Till
let receiver: Receiver
let store: { id: bigint }
let endpointId: bigint
let deps: DeliveryDeps

beforeEach(async () => {
  till = await startTill()
  receiver = await startReceiver()
  store = await aStore(till, { webhookUrl: receiver.url })
  endpointId = (await till.db.selectFrom('webhook_endpoint').select('id').executeTakeFirstOrThrow()).id
  deps = senderDeps(till)
})
afterEach(async () => {
  await receiver.close()
  await till.close()
})

async function createEvents(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await expiredDeposit(till, store)
  await publishEvents(till.deps)
}

async function claimOne(): Promise<Claim> {
  const [claim] = await claimDue(deps, endpointId, 1)
  if (claim === undefined) throw new Error('nothing is due')
  return claim
}

type OpenAttempt = { claim: Claim; answer(code: number): Promise<void> }

/** Starts an attempt that the store has received but not answered. */
async function startAttempt(): Promise<OpenAttempt> {
  const received = Promise.withResolvers<ServerResponse>()
  receiver.answers.push(received.resolve)
  const claim = await claimOne()
  const ended = attemptDelivery(deps, claim)
  const response = await received.promise
  return {
    claim,
    async answer(code) {
      response.writeHead(code).end()
      await ended
    },
  }
}

const deliveries = () => till.db.selectFrom('webhook_delivery').selectAll().orderBy('id').execute()
const delivery = async () => (await deliveries())[0]
const endpoint = () => till.db.selectFrom('webhook_endpoint').selectAll().executeTakeFirstOrThrow()
const attemptStatuses = async () =>
  (await till.db.selectFrom('webhook_attempt').select('status').orderBy('id').execute()).map(
    (row) => row.status,
  )
const replayEvent = ({ event_id: eventId }: Claim) =>
  replay(till.deps, store.id, { id: endpointId, body: { eventId } })
const disable = () => switchEndpoint(till.db, store.id, { id: endpointId, on: false })

describe('an event replayed during an attempt', () => {
  it('is sent again, even if the attempt succeeds', async () => {
    const isFirstOfEach: boolean[] = []
    deps.onAttempt = ({ isFirst }) => void isFirstOfEach.push(isFirst)
    await createEvents(1)
    const first = await startAttempt()
    await replayEvent(first.claim)
    await first.answer(204)
    expect(await delivery()).toMatchObject({ state: 'due', attempts: 0, due_at: till.clock.now() })
    await attemptDelivery(deps, await claimOne())
    // The time to the first attempt is measured, so a replay years later must not count as a first attempt.
    expect(isFirstOfEach).toEqual([true, false])
    expect(receiver.received).toHaveLength(2)
    expect(await delivery()).toMatchObject({ state: 'delivered', attempts: 1, due_at: null })
    expect(await attemptStatuses()).toEqual([204, 204])
  })

  it('stays delivered if the attempt fails after the replay was delivered', async () => {
    await createEvents(1)
    const first = await startAttempt()
    await replayEvent(first.claim)
    await attemptDelivery(deps, await claimOne())
    await first.answer(500)
    expect(await delivery()).toMatchObject({ state: 'delivered', attempts: 1, last_result: 'status 204' })
    expect(await attemptStatuses()).toEqual([204, 500])
    expect(till.lines.join('')).toContain('nothing was settled')
  })
})

describe('a delivery whose endpoint is disabled', () => {
  it.each([500, 204])('during an attempt is not due again if that attempt ends with %i', async (code) => {
    await createEvents(1)
    const first = await startAttempt()
    await disable()
    await first.answer(code)
    expect(await delivery()).toMatchObject({
      state: 'failed',
      due_at: null,
      last_result: 'the endpoint was disabled',
    })
    expect(await attemptStatuses()).toEqual([code])
  })

  it('after a failed attempt is given up', async () => {
    await createEvents(1)
    const first = await startAttempt()
    await first.answer(500)
    await disable()
    expect(await delivery()).toMatchObject({ state: 'failed', due_at: null, attempts: 1 })
  })

  it('by a 410 to another delivery is not due again', async () => {
    await createEvents(2)
    const [first, second] = [await startAttempt(), await startAttempt()]
    await second.answer(410)
    await first.answer(500)
    expect((await deliveries()).map((row) => [row.state, row.due_at, row.last_result])).toEqual([
      ['failed', null, 'the endpoint was disabled'],
      ['failed', null, 'status 410'],
    ])
    expect(await attemptStatuses()).toEqual([410, 500])
  })
})

describe('an endpoint that answers 410', () => {
  it('to eight simultaneous attempts is disabled, and each attempt is recorded', async () => {
    await createEvents(8)
    receiver.answers.push(...Array.from({ length: 8 }, () => status(410)))
    const claims = await claimDue(deps, endpointId, 8)
    await Promise.all(claims.map((claim) => attemptDelivery(deps, claim)))
    expect(await attemptStatuses()).toEqual(Array(8).fill(410))
    expect((await deliveries()).map((row) => row.state)).toEqual(Array(8).fill('failed'))
    expect(await endpoint()).toMatchObject({ state: 'disabled', disabled_reason: 'gone' })
  })

  it('is disabled even if the delivery was replayed in the meantime', async () => {
    await createEvents(1)
    const first = await startAttempt()
    await replayEvent(first.claim)
    await first.answer(410)
    expect(await endpoint()).toMatchObject({ state: 'disabled', disabled_reason: 'gone' })
    expect(await delivery()).toMatchObject({ state: 'failed', due_at: null })
  })

  it('stays disabled by its store if the store was first, and enabled if its URL has changed', async () => {
    await createEvents(1)
    const first = await startAttempt()
    await disable()
    await first.answer(410)
    expect(await endpoint()).toMatchObject({ state: 'disabled', disabled_reason: 'by_store' })
    await switchEndpoint(till.db, store.id, { id: endpointId, on: true })
    await replayEvent(first.claim)
    const second = await startAttempt()
    await till.db.updateTable('webhook_endpoint').set({ url: 'http://127.0.0.1:9/' }).execute()
    await second.answer(410)
    expect(await endpoint()).toMatchObject({ state: 'enabled' })
  })

  it('at an address that its store has left still gets the event, at its new address', async () => {
    const moved = await startReceiver()
    onTestFinished(() => moved.close())
    await createEvents(1)
    const first = await startAttempt()
    await till.db.updateTable('webhook_endpoint').set({ url: moved.url }).execute()
    await first.answer(410)
    expect(await delivery()).toMatchObject({ state: 'due', attempts: 1, last_result: 'status 410' })
    till.clock.advance(nextWaitMs({ attempts: 1 }, 0.5) ?? 0)
    await attemptDelivery(deps, await claimOne())
    expect(await delivery()).toMatchObject({ state: 'delivered', attempts: 2 })
    expect(moved.received).toHaveLength(1)
  })
})

describe('a sender that stops during an attempt', () => {
  it.each([
    [204, { state: 'delivered', attempts: 1, due_at: null }],
    [500, { state: 'due', attempts: 0 }],
  ])('settles a delivery only if the store accepted it: status %i', async (code, settled) => {
    await createEvents(1)
    const stopping = new AbortController()
    const send = async () => {
      stopping.abort()
      return { kind: 'answered', status: code, text: '' } as const
    }
    await attemptDelivery({ ...deps, send }, await claimOne(), stopping.signal)
    expect(await delivery()).toMatchObject(settled)
  })
})

/** How long an attempt can take: the store's deadline, and a second for the record of its result. */
const LONGEST_ATTEMPT_MS = 16_000

it('no other sender claims a delivery while an attempt may be under way', async () => {
  await createEvents(1)
  const slow = await startAttempt()
  till.clock.advance(LONGEST_ATTEMPT_MS)
  expect(await claimDue(deps, endpointId, 1)).toEqual([])
  await slow.answer(204)
  expect(await delivery()).toMatchObject({ state: 'delivered', attempts: 1 })
})

describe('a sender whose claim has run out', () => {
  it.each([500, 204])('settles nothing with status %i while another sender is sending', async (code) => {
    await createEvents(1)
    const slow = await startAttempt()
    till.clock.advance(CLAIM_MS)
    const otherAttempt = await startAttempt()
    const before = await delivery()
    await slow.answer(code)
    expect(await delivery()).toEqual(before)
    await otherAttempt.answer(204)
    expect(await delivery()).toMatchObject({ state: 'delivered', attempts: 1 })
    expect(await attemptStatuses()).toEqual([code, 204])
  })

  it('does not make a finished delivery due', async () => {
    await createEvents(1)
    const slow = await startAttempt()
    till.clock.advance(CLAIM_MS)
    const otherAttempt = await startAttempt()
    await otherAttempt.answer(204)
    await slow.answer(500)
    expect(await delivery()).toMatchObject({ state: 'delivered', due_at: null, last_result: 'status 204' })
  })

  it('does not release the other sender’s claim when the first sender’s process ends', async () => {
    await createEvents(1)
    const ending = new AbortController()
    const received = Promise.withResolvers<ServerResponse>()
    receiver.answers.push(received.resolve)
    const slow = attemptDelivery(deps, await claimOne(), ending.signal)
    await received.promise
    till.clock.advance(CLAIM_MS)
    const otherAttempt = await startAttempt()
    const before = await delivery()
    ending.abort()
    await slow
    expect(await delivery()).toEqual(before)
    await otherAttempt.answer(204)
  })
})
