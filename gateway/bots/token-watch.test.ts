import { describe, expect, it } from 'vitest'
import { fakeClock } from '../testing/clock.ts'
import { captureLog } from '../testing/log.ts'
import type { BotSummary } from './store.ts'
import { createTokenWatch } from './token-watch.ts'

const DAY_MS = 86_400_000

const START = new Date('2026-01-01T00:00:00Z')
/** `days`: how long after START the token expires; null if it does not. */
const aBot = (days: number | null, state: BotSummary['state'] = 'active'): BotSummary => ({
  botId: 1n,
  steamId: '76561198000000001',
  name: 'Bot #1',
  level: 1,
  state,
  stateReason: null,
  hasGateway: true,
  loginAfter: null,
  reachable: true,
  itemsHeld: 0,
  tokenExpiresAt: days === null ? null : new Date(START.getTime() + days * DAY_MS),
})

function startWatch() {
  const { log, lines } = captureLog()
  const clock = fakeClock(START)
  return { watch: createTokenWatch({ log, clock }), lines, clock }
}

describe('the expiry of a token', () => {
  it('is logged as one warning less than 30 days before, and as one error less than 7 days before', () => {
    const { watch, lines, clock } = startWatch()
    watch([aBot(40)])
    expect(lines).toHaveLength(0)
    clock.advance(11 * DAY_MS)
    for (let turn = 0; turn < 3; turn += 1) watch([aBot(40)])
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/"level":"?(?:40|warn)"?.*less than 30 days/)
    clock.advance(23 * DAY_MS)
    for (let turn = 0; turn < 3; turn += 1) watch([aBot(40)])
    expect(lines).toHaveLength(2)
    expect(lines[1]).toMatch(/"level":"?(?:50|error)"?.*less than 7 days/)
  })

  it('is logged again for the next token', () => {
    const { watch, lines, clock } = startWatch()
    watch([aBot(5)])
    watch([aBot(200)])
    clock.advance(195 * DAY_MS)
    watch([aBot(200)])
    expect(lines).toHaveLength(2)
  })

  it('is not logged for a dead bot, or for a token that does not expire', () => {
    const { watch, lines } = startWatch()
    watch([aBot(1, 'dead')])
    watch([aBot(null)])
    expect(lines).toEqual([])
  })
})
