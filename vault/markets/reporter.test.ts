/** The reports of sales to the till, which may have been restored from a backup. */
import { beforeEach, expect, it } from 'vitest'
import { createMemoryLog, PLAIN_KEY } from '../testing/memory-log.ts'
import { openRecord, type SaleRecord } from './record.ts'
import { createReporter } from './reporter.ts'
import type { Till } from './till.ts'

const MINUTE_MS = 60_000
let nowMs: number
let record: SaleRecord
/** The reports that the till has, as `entry/part`. */
let reported: Set<string>
/** How often the till was asked for its last report. */
let asked: number
let isAnswerLost: boolean
let report: () => Promise<void>

const till: Pick<Till, 'lastReported' | 'report'> = {
  async lastReported() {
    asked += 1
    return Math.max(0, ...[...reported].map((each) => Number(each.split('/')[0])))
  },
  async report(reports) {
    for (const { n, part } of reports) reported.add(`${n}/${part}`)
    if (isAnswerLost) throw new Error('the answer was lost')
  },
}

beforeEach(() => {
  nowMs = 1_800_000_000_000
  reported = new Set()
  asked = 0
  isAnswerLost = false
  const now = () => new Date(nowMs)
  record = openRecord({ log: createMemoryLog(), key: PLAIN_KEY, now, isBot: () => false })
  report = createReporter({ record, till, now })
})

/** Lists an item. Of the two entries that this records, only the second is reported. */
function list(assetId: string): void {
  const item = { market: 'm', appId: 570, assetId }
  record.add({ kind: 'listing_begun', account: null, priceMinor: 100n, ...item })
  record.add({ kind: 'listed', itemId: assetId, ...item })
}

it('a till that was restored from a backup gets its lost reports again within a minute', async () => {
  for (const assetId of ['1', '2', '3']) {
    list(assetId)
    await report()
  }
  expect([...reported]).toEqual(['2/0', '4/0', '6/0'])
  reported = new Set(['2/0'])
  nowMs += MINUTE_MS
  await report()
  expect([...reported]).toEqual(['2/0', '4/0', '6/0'])
})

it('a report does not hide that earlier reports are missing', async () => {
  list('1')
  await report()
  reported = new Set()
  list('2')
  await report()
  expect([...reported].toSorted()).toEqual(['2/0', '4/0'])
})

it('a till that has a part of an entry’s reports gets the other reports', async () => {
  for (const assetId of ['1', '2']) list(assetId)
  const due = { dealId: 'd', partnerSteamId: '1', token: 't', message: 'x', assets: [] }
  record.add({ kind: 'deal_intended', market: 'm', account: null, due, itemIds: ['1', '2'] })
  reported = new Set(['2/0', '4/0', '5/0'])
  await report()
  expect(reported.has('5/1')).toBe(true)
})

it('after a lost answer, the till is asked only once a minute while there is no news', async () => {
  list('1')
  isAnswerLost = true
  await expect(report()).rejects.toThrow('lost')
  isAnswerLost = false
  asked = 0
  for (let round = 0; round < 20; round += 1) {
    await report()
    nowMs += 3_000
  }
  expect([asked, reported.size]).toEqual([1, 1])
})
