import { describe, expect, it } from 'vitest'
import type { MarketAnswer } from '../market.ts'
import { createHistory } from './waxpeer-history.ts'

const NOW_MS = 1_800_000_000_000
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

type Row = { id: number; item_id: string; created: string; status: number; game: string; action: string }
type Body = { skip: number; start: string; end: string }

const indexes = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

/** A sale every five minutes, the newest now. */
const salesOf = (count: number): Row[] =>
  indexes(count).map((index) => ({
    id: count - index,
    item_id: String(count - index),
    created: new Date(NOW_MS - index * 5 * MINUTE_MS).toISOString(),
    status: 5,
    game: 'dota2',
    action: 'sell',
  }))

/** A Waxpeer with this history. Each page has 100 rows, of which `payouts` are not sales. It skips at most 1,000. */
function waxpeerWith(sales: Row[], { payouts = 0, callMs = 0 } = {}) {
  const [asked, clock]: [Body[], { nowMs: number }] = [[], { nowMs: NOW_MS }]
  const history = createHistory({
    async call(_name, schema, ask): Promise<MarketAnswer<never>> {
      const body = ask.body as Body
      asked.push(body)
      clock.nowMs += callMs
      if (body.skip > 1_000) return { kind: 'refused', code: 'skip must be at most 1000' }
      const inTime = sales.filter(({ created }) => created >= body.start && created <= body.end)
      const page = inTime.slice(body.skip, body.skip + 100)
      const isLast = page.length < 100
      const trades = page.slice(isLast ? 0 : payouts)
      const answer = { data: { trades, transactions: isLast ? [] : indexes(payouts) } }
      return { kind: 'answered', value: ask.read(schema.parse(answer)) as never }
    },
    time: { now: () => clock.nowMs, pause: async () => {} },
    now: () => new Date(clock.nowMs),
  })
  const idsSince = async (days: number): Promise<number[]> => {
    const answer = await history.since(new Date(NOW_MS - days * DAY_MS))
    if (answer.kind !== 'answered') throw new Error(JSON.stringify(answer))
    return answer.value.rows.map(({ id }) => Number(id))
  }
  /** How many days, counted back from now, the reading contains completely. */
  const wholeDays = async (days: number): Promise<number> => {
    const answer = await history.since(new Date(NOW_MS - days * DAY_MS))
    if (answer.kind !== 'answered') throw new Error(JSON.stringify(answer))
    return (NOW_MS - answer.value.wholeSinceMs) / DAY_MS
  }
  return { history, asked, clock, idsSince, wholeDays }
}

describe('the history of Waxpeer', () => {
  it('is read beyond the thousand rows that a call can skip, each row once', async () => {
    const sales = salesOf(2_500)
    expect(await waxpeerWith(sales).idsSince(9)).toEqual(sales.map(({ id }) => id))
  })

  it('is read to its end even if payouts take up some rows of each page', async () => {
    const ids = await waxpeerWith(salesOf(250), { payouts: 40 }).idsSince(9)
    expect(ids.at(-1)).toBe(1)
  })

  it('contains sales that Waxpeer dates a little ahead of the vault’s clock', async () => {
    const [newest] = salesOf(1)
    const created = new Date(NOW_MS + 3_000).toISOString()
    const { history } = waxpeerWith(newest === undefined ? [] : [{ ...newest, created }])
    expect(await history.underWay()).toMatchObject({ value: { rows: [{ id: 1 }] } })
  })

  it('is not read beyond a thousand sales with the same time, a hundred pages, or two minutes', async () => {
    const sameTime = salesOf(2_500).map((row) => ({ ...row, created: new Date(NOW_MS).toISOString() }))
    expect(await waxpeerWith(sameTime).idsSince(9)).toHaveLength(1_000)
    const many = waxpeerWith(salesOf(12_000))
    await many.idsSince(60)
    expect(many.asked).toHaveLength(100)
    const slow = waxpeerWith(salesOf(2_500), { callMs: 10_000 })
    await slow.idsSince(9)
    expect(slow.asked).toHaveLength(13)
  })

  it('shows for how many days no sale is missing, even if the read ended early', async () => {
    expect(await waxpeerWith(salesOf(250)).wholeDays(9)).toBe(9)
    // A sale every five minutes: the ten thousandth is a little more than 34 days old.
    const many = waxpeerWith(salesOf(12_000))
    expect(await many.wholeDays(60)).toBeCloseTo((9_999 * 5) / 1_440, 1)
    expect(await many.wholeDays(9)).toBeGreaterThan(9)
    const slow = waxpeerWith(salesOf(2_500), { callMs: 10_000 })
    expect(await slow.wholeDays(9)).toBeLessThan(9)
    // Now only the latest rows are read again, completely. The older ones are still missing.
    slow.clock.nowMs += MINUTE_MS
    expect(await slow.wholeDays(9)).toBeLessThan(9)
  })

  it('is marked as cut if thousands of the latest sales have the same time', async () => {
    const sameTime = salesOf(2_500).map((row) => ({ ...row, created: new Date(NOW_MS).toISOString() }))
    expect(await waxpeerWith(sameTime).history.underWay()).toMatchObject({ value: { isCut: true } })
    expect(await waxpeerWith(salesOf(50)).history.underWay()).toMatchObject({ value: { isCut: false } })
  })

  it('is read once for all games, and for some minutes after that only its latest rows are read again', async () => {
    const sales = salesOf(1_000)
    const { asked, clock, idsSince } = waxpeerWith(sales)
    await idsSince(9)
    const callsOfFirstRead = asked.length
    await idsSince(2)
    expect(asked).toHaveLength(callsOfFirstRead)
    clock.nowMs += MINUTE_MS
    const [newest] = sales
    if (newest) sales.unshift({ ...newest, id: 1_001, created: new Date(clock.nowMs).toISOString() })
    expect(await idsSince(9)).toEqual(sales.map(({ id }) => id))
    expect(asked).toHaveLength(callsOfFirstRead + 1)
    clock.nowMs += 5 * MINUTE_MS
    await idsSince(9)
    expect(asked.length).toBeGreaterThan(callsOfFirstRead + 2)
  })
})
