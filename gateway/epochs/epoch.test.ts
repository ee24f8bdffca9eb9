import { describe, expect, it } from 'vitest'
import { breakOf, type History, type Life, type SeenState } from './epoch.ts'

const LIFE: Life = { systemIdentifier: '7', timeline: 1n, databaseOid: 5n, logOid: 9n, written: 100n }
const history = (life: Partial<Life> = {}, isBehind = false): History => ({
  epoch: { number: 2n, ...LIFE },
  life: { ...LIFE, ...life },
  isBehind,
})
const seen = (change: Partial<SeenState> = {}): SeenState => ({
  epoch: 2n,
  timeline: 1n,
  written: 90n,
  ...change,
})

describe('D-37 a till on a database', () => {
  it.each([
    ['on which its epoch began continues', history(), seen(), undefined],
    ['that no gateway remembers continues', history(), undefined, undefined],
    ['before its first epoch continues', { ...history(), epoch: undefined }, undefined, undefined],
    ['on another server stops', history({ systemIdentifier: '8', timeline: 2n }), seen(), 'system'],
    ['that was restored next to the old one stops', history({ databaseOid: 6n }), seen(), 'database'],
    ['whose tables were restored stops', history({ logOid: 10n }), seen(), 'database'],
    ['of a promoted copy stops', history({ timeline: 2n }), seen(), 'timeline'],
    ['that has written less than was seen stops', history({ written: 89n }), seen(), 'behind'],
    ['that has written exactly as much as was seen continues', history({ written: 90n }), seen(), undefined],
    ['of an epoch before the one that was seen stops', history(), seen({ epoch: 3n, written: 1n }), 'behind'],
    ['in a later epoch than was seen continues', history(), seen({ epoch: 1n, written: 200n }), undefined],
    ['that another gateway found behind stops', history({}, true), undefined, 'behind'],
    [
      'whose server does not report how much it has written continues',
      history({ written: null }),
      seen(),
      undefined,
    ],
  ] satisfies [string, History, SeenState | undefined, string | undefined][])(
    '%s',
    (_what, given, remembered, expected) => {
      expect(breakOf(given, remembered)).toBe(expected)
    },
  )
})
