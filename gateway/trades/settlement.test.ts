import { describe, expect, it } from 'vitest'
import { active, at, attempt, final, held, offer, steamTrade } from '../testing/trades.ts'
import { decide } from './decide.ts'
import { nextLookOf } from './trade.ts'

describe('the end of protection', () => {
  const context = {
    now: at(700_000),
    protectionDays: 0,
    isWanted: true,
    attempt,
  }
  const read = (settlesAt: Date | null) => ({
    kind: 'steam_trade_read' as const,
    offerId: '5',
    steamTrade: steamTrade({ settlesAt }),
  })

  it('is postponed if Steam or the till’s settings have a later time, and never comes earlier', () => {
    expect(decide(held, read(at(800_000)), context)).toEqual([{ kind: 'prolonged', settlesAt: at(800_000) }])
    expect(decide(held, read(at(600_000)), { ...context, now: at(650_000) })).toEqual([])
    expect(decide(held, read(null), context)).toEqual([{ kind: 'released', at: at(700_000) }])
    const nineDays = { ...context, protectionDays: 9 }
    const byGame = at(20 + 9 * 86_400)
    expect(decide(held, read(null), nineDays)).toEqual([{ kind: 'prolonged', settlesAt: byGame }])
  })

  it('that Steam reports after the release makes the trade held again', () => {
    const protectionFound = { kind: 'protection_found', settlesAt: at(800_000), at: at(700_000) }
    expect(decide(final, read(at(800_000)), context)).toEqual([protectionFound])
    expect(decide(final, read(at(700_000)), context)).toEqual([])
  })

  it('is the later of the offer’s time and its Steam trade’s time', () => {
    const withEnd = offer('accepted', { settlesAt: at(900_000) })
    expect(decide(active, { kind: 'offer_read', offer: withEnd }, context)).toMatchObject([
      { kind: 'accepted', settlesAt: at(900_000) },
    ])
    const accepted = { ...active, acceptedAt: at(20), settlesAt: at(900_000) }
    for (const settlesAt of [null, at(800_000)]) {
      expect(decide(accepted, read(settlesAt), context)).toMatchObject([{ settlesAt: at(900_000) }])
    }
    expect(decide(accepted, read(at(950_000)), context)).toMatchObject([{ settlesAt: at(950_000) }])
  })

  it('needs no further look at the Steam trade if the release comes a day late', () => {
    const released = { kind: 'released', at: at(786_399) }
    expect(decide(held, read(null), { ...context, now: at(786_399) })).toEqual([released])
    expect(decide(held, read(null), { ...context, now: at(786_400) })).toEqual([
      { ...released, at: at(786_400) },
      { kind: 'looked', next: null },
    ])
  })
})

it('a delivery is checked again after ten minutes and after a day', () => {
  expect(nextLookOf(at(20), at(20))).toEqual(at(620))
  expect(nextLookOf(at(20), at(619))).toEqual(at(620))
  expect(nextLookOf(at(20), at(620))).toEqual(at(20 + 86_400))
  expect(nextLookOf(at(20), at(20 + 86_400))).toBeNull()
})
