import { describe, expect, it } from 'vitest'
import { at } from '../testing/trades.ts'
import { type Bar, type BarReason, barStateOf, nextBar } from './bar.ts'

const MINUTE_S = 60
const refusedAt = (seconds: number, reason: BarReason = 'bot_cannot_trade') =>
  ({ reason, game: 'cs', now: at(seconds) }) as const

describe('a bar', () => {
  it('D-30 lasts twice as long as the bar before it, up to twelve hours', () => {
    let bar: Bar | undefined
    const minutes: number[] = []
    let nowS = 0
    for (let times = 0; times < 7; times += 1) {
      bar = nextBar(bar, refusedAt(nowS))
      const endS = (bar.until.getTime() - at(0).getTime()) / 1000
      minutes.push((endS - nowS) / MINUTE_S)
      nowS = endS
    }
    expect(minutes).toEqual([30, 60, 120, 240, 480, 720, 720])
  })

  it('does not grow from a second refusal for the same reason ten seconds later', () => {
    const first = nextBar(undefined, refusedAt(0))
    expect(nextBar(first, refusedAt(10))).toBe(first)
  })

  it('of a rate-limited bot grows if Steam limits the bot again half a minute later', () => {
    const first = nextBar(undefined, refusedAt(0, 'rate_limited'))
    expect(nextBar(first, refusedAt(10, 'rate_limited'))).toBe(first)
    expect(nextBar(first, refusedAt(35, 'rate_limited'))).toMatchObject({
      until: at(35 + 2 * MINUTE_S),
      times: 2,
    })
  })

  it('is replaced by a longer one, but not by a shorter one', () => {
    const short = nextBar(undefined, refusedAt(0, 'rate_limited'))
    const long = nextBar(short, refusedAt(10))
    expect(long).toMatchObject({ reason: 'bot_cannot_trade', times: 2 })
    expect(nextBar(long, refusedAt(20, 'rate_limited'))).toBe(long)
  })

  it('covers one game if its reason is about one game, and otherwise all games', () => {
    expect(nextBar(undefined, refusedAt(0, 'inventory_full')).scope).toBe('cs')
    expect(nextBar(undefined, refusedAt(0, 'too_many_in_all')).scope).toBe('all')
  })
})

describe('a bot', () => {
  const barred = nextBar(undefined, refusedAt(0))
  const doubted = nextBar(undefined, refusedAt(0, 'doubted'))

  it.each([
    ['free without bars', [], 0, 'free'],
    ['barred while a bar lasts', [barred, doubted], 1, 'barred'],
    ['free once its bar has ended', [barred], 30 * MINUTE_S, 'free'],
    ['doubted if its only bar has the reason `doubted`', [doubted], 1, 'doubted'],
  ] as const)('is %s', (_, bars, seconds, barState) => {
    expect(barStateOf(bars, at(seconds))).toBe(barState)
  })
})
