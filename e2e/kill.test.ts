import { describe, type TestContext, test } from 'vitest'
import { openDeposit, type Shopper, standingOffer } from './calls.ts'
import { type Parts, startParts } from './parts.ts'
import { answerOffer } from './sandbox.ts'
import { balanceCents } from './store.ts'

type Standing = Pick<TestContext, 'expect'> & {
  parts: Parts
  shopper: Shopper
  before: number
  offerId: string
  amount: number
}

/** A till of its own with an offer that waits for the shopper. */
async function tillWithOffer({ expect, onTestFinished }: TestContext): Promise<Standing> {
  const parts = await startParts()
  onTestFinished(() => parts.end())
  const before = await balanceCents(parts.place.store)
  const shopper = await openDeposit(parts)
  return { expect, parts, shopper, before, ...(await standingOffer(shopper)) }
}

async function expectOneCredit({ expect, parts, shopper, before, amount }: Standing): Promise<void> {
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

// Most of each is waiting for the lease of the killed process to run out.
describe.concurrent('a gateway killed between accept and credit credits exactly once', () => {
  test('killed before the shopper accepts, started afterwards', async (context) => {
    const standing = await tillWithOffer(context)
    const { parts, offerId } = standing
    await parts.gateway.kill()
    await answerOffer(parts.place.sandbox, offerId, 'accept')
    await parts.startGateway()
    await expectOneCredit(standing)
  })

  test.for([1, 2])('killed as soon as the shopper has accepted, round %i', async (_, context) => {
    const standing = await tillWithOffer(context)
    const { parts, offerId } = standing
    await answerOffer(parts.place.sandbox, offerId, 'accept')
    await parts.gateway.kill()
    await parts.startGateway()
    await expectOneCredit(standing)
  })
})
