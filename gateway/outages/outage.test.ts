import { describe, expect, it } from 'vitest'
import { trackHealth } from '../bots/health.ts'
import { judgeOutages, type Outage } from './outage.ts'

const now = new Date('2026-01-01T12:00:00Z')
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000)
const healthy = { offersFailingSince: null, inventoriesFailingSince: null }
const judge = (bots: Parameters<typeof judgeOutages>[0]['bots'], ...open: Outage[]) =>
  judgeOutages({ bots, open: new Set(open) }, now)

describe('an outage', () => {
  it('D-28 begins when a capability has failed for every bot for 30 s, separately for each capability', () => {
    expect(judge([{ ...healthy, offersFailingSince: ago(30) }])).toEqual({
      begin: ['offers', 'deposits'],
      end: [],
    })
    expect(judge([{ ...healthy, inventoriesFailingSince: ago(31) }])).toEqual({
      begin: ['inventories', 'deposits'],
      end: [],
    })
  })

  it('D-28 does not begin while one bot works or has failed for a shorter time', () => {
    const failing = { ...healthy, offersFailingSince: ago(99) }
    expect(judge([failing, healthy])).toEqual({ begin: [], end: [] })
    expect(judge([failing, { ...healthy, offersFailingSince: ago(29) }])).toEqual({ begin: [], end: [] })
  })

  it('ends when one bot works again', () => {
    const failing = { ...healthy, offersFailingSince: ago(99) }
    expect(judge([failing, healthy], 'offers', 'deposits')).toEqual({
      begin: [],
      end: ['offers', 'deposits'],
    })
  })

  it('neither begins nor ends while no bot is in service', () => {
    expect(judge([], 'offers', 'deposits')).toEqual({ begin: [], end: [] })
    expect(judge([])).toEqual({ begin: [], end: [] })
  })

  it('D-30 does not begin while our own limits hold every bot back, however long', () => {
    let nowMs = 0
    /** Judges after ten minutes. Every second all calls fail: for these reasons in turn, then for `not_our_turn`. */
    const judgeAfter = (reasons: readonly string[]) => {
      const bots = [1, 2].map(() => trackHealth(() => nowMs, { offers: null, inventories: null }))
      for (let second = 0; second < 600; second += 1) {
        for (const bot of bots) {
          const reason = reasons[second] ?? 'not_our_turn'
          for (const capability of ['offers', 'inventories'] as const)
            bot.recordAnswer(capability, { kind: 'unavailable', reason })
        }
        nowMs += 1_000
      }
      const since = (ms: number | null) => (ms === null ? null : new Date(now.getTime() - ms))
      return judge(
        bots.map((bot) => {
          const { offers, inventories } = bot.failing()
          return { offersFailingSince: since(offers), inventoriesFailingSince: since(inventories) }
        }),
      )
    }
    expect(judgeAfter([])).toEqual({ begin: [], end: [] })
    // One 429 for each bot, and the pause after it.
    expect(judgeAfter(['rate_limited'])).toEqual({ begin: [], end: [] })
    // A timeout is a failure of Steam, and `not_our_turn` does not end it.
    expect(judgeAfter(['timeout'])).toEqual({ begin: ['offers', 'inventories', 'deposits'], end: [] })
  })

  it('pauses the countdown of deposits until every outage, and maintenance, is over', () => {
    const failing = { ...healthy, inventoriesFailingSince: ago(99) }
    expect(judge([failing], 'offers', 'deposits')).toEqual({ begin: ['inventories'], end: ['offers'] })
    expect(judge([healthy], 'maintenance')).toEqual({ begin: ['deposits'], end: [] })
    expect(judge([healthy], 'maintenance', 'deposits')).toEqual({ begin: [], end: [] })
    expect(judge([healthy], 'deposits')).toEqual({ begin: [], end: ['deposits'] })
  })
})
