import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BAD_DAYS } from './bad-days/bad-days.ts'
import { ROWS } from './conformance/rows.ts'
import { PEOPLE } from './world/people.ts'

const FOLDER = new URL('conformance/', import.meta.url)
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.test.ts'))
const sources = files.map((name) => readFileSync(new URL(name, FOLDER), 'utf8'))

/**
 * The conformance suite in conformance/ runs the unchanged steam-session, steamcommunity and steam-tradeoffer-manager
 * against the sandbox. This file checks that the suite is complete.
 */
describe('the conformance suite', () => {
  it.each(Object.keys(ROWS))(
    'has one file for the rows of "%s", which checks that every row has a test',
    (group) => {
      const positions = sources
        .map((source) => source.indexOf(`testsOfRows('${group}')`))
        .filter((index) => index >= 0)
      expect(positions).toHaveLength(1)
      const source = sources.find((text) => text.includes(`testsOfRows('${group}')`)) ?? ''
      expect(source.slice(positions[0]).includes('expectAllTested()\n})')).toBe(true)
    },
  )

  it.each(Object.keys({ ...BAD_DAYS, ...PEOPLE }))(
    'uses the behaviour "%s", or another test of the sandbox does',
    (behaviour) => {
      const players: Record<string, string> = PLAYER_OF_BEHAVIOUR
      const player = players[behaviour]
      const usage = new RegExp(player ? `'${player}'` : `['/]${behaviour}'`)
      const tests = [
        ...sources,
        ...OTHER_TEST_FILES.map((name) => readFileSync(new URL(name, import.meta.url), 'utf8')),
      ]
      expect(tests.some((source) => usage.test(source))).toBe(true)
    },
  )
})

const OTHER_TEST_FILES = [
  'world/trades.test.ts',
  'control.test.ts',
  'limits.test.ts',
  'bad-days/prices.test.ts',
]
/** The magic players through which tests use behaviours. */
const PLAYER_OF_BEHAVIOUR = {
  'hidden-inventory': 'magic_hidden',
  'no-items': 'magic_empty',
  'game-not-owned': 'magic_no_game',
  'hold-15-days': 'magic_hold',
  'cannot-trade': 'magic_cannot_trade',
  'trade-ban': 'magic_banned',
  'limited-account': 'magic_limited',
  'token-regenerated': 'magic_new_token',
  'steam-down-on-tuesday': 'magic_tuesday',
  slow: 'magic_slow',
  'rate-limited': 'magic_rate_limited',
  'unmarketable-items': 'magic_twins',
  'many-items': 'magic_hoarder',
  accepts: 'magic_accepts',
  declines: 'magic_declines',
  counters: 'magic_counters',
  'accepts-in-the-last-second': 'magic_last_second',
  'reverses-after-3-days': 'magic_reverser',
}
