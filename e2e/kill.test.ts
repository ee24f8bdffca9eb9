import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDeposit, type Shopper, standingOffer } from './calls.ts'
import { type Parts, startParts } from './parts.ts'
import { answerOffer } from './sandbox.ts'
import { balanceCents } from './store.ts'

let parts: Parts

beforeAll(async () => {
  parts = await startParts()
})

afterAll(async () => {
  await parts?.end()
})

async function expectOneCredit(shopper: Shopper, before: number, amount: number): Promise<void> {
  const { place } = parts
  await expect.poll(async () => (await shopper.payment()).status, { timeout: 60_000 }).toBe('succeeded')
  await expect.poll(() => balanceCents(place.store), { timeout: 60_000 }).toBe(before + amount)
  const [entries] = await parts.query(
    `select sum(ledger_entry.amount)::int as credited
     from ledger_entry
     join trade on trade.id = ledger_entry.trade_id
     join account on account.id = ledger_entry.credit_account
     where trade.deposit_id = $1 and ledger_entry.cause = 'delivered' and account.kind in ('held', 'available')`,
    [shopper.depositId],
  )
  expect(entries).toEqual({ credited: amount })
  const events = await parts.query(
    `select id from event where deposit_id = $1 and type = 'deposit.succeeded'`,
    [shopper.depositId],
  )
  expect(events).toHaveLength(1)
}

describe('a gateway killed between accept and credit credits exactly once', () => {
  test('killed before the shopper accepts, started afterwards', async () => {
    const before = await balanceCents(parts.place.store)
    const shopper = await openDeposit(parts)
    const { offerId, amount } = await standingOffer(shopper)
    await parts.gateway.kill()
    await answerOffer(parts.place.sandbox, offerId, 'accept')
    await parts.startGateway()
    await expectOneCredit(shopper, before, amount)
  })

  test.each([1, 2])('killed as soon as the shopper has accepted, round %i', async () => {
    const before = await balanceCents(parts.place.store)
    const shopper = await openDeposit(parts)
    const { offerId, amount } = await standingOffer(shopper)
    await answerOffer(parts.place.sandbox, offerId, 'accept')
    await parts.gateway.kill()
    await parts.startGateway()
    await expectOneCredit(shopper, before, amount)
  })
})
