import { describe, expect, it } from 'vitest'
import { type Answer, type FailedForMs, trackHealth } from './health.ts'

const good: Answer = { kind: 'offer' }
const down: Answer = { kind: 'unavailable', reason: 'timeout' }
const limited: Answer = { kind: 'unavailable', reason: 'rate_limited' }
const empty: Answer = { kind: 'nothing' }
const heldBack: Answer = { kind: 'unavailable', reason: 'not_our_turn' }

function aBot(recorded: FailedForMs = { offers: null, inventories: null }) {
  let nowMs = 1_000
  const health = trackHealth(() => nowMs, recorded)
  return {
    ...health,
    /** Advances the clock, and returns how long each capability has been failing. */
    after(ms: number) {
      nowMs += ms
      return health.failing()
    },
  }
}

describe('a capability of a bot (offers or inventories)', () => {
  it('fails from its first failure until its next success', () => {
    const bot = aBot()
    bot.recordAnswer('offers', down)
    bot.after(10_000)
    bot.recordAnswer('offers', down)
    expect(bot.after(5_000)).toEqual({ offers: 15_000, inventories: null })
    bot.recordAnswer('offers', good)
    expect(bot.after(1)).toEqual({ offers: null, inventories: null })
  })

  it.each<[Answer, boolean]>([
    [{ kind: 'unknown' }, true],
    [{ kind: 'refused', reason: 'rate_limited' }, false],
    [{ kind: 'refused', reason: 'not_our_turn' }, false],
    [{ kind: 'refused', reason: 'item_server_down' }, true],
    [{ kind: 'refused', reason: 'session_dead' }, true],
    [{ kind: 'refused', reason: 'items_gone' }, false],
    [{ kind: 'refused', reason: 'hidden' }, false],
    [{ kind: 'unavailable', reason: 'too_large' }, false],
    [{ kind: 'not_active' }, false],
    [{ kind: 'sent' }, false],
  ])('fails after the answer %j: %s', (answer, fails) => {
    const bot = aBot()
    bot.recordAnswer('offers', answer)
    expect(bot.failing().offers !== null).toBe(fails)
  })

  it('does not fail because of a rate limit, but fails if Steam refuses again after our pause', () => {
    const bot = aBot()
    bot.recordAnswer('inventories', limited)
    bot.after(300)
    bot.recordAnswer('inventories', limited)
    expect(bot.after(32_000).inventories).toBeNull()
    bot.recordAnswer('inventories', limited)
    expect(bot.after(1_000).inventories).toBe(33_300)
    bot.recordAnswer('inventories', good)
    bot.recordAnswer('inventories', limited)
    expect(bot.after(60_000).inventories).toBeNull()
  })

  it('does not fail because of two rate limits that are an hour apart', () => {
    const bot = aBot()
    bot.recordAnswer('offers', limited)
    bot.after(3_600_000)
    bot.recordAnswer('offers', limited)
    expect(bot.after(60_000).offers).toBeNull()
  })

  it('neither starts nor stops failing while our own limits hold it back', () => {
    const bot = aBot()
    bot.recordAnswer('offers', heldBack)
    expect(bot.after(600_000)).toEqual({ offers: null, inventories: null })
    bot.recordAnswer('offers', down)
    bot.recordAnswer('offers', heldBack)
    bot.recordNoSession(heldBack)
    expect(bot.after(10)).toEqual({ offers: 10, inventories: null })
  })

  it.each(['nothing', 'missing'])(
    'neither starts nor stops failing because of an answer without content: %s',
    (kind) => {
      const empty: Answer = { kind }
      const bot = aBot()
      bot.recordAnswer('offers', empty)
      expect(bot.after(600_000).offers).toBeNull()
      bot.recordAnswer('offers', down)
      for (let minute = 1; minute <= 30; minute += 1) {
        bot.after(60_000)
        bot.recordAnswer('offers', empty)
        if (minute % 9 === 0) bot.recordAnswer('offers', down)
      }
      expect(bot.failing().offers).toBe(30 * 60_000)
      expect(bot.sinceAnswerMs('offers')).toBe(0)
    },
  )

  it('works again after ten minutes in which all answers lacked content, as for a bot without offers', () => {
    const bot = aBot({ offers: 20_000, inventories: null })
    bot.after(599_999)
    bot.recordAnswer('offers', empty)
    expect(bot.after(1).offers).toBe(620_000)
    bot.recordAnswer('offers', empty)
    expect(bot.failing().offers).toBeNull()
    bot.recordNoSession(down)
    bot.recordAnswer('offers', empty)
    expect(bot.failing()).toEqual({ offers: 0, inventories: 0 })
    bot.after(600_000)
    bot.recordAnswer('offers', empty)
    expect(bot.failing()).toEqual({ offers: null, inventories: null })
  })

  it('reports how long ago its last answer was recorded, even if it was a timeout', () => {
    const bot = aBot()
    expect(bot.sinceAnswerMs('offers')).toBe(Number.POSITIVE_INFINITY)
    bot.recordAnswer('offers', down)
    bot.after(700)
    expect(bot.sinceAnswerMs('offers')).toBe(700)
  })
})

describe('without a session', () => {
  it('both capabilities fail, and both work again once an offer is read', () => {
    const bot = aBot()
    bot.recordNoSession(down)
    expect(bot.after(30_000)).toEqual({ offers: 30_000, inventories: 30_000 })
    bot.recordAnswer('offers', good)
    expect(bot.failing()).toEqual({ offers: null, inventories: null })
  })

  it('no capability fails because of a limit before Steam refuses a second time', () => {
    const bot = aBot()
    bot.recordNoSession(limited)
    expect(bot.after(31_000)).toEqual({ offers: null, inventories: null })
    bot.recordNoSession(limited)
    expect(bot.failing()).toEqual({ offers: 31_000, inventories: 31_000 })
  })

  it('inventories that failed before keep failing until an inventory is read', () => {
    const bot = aBot()
    bot.recordAnswer('inventories', down)
    bot.recordNoSession(down)
    bot.recordAnswer('offers', good)
    expect(bot.after(10)).toEqual({ offers: null, inventories: 10 })
    bot.recordAnswer('inventories', good)
    expect(bot.failing()).toEqual({ offers: null, inventories: null })
  })
})

it('a new holder of the lease continues the failures that the last holder recorded', () => {
  const bot = aBot({ offers: 20_000, inventories: 20_000 })
  expect(bot.after(5_000)).toEqual({ offers: 25_000, inventories: 25_000 })
  bot.recordAnswer('inventories', down)
  bot.recordAnswer('offers', good)
  expect(bot.failing()).toEqual({ offers: null, inventories: 25_000 })
})
