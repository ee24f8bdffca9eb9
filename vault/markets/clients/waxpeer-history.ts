/** Waxpeer's history of sales. */

import { HOUR_MS } from '../../durations.ts'
import type { MarketAnswer } from '../market.ts'
import { firstOfEach } from './first-of-each.ts'
import type { Time } from './pace.ts'
import { type HistoryRow, historySchema, isSale } from './waxpeer-answers.ts'
import type { WaxpeerCaller } from './waxpeer-calls.ts'

const PAGE_ROWS = 100
/** The most rows that Waxpeer skips. Its real limit may be slightly lower. */
const MOST_SKIPPED = 1_000
/** The most pages of one reading, and the most time for it: buyers wait only five minutes. */
const MOST_PAGES = 100
const MOST_MS = 120_000
/** Readings end this far in the future, so a clock that is behind Waxpeer's hides no sale. */
const AHEAD_MS = 24 * HOUR_MS
/** A sale under way is no older than this, with an hour to spare: Waxpeer cancels each within 6 hours. */
const UNDER_WAY_MS = 7 * HOUR_MS
/** For this long after a complete reading, only the latest rows are read again. */
const COMPLETE_FOR_MS = 4 * 60_000
/** All games and the balance share a reading that is no older than this. */
const SHARED_FOR_MS = 10_000

type Parts = { call: WaxpeerCaller; time: Time; now: () => Date }
/**
 * Sales, newest first. `wholeSinceMs`: no sale since then is missing; later than the requested time if the reading was
 * cut short.
 */
type Sales = { rows: readonly HistoryRow[]; wholeSinceMs: number }
type Answer<T> = Promise<MarketAnswer<T>>

export type History = {
  /**
   * Sales that may be under way, and perhaps older ones, newest first. `isCut`: some are missing, so a sale without a
   * row may be under way all the same.
   */
  underWay(): Answer<{ rows: readonly HistoryRow[]; isCut: boolean }>
  /** Sales since a date, and perhaps older ones. All but the latest rows can be a few minutes out of date. */
  since(since: Date): Answer<Sales>
}

type Reading = Sales & { sinceMs: number; completeAtMs: number; atMs: number }

export function createHistory(parts: Parts): History {
  const { time, now } = parts
  let last: Reading | undefined
  const underWaySince = () => new Date(now().getTime() - UNDER_WAY_MS)
  return {
    async underWay() {
      const since = underWaySince()
      const answer = await readHistory(parts, since)
      if (answer.kind !== 'answered') return answer
      const { rows, wholeSinceMs } = answer.value
      return { kind: 'answered', value: { rows, isCut: wholeSinceMs > since.getTime() } }
    },
    async since(since) {
      const known = last !== undefined && last.sinceMs <= since.getTime() ? last : undefined
      if (known !== undefined && time.now() - known.atMs < SHARED_FOR_MS)
        return { kind: 'answered', value: known }
      const isComplete = known !== undefined && time.now() - known.completeAtMs < COMPLETE_FOR_MS
      const readSince = isComplete ? underWaySince() : since
      const answer = await readHistory(parts, readSince)
      if (answer.kind !== 'answered') return answer
      const [atMs, read] = [time.now(), answer.value]
      last = isComplete
        ? { ...known, ...joined(read, known, readSince), atMs }
        : { ...read, sinceMs: since.getTime(), completeAtMs: atMs, atMs }
      return { kind: 'answered', value: last }
    },
  }
}

/**
 * Adds the latest rows, those since `readSince`, to an earlier reading. If they were cut short, rows between them and
 * the earlier ones may be missing.
 */
const joined = (latest: Sales, known: Sales, readSince: Date): Sales => ({
  rows: firstOfEach([...latest.rows, ...known.rows], saleKey),
  wholeSinceMs: latest.wholeSinceMs > readSince.getTime() ? latest.wholeSinceMs : known.wholeSinceMs,
})

/** Reads pages, newest first. Where no more rows can be skipped, continues from the time of the oldest row. */
async function readHistory({ call, time, now }: Parts, since: Date): Answer<Sales> {
  const rows: HistoryRow[] = []
  const beganMs = time.now()
  const salesSince = (wholeSinceMs: number): { kind: 'answered'; value: Sales } => ({
    kind: 'answered',
    value: { rows: firstOfEach(rows, saleKey).filter(isSale), wholeSinceMs },
  })
  let [until, skip] = [new Date(now().getTime() + AHEAD_MS), 0]
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await call('my-history', historySchema, {
      body: { skip, start: since.toISOString(), end: until.toISOString(), sort: 'DESC' },
      read: ({ data }) => data,
    })
    if (answer.kind !== 'answered') return answer
    const { trades, transactions } = answer.value
    rows.push(...trades.rows)
    const count = trades.rows.length + trades.unread.length + (transactions?.length ?? 0)
    if (count < PAGE_ROWS) return salesSince(since.getTime())
    if (time.now() - beganMs > MOST_MS) break
    skip += PAGE_ROWS
    if (skip < MOST_SKIPPED) continue
    const oldest = oldestOf(trades.rows)
    if (oldest === undefined || oldest >= until) break
    ;[until, skip] = [oldest, 0]
  }
  // Of the sales at the time of the oldest row, some may be missing.
  return salesSince((oldestOf(rows)?.getTime() ?? Number.POSITIVE_INFINITY) + 1)
}

function oldestOf(rows: readonly HistoryRow[]): Date | undefined {
  const times = rows.map(({ created }) => created.getTime()).filter((atMs) => atMs > 0)
  return times.length === 0 ? undefined : new Date(Math.min(...times))
}

const saleKey = ({ id, item_id, created }: HistoryRow): string =>
  id == null ? `${item_id} ${created.getTime()}` : String(id)
