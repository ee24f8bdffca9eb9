import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import type { Running } from '../../e2e/support/process.ts'
import { call, openVisit, requestTrade, showItems } from './load.ts'
import { type KillReport, killOnce } from './one-kill.ts'
import { openProcessTill, type ProcessTill, untilAnswering, untilBotsOnline } from './till.ts'

// The tests wait until the lease of a killed process ends, and a busy machine may be slow.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 1_200_000 })

let till: ProcessTill
let gateway: Running

beforeAll(async () => {
  till = await openProcessTill(inject('databaseUrl'), 'one-kill')
  gateway = till.start()
  await untilAnswering(till, gateway)
  await untilBotsOnline(till)
})

afterAll(async () => {
  await gateway?.interrupt()
  await till?.close()
})

test('20 parallel calls for a trade all succeed with one offer, and a call for other items is refused', async ({
  onTestFinished,
}) => {
  const shopper = till.steam.as('quiet_lynx')
  const offersBefore = shopper.received().length
  onTestFinished(() => {
    for (const { id } of shopper.received().slice(offersBefore)) shopper.decline(id)
  })
  const hash = (await openVisit(till, randomUUID(), 'quiet_lynx')) ?? ''
  const shown = await showItems(till, hash, 'cs')
  const items = shown?.items
    .sort((one, other) => other.price - one.price)
    .slice(0, 2)
    .map(({ id }) => id)
  const request = { hash, game: 'cs', quoteId: shown?.quoteId, items }
  const answers = await Promise.all(Array.from({ length: 20 }, () => requestTrade(till, request)))
  expect(answers).toEqual(Array(20).fill('active'))
  expect(shopper.received()).toHaveLength(offersBefore + 1)
  const withOtherItems = await call(till, '/api/trade', { body: { ...request, items: items?.slice(0, 1) } })
  expect(withOtherItems?.status).toBe(409)
})

describe('when a gateway is killed in the middle of its work', () => {
  let oneKill: KillReport
  const depositOf = (title: string) => oneKill.deposits.find((deposit) => deposit.title === title)

  beforeAll(async () => {
    oneKill = await killOnce(till, gateway)
    gateway = oneKill.nextGateway
  })

  test('the next gateway repeats the webhook that the store had not answered', () => {
    expect(oneKill.continuedMs.webhook).toBeGreaterThan(0)
  })

  test('the next gateway finds the offer of a send whose answer was lost', () => {
    expect(oneKill.stateAtKill).toMatch(/sending|unknown/)
    expect(depositOf('offerAnswerLost')?.answer).toBe('active')
  })

  test.each([
    ['whose webhook was not answered', 'webhookUnanswered'],
    ['whose offer was sent, but Steam’s answer was lost', 'offerAnswerLost'],
    ['of one shopper who accepted right before the kill', 'acceptedBefore1'],
    ['of another shopper who accepted right before the kill', 'acceptedBefore2'],
    ['whose shopper accepted after the kill', 'acceptedAfterKill'],
  ])('exactly one credit is booked for the deposit %s', (_what, title) => {
    const { amount = 0, credited } = depositOf(title) ?? {}
    expect(amount).toBeGreaterThan(0)
    expect(credited).toEqual({ ledger: amount, events: 1, webhooks: amount })
  })

  test('nothing is lost or doubled', () => {
    expect(oneKill.problems).toEqual([])
  })
})
