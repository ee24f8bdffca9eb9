/** Waxpeer's history of sales. */
import { firstOfEach } from './first-of-each.ts'
import type { MarketAnswer } from './market.ts'
import type { Time } from './pace.ts'
import { type HistoryRow, historySchema, isSale } from './waxpeer-answers.ts'
import type { WaxpeerCaller } from './waxpeer-calls.ts'

const PAGE_ROWS = 100
/** Waxpeer skips no more rows than this, and perhaps not quite as many. */
const MOST_SKIPPED = 1_000
/** The most pages of one reading, and the most time for it: buyers wait only five minutes. */
const MOST_PAGES = 100
const MOST_MS = 120_000
const HOUR_MS = 3_600_000
/** Readings end this far in the future, so a clock that is behind Waxpeer's hides no sale. */
const AHEAD_MS = 24 * HOUR_MS
/** How far back a sale can be under way: Waxpeer cancels each within 6 hours. */
const UNDER_WAY_MS = 7 * HOUR_MS
/** After a complete reading, only the latest rows are read again for this time. */
const COMPLETE_FOR_MS = 4 * 60_000
/** All games and the balance share a reading that is no older than this. */
const SHARED_FOR_MS = 10_000

type Parts = { call: WaxpeerCaller; time: Time; now: () => Date }
type Answer = Promise<MarketAnswer<readonly HistoryRow[]>>

export type History = {
  /** Sales that may be under way, and perhaps older ones, newest first. */
  underWay(): Answer
  /** Sales since a date, and perhaps older ones, newest first. Older rows can be some minutes old. */
  since(since: Date): Answer
}

type Reading = { rows: readonly HistoryRow[]; sinceMs: number; completeAtMs: number; atMs: number }

export function createHistory(parts: Parts): History {
  const { time, now } = parts
  let last: Reading | undefined
  const underWaySince = () => new Date(now().getTime() - UNDER_WAY_MS)
  return {
    underWay: () => readHistory(parts, underWaySince()),
    async since(since) {
      const known = last !== undefined && last.sinceMs <= since.getTime() ? last : undefined
      if (known !== undefined && time.now() - known.atMs < SHARED_FOR_MS)
        return { kind: 'answered', value: known.rows }
      const isComplete = known !== undefined && time.now() - known.completeAtMs < COMPLETE_FOR_MS
      const answer = await readHistory(parts, isComplete ? underWaySince() : since)
      if (answer.kind !== 'answered') return answer
      const atMs = time.now()
      last = isComplete
        ? { ...known, rows: firstOfEach([...answer.value, ...known.rows], saleKey), atMs }
        : { rows: answer.value, sinceMs: since.getTime(), completeAtMs: atMs, atMs }
      return { kind: 'answered', value: last.rows }
    },
  }
}

/** Reads pages, newest first. Where no more rows can be skipped, goes on from the time of the oldest row. */
async function readHistory({ call, time, now }: Parts, since: Date): Answer {
  const rows: HistoryRow[] = []
  const beganMs = time.now()
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
    if (count < PAGE_ROWS || time.now() - beganMs > MOST_MS) break
    skip += PAGE_ROWS
    if (skip < MOST_SKIPPED) continue
    const oldest = oldestOf(trades.rows)
    if (oldest === undefined || oldest >= until) break
    ;[until, skip] = [oldest, 0]
  }
  return { kind: 'answered', value: firstOfEach(rows, saleKey).filter(isSale) }
}

function oldestOf(rows: readonly HistoryRow[]): Date | undefined {
  const times = rows.map(({ created }) => created.getTime()).filter((atMs) => atMs > 0)
  return times.length === 0 ? undefined : new Date(Math.min(...times))
}

const saleKey = ({ id, item_id, created }: HistoryRow): string =>
  id == null ? `${item_id} ${created.getTime()}` : String(id)
