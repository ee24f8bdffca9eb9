import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Currency } from '../../contract/money.ts'
import type { DepositStatus } from '../../contract/statuses.ts'
import { aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import type { OverviewView } from './overview.ts'
import { showOverview } from './overview.ts'

const HOUR_MS = 3_600_000

type SampleDeposit = { hoursAgo: number; status: DepositStatus; currency?: Currency; credited?: bigint }

const DEPOSITS: SampleDeposit[] = [
  { hoursAgo: 0, status: 'succeeded', credited: 1_000n },
  { hoursAgo: 0, status: 'created' },
  { hoursAgo: 1, status: 'succeeded', credited: 250n },
  { hoursAgo: 1, status: 'succeeded', currency: 'EUR', credited: 70n },
  { hoursAgo: 23, status: 'tradeDeclined' },
  { hoursAgo: 25, status: 'succeeded', credited: 99_999n },
]

let till: Till
let overview: OverviewView

beforeAll(async () => {
  till = await startTill()
  const store = await aStore(till)
  const thisHour = Math.floor(till.clock.now().getTime() / HOUR_MS) * HOUR_MS
  for (const { hoursAgo, status, currency = 'USD', credited } of DEPOSITS) {
    const { id } = await aDeposit(till, store)
    await till.db
      .updateTable('deposit')
      .set({ status, currency, created_at: new Date(thisHour - hoursAgo * HOUR_MS) })
      .set({ credited_amount: credited ?? null })
      .where('id', '=', id)
      .execute()
  }
  const answer = await showOverview({ db: till.db, clock: till.clock })
  if (answer.kind !== 'done') throw new Error(JSON.stringify(answer))
  overview = answer.data
})
afterAll(() => till.close())

it('every hour is listed with its number of deposits, even an hour without deposits', () => {
  expect(overview.hours).toHaveLength(24)
  const counts = overview.hours.map(({ opened, succeeded }) => [opened, succeeded])
  expect(counts.toReversed().slice(0, 3)).toEqual([
    [2, 1],
    [2, 2],
    [0, 0],
  ])
  expect(counts[0]).toEqual([1, 0])
})

it('deposits of the last 24 hours, and no older ones, are counted by status, the most frequent first', () => {
  expect(overview.statuses[0]).toEqual({ status: 'succeeded', count: 3 })
  expect(overview.statuses).toHaveLength(3)
  expect(overview.funnel).toMatchObject({ opened: 5, paid: 3 })
})

it('credits are summed by currency', () => {
  expect(overview.credited).toEqual([
    { currency: 'EUR', amountMinor: 70n, deposits: 1 },
    { currency: 'USD', amountMinor: 1_250n, deposits: 2 },
  ])
})
