import { expect, it, onTestFinished } from 'vitest'
import { tillIn } from '../../vault/markets/till-store.ts'
import { openDatabase } from '../../vault/till-database.ts'
import { marketLines } from '../cli/sale-lines.ts'
import { inTransaction } from '../db/transaction.ts'
import { recordListing, recordReport } from '../departures/sales.ts'
import { receivedIdOf } from '../testing/fake-steam.ts'
import { operatorOf } from '../testing/operator.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, aVaultNeed, startTill } from '../testing/till.ts'
import { listMarkets, switchMarket } from './markets.ts'

it('a market is listed while its only item is on sale, and while the item is sold but unpaid', async () => {
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

it('the list of markets ends with the items that are not on sale, and the reasons that the vault reports', async () => {
  const till = await startTill()
  onTestFinished(() => till.close())
  const deps = { db: till.db, clock: till.clock, config: Object.create(null) }
  const said_at = new Date('2026-11-21T08:00:00Z')
  const account = '76561198000009001'
  await till.db
    .insertInto('vault_unlisted')
    .values([
      { market: 'm', account, app_id: 570, reason: 'no_price', items: 2, detail: 'Cap', said_at },
      { market: 'a', account, app_id: null, reason: 'stopped', items: null, detail: 'it is off', said_at },
    ])
    .execute()
  const answer = await listMarkets(deps)
  expect(answer.kind === 'done' && marketLines(answer.data)).toEqual([
    `not on sale\ta account ${account}\tstopped\tit is off\tat 2026-11-21T08:00:00.000Z`,
    `not on sale\tm account ${account}\tapp 570\t2 items\tno_price\tsuch as Cap\tat 2026-11-21T08:00:00.000Z`,
  ])
})

it('only a market that the vault supports, or that is in the books, can be switched off', async () => {
  const till = await startTill()
  onTestFinished(() => till.close())
  const deps = operatorOf(till)
  for (const isOff of [true, false]) {
    expect(await switchMarket(deps, { market: 'waxpeer', isOff })).toEqual({
      kind: 'refused',
      refusal: 'not_found',
      message:
        'There is no market waxpeer. The vault sells on market.csgo.com and waxpeer.com. For others in the books, see market list.',
    })
  }
  expect(await listMarkets(deps)).toMatchObject({ data: { markets: [] } })
  expect(await switchMarket(deps, { market: 'waxpeer.com', isOff: true })).toMatchObject({ kind: 'done' })
  const vault = openDatabase(till.url)
  onTestFinished(() => vault.close())
  const money = { currency: 'USD', settlingMinor: 0n, freeMinor: 100n } as const
  await tillIn(vault.query).reportBalance('elsewhere.com', money, till.clock.now())
  expect(await switchMarket(deps, { market: 'elsewhere.com', isOff: true })).toMatchObject({ kind: 'done' })
})

it('an unknown market that an earlier release switched off can be switched on, but not off', async () => {
  const till = await startTill()
  onTestFinished(() => till.close())
  const deps = operatorOf(till)
  const market = 'nope.com'
  await till.db.insertInto('market_off').values({ market }).execute()
  expect(await switchMarket(deps, { market, isOff: true })).toMatchObject({ refusal: 'not_found' })
  expect(await switchMarket(deps, { market, isOff: false })).toMatchObject({ kind: 'done' })
  expect(await listMarkets(deps)).toMatchObject({ data: { markets: [] } })
  expect(await switchMarket(deps, { market, isOff: false })).toMatchObject({ refusal: 'not_found' })
})
