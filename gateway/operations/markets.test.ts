import { expect, it, onTestFinished } from 'vitest'
import { marketLines } from '../cli/sale-lines.ts'
import { inTransaction } from '../db/transaction.ts'
import { recordListing, recordReport } from '../departures/sales.ts'
import { receivedIdOf } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, aVaultNeed, startTill } from '../testing/till.ts'
import { listMarkets } from './markets.ts'

it('a market is listed while its only item is on sale, and after the item was sold but not paid', async () => {
  const till = await startTill()
  onTestFinished(() => till.close())
  const deposit = await aDeposit(till, await aStore(till), { game: 'dota' })
  await payFor(till, await aBot(till), deposit)
  const at = till.clock.now()
  const sale = { market: 'market.csgo.com', reference: '1' }
  const item = { appId: 570, listedAssetId: receivedIdOf(deposit.body.items[0]) }
  await inTransaction(till.db, (tx) =>
    recordListing(tx, { ...sale, ...item, currency: 'USD', price: 1_300n }, at),
  )
  // Lists read no settings.
  const deps = { db: till.db, clock: till.clock, config: Object.create(null) }
  expect(await listMarkets(deps)).toMatchObject({ data: { markets: [{ listed: 1, unpaid: 0 }] } })
  await inTransaction(till.db, (tx) => recordReport(tx, { ...sale, report: { kind: 'sold' } }, at))
  expect(await listMarkets(deps)).toMatchObject({ data: { markets: [{ listed: 0, unpaid: 1 }] } })
})

it('the list of markets begins with the problems at the vault that need a person, oldest first', async () => {
  const till = await startTill()
  onTestFinished(() => till.close())
  const deps = { db: till.db, clock: till.clock, config: Object.create(null) }
  const [early, late] = [new Date('2026-11-21T08:00:00Z'), new Date('2026-11-22T08:00:00Z')]
  await aVaultNeed(till.db, { kind: 'start_failed', since: late })
  await aVaultNeed(till.db, { kind: 'offer_stuck', since: early })
  const answer = await listMarkets(deps)
  const data = answer.kind === 'refused' ? undefined : answer.data
  expect(data?.needs.map(({ kind }) => kind)).toEqual(['offer_stuck', 'start_failed'])
  expect(data && marketLines(data)).toEqual([
    'needs you\toffer_stuck\tno room\tmarket.csgo.com\tsince 2026-11-21T08:00:00.000Z',
    'needs you\tstart_failed\tno room\tmarket.csgo.com\tsince 2026-11-22T08:00:00.000Z',
  ])
})
