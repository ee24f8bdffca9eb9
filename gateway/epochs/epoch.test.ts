import { describe, expect, it } from 'vitest'
import { breakOf, type History, type Life, type SeenState } from './epoch.ts'

const LIFE: Life = { systemIdentifier: '7', timeline: 1n, databaseOid: 5n, logOid: 9n, written: 100n }
const history = (life: Partial<Life> = {}, isBehind = false): History => ({
  epoch: { number: 2n, beganAt: new Date('2026-11-22'), ...LIFE },
  life: { ...LIFE, ...life },
  isBehind,
})
const seen = (change: Partial<SeenState> = {}): SeenState => ({
  epoch: 2n,
  beganAt: new Date('2026-11-22'),
  timeline: 1n,
  written: 90n,
  ...change,
})

describe('D-37 a till', () => {
  it.each([
    ['continues on the database on which its epoch began', history(), seen(), undefined],
    ['continues on a database that no gateway remembers', history(), undefined, undefined],
    [
      'continues on a database that has had no epoch yet',
      { ...history(), epoch: undefined },
      undefined,
      undefined,
    ],
    ['stops on another server', history({ systemIdentifier: '8', timeline: 2n }), seen(), 'system'],
    [
      'stops on a database that was restored next to the old one',
      history({ databaseOid: 6n }),
      seen(),
      'database',
    ],
    ['stops on a database whose tables were restored', history({ logOid: 10n }), seen(), 'database'],
    ['stops on a promoted standby', history({ timeline: 2n }), seen(), 'timeline'],
    ['stops on a database that has written less than was seen', history({ written: 89n }), seen(), 'behind'],
    [
      'continues on a database that has written exactly as much as was seen',
      history({ written: 90n }),
      seen(),
      undefined,
    ],
    [
      'stops on a database of an epoch before the one that was seen',
      history(),
      seen({ epoch: 3n, written: 1n }),
      'behind',
    ],
    [
      'continues on a database in a later epoch than was seen',
      history(),
      seen({ epoch: 1n, written: 200n }),
      undefined,
    ],
    [
      'continues in an epoch that began after the seen one of the same number',
      history(),
      seen({ beganAt: new Date('2026-11-21'), written: 200n }),
      undefined,
    ],
    [
      'stops in an epoch that began before the seen one of the same number',
      history(),
      seen({ beganAt: new Date('2026-11-23') }),
      'behind',
    ],
    [
      'compares only what was written with a state that an earlier version stored',
      history(),
      seen({ beganAt: null, written: 101n }),
      'behind',
    ],
    ['stops on a database that another gateway found to be behind', history({}, true), undefined, 'behind'],
    [
      'continues on a server that does not report how much it has written',
      history({ written: null }),
      seen(),
      undefined,
    ],
  ] satisfies [string, History, SeenState | undefined, string | undefined][])(
    '%s',
    (_what, currentHistory, remembered, expected) => {
      expect(breakOf(currentHistory, remembered)).toBe(expected)
    },
  )
})
