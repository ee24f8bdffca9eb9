import { describe, expect, it } from 'vitest'
import type { OwnItem } from '../steam/steam.ts'
import {
  type BookedItem,
  type Custody,
  compareWithCustody,
  type GameLook,
  isLookDue,
  type KnownFinding,
  nextCheckAt,
  noteLook,
  settleDrift,
} from './drift.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms)

const bookedItem = (assetId: string | null, more: Partial<BookedItem> = {}): BookedItem => ({
  item: `1-${assetId ?? 'x'}`,
  appId: 570,
  assetId,
  marketHashName: 'Hook',
  receivedAt: at(-HOUR_MS),
  isProtected: false,
  ...more,
})

const ownItem = (assetId: string, marketHashName = 'Hook', contextId = '2'): OwnItem => ({
  appId: 570,
  contextId,
  assetId,
  marketHashName,
})

const custody = (booked: BookedItem[], more: Partial<Custody> = {}): Custody => ({
  booked,
  leaving: new Set(),
  entered: new Set(),
  coming: new Map(),
  ...more,
})

const look = (items: OwnItem[], isComplete = true): GameLook => ({ appId: 570, items, isComplete })

const compare = (expected: Custody, ...looks: GameLook[]) => {
  const { findings, learnt } = compareWithCustody(expected, looks, at(0))
  return { found: findings.map(({ kind, item, assetId }) => `${kind} ${item ?? assetId}`), learnt }
}

const NOTHING = { found: [], learnt: [] }

describe('an inventory', () => {
  it('that matches custody causes no finding, whatever the context of its items', () => {
    expect(
      compare(
        custody([bookedItem('11'), bookedItem('12')]),
        look([ownItem('12', 'Hook', '16'), ownItem('11')]),
      ),
    ).toEqual(NOTHING)
  })

  it('that lacks a booked item causes a finding, unless only a part of it was shown', () => {
    const expected = custody([bookedItem('11'), bookedItem('12')])
    expect(compare(expected, look([ownItem('11')])).found).toEqual(['missing 1-12'])
    expect(compare(expected, look([ownItem('11')], false))).toEqual(NOTHING)
    expect(compare(expected)).toEqual(NOTHING)
  })

  it('causes no finding for items that are leaving, or that arrived a moment ago', () => {
    expect(compare(custody([bookedItem('11')], { leaving: new Set(['570/11']) }), look([]))).toEqual(NOTHING)
    expect(compare(custody([bookedItem('11', { receivedAt: at(-60_000) })]), look([]))).toEqual(NOTHING)
    expect(compare(custody([bookedItem('11', { receivedAt: at(60_000) })]), look([]))).toEqual(NOTHING)
  })

  it('causes no finding in a game that was not read', () => {
    expect(compare(custody([bookedItem('11', { appId: 440 })]), look([]))).toEqual(NOTHING)
  })

  it('with an unknown item causes a finding, unless the item may be arriving', () => {
    const shown = look([ownItem('9'), ownItem('10'), ownItem('11')])
    expect(compare(custody([]), shown).found).toEqual(['foreign 9', 'foreign 10', 'foreign 11'])
    expect(compare(custody([], { coming: new Map([['570/Hook', 2]]) }), shown).found).toEqual(['foreign 9'])
    expect(compare(custody([], { coming: new Map([['570/Hook', 9]]) }), shown)).toEqual(NOTHING)
  })

  it('with an item that left custody causes a finding', () => {
    expect(compare(custody([], { entered: new Set(['570/11']) }), look([ownItem('11')])).found).toEqual([
      'foreign 11',
    ])
  })
})

describe('an asset id that Steam never gave', () => {
  const withoutId = bookedItem(null)

  it('is learnt if Steam shows exactly one unbooked item with the same name', () => {
    const shown = look([ownItem('11'), ownItem('12'), ownItem('13', 'Cape')])
    expect(compare(custody([withoutId, bookedItem('12')]), shown)).toEqual({
      found: ['foreign 13'],
      learnt: [{ item: '1-x', assetId: '11' }],
    })
  })

  it.each<[string, Custody, GameLook, string[]]>([
    [
      'two shown items have the item’s name',
      custody([withoutId]),
      look([ownItem('11'), ownItem('12')]),
      ['unnamed 1-x', 'foreign 12'],
    ],
    [
      'two items of that name in custody have no asset id',
      custody([withoutId, { ...withoutId, item: '1-y' }]),
      look([ownItem('11'), ownItem('12')]),
      ['unnamed 1-x', 'unnamed 1-y'],
    ],
    [
      'another item of that name is coming',
      custody([withoutId], { coming: new Map([['570/Hook', 1]]) }),
      look([ownItem('11')]),
      ['unnamed 1-x'],
    ],
    [
      'another item of that name without an asset id came a moment ago',
      custody([withoutId, bookedItem(null, { item: '1-y', receivedAt: at(0) })]),
      look([ownItem('11')]),
      ['unnamed 1-x'],
    ],
    [
      'only a part of the inventory was shown',
      custody([withoutId]),
      look([ownItem('11')], false),
      ['unnamed 1-x'],
    ],
    [
      'the only shown item with the name has an asset id that left custody',
      custody([withoutId], { entered: new Set(['570/11']) }),
      look([ownItem('11')]),
      ['missing 1-x', 'foreign 11'],
    ],
    [
      'no shown item has the name',
      custody([withoutId]),
      look([ownItem('11', 'Cape')]),
      ['missing 1-x', 'foreign 11'],
    ],
    [
      'fewer items are shown than custody has',
      custody([withoutId, { ...withoutId, item: '1-y' }]),
      look([ownItem('11')]),
      ['unnamed 1-x', 'missing 1-y'],
    ],
  ])('is not learnt if %s', (_name, expected, shown, findings) => {
    expect(compare(expected, shown)).toEqual({ found: findings, learnt: [] })
  })

  it('causes no finding a moment after the delivery', () => {
    const arrived = custody([bookedItem(null, { receivedAt: at(0) })])
    expect(compare(arrived, look([]))).toEqual(NOTHING)
    expect(compare(arrived, look([ownItem('11')]))).toEqual(NOTHING)
  })
})

/** Returns the findings of these looks, which are an hour apart and do not wait for the history. */
function findingsAfter(expected: Custody, looks: GameLook[]): KnownFinding[] {
  return looks.reduce<KnownFinding[]>((before, shown, hours) => {
    const compared = compareWithCustody(expected, [shown], at(0))
    return noteLook(before, compared, {
      at: at(hours * HOUR_MS),
      looks: [shown],
      custody: expected,
      historyFrom: undefined,
    })
  }, [])
}

const sureKinds = (findings: readonly KnownFinding[]) =>
  findings.filter(({ isSure }) => isSure).map(({ kind }) => kind)

describe('a finding', () => {
  const expected = custody([bookedItem('11')])
  const gone = look([])

  it('is certain after two looks agree and, if the history matters, a later pass through it explains nothing', () => {
    const once = findingsAfter(expected, [gone])
    const twice = findingsAfter(expected, [gone, gone])
    expect(sureKinds(settleDrift(once, expected, at(DAY_MS)))).toEqual([])
    expect(sureKinds(settleDrift(twice, expected, null))).toEqual([])
    expect(sureKinds(settleDrift(twice, expected, at(HOUR_MS)))).toEqual([])
    expect(sureKinds(settleDrift(twice, expected, at(HOUR_MS + 1)))).toEqual(['missing'])
    expect(sureKinds(settleDrift(twice, expected, undefined))).toEqual(['missing'])
  })

  it('is forgotten if the second look shows the item, or the history explains it', () => {
    expect(findingsAfter(expected, [gone, look([ownItem('11')])])).toEqual([])
    expect(settleDrift(findingsAfter(expected, [gone, gone]), custody([]), at(DAY_MS))).toEqual([])
    const leaving = custody([bookedItem('11')], { leaving: new Set(['570/11']) })
    expect(settleDrift(findingsAfter(expected, [gone, gone]), leaving, at(DAY_MS))).toEqual([])
  })

  it('counts another look only if the history was read since the last one', () => {
    const once = findingsAfter(expected, [gone])
    const compared = compareWithCustody(expected, [gone], at(0))
    const secondLook = (historyFrom: Date | null) =>
      noteLook(once, compared, { at: at(HOUR_MS), looks: [gone], custody: expected, historyFrom })
    expect(secondLook(null)).toEqual(once)
    expect(secondLook(at(0))).toEqual(once)
    expect(secondLook(at(1))).toMatchObject([{ looks: 2, seenAt: at(HOUR_MS) }])
  })

  it('is forgotten if the history shows that the item left and came back', () => {
    const cameBack = custody([bookedItem('11', { receivedAt: at(1) })])
    expect(settleDrift(findingsAfter(expected, [gone, gone]), cameBack, at(DAY_MS))).toEqual([])
  })

  it('survives a look at a part of the inventory, unless that part contains the item', () => {
    const findings = findingsAfter(expected, [gone, look([], false)])
    expect(findings).toMatchObject([{ kind: 'missing', looks: 1 }])
    expect(findingsAfter(expected, [gone, look([ownItem('11')], false)])).toEqual([])
  })

  it('that is certain stays certain, and keeps the time of its first look', () => {
    const settled = settleDrift(findingsAfter(expected, [gone, gone]), expected, at(DAY_MS))
    const compared = compareWithCustody(expected, [gone], at(DAY_MS))
    const afterThirdLook = noteLook(settled, compared, {
      at: at(DAY_MS),
      looks: [gone],
      custody: expected,
      historyFrom: at(DAY_MS - 1),
    })
    expect(afterThirdLook).toMatchObject([{ isSure: true, firstSeenAt: at(0), looks: 3 }])
  })

  it('about a foreign item ends once its delivery is booked', () => {
    const shown = look([ownItem('11')])
    const foreign = findingsAfter(custody([]), [shown, shown])
    expect(sureKinds(settleDrift(foreign, custody([]), at(DAY_MS)))).toEqual(['foreign'])
    expect(settleDrift(foreign, expected, at(DAY_MS))).toEqual([])
  })
})

describe('the next look', () => {
  const [finding] = findingsAfter(custody([bookedItem('11')]), [look([])])
  const doubted = finding === undefined ? [] : [finding]
  const waiting = doubted.map((each) => ({ ...each, looks: 2 }))
  const settled = doubted.map((each) => ({ ...each, looks: 2, isSure: true }))
  const times = { lookedAt: at(0), isWhole: true, askedAt: null, betweenLooksMs: HOUR_MS }

  it.each<[string, KnownFinding[], Partial<typeof times>, number]>([
    ['a day later if nothing was found', [], {}, DAY_MS],
    ['a day later if all findings are certain', settled, {}, DAY_MS],
    ['sooner if two looks must agree', doubted, {}, HOUR_MS],
    ['sooner if only a part of the inventory was shown', [], { isWhole: false }, HOUR_MS],
  ])('comes %s', (_name, noted, change, ms) => {
    const changedTimes = { ...times, ...change }
    expect(nextCheckAt(noted, { ...changedTimes, now: at(0) })).toEqual(at(ms))
    expect(isLookDue(noted, { ...changedTimes, now: at(ms - 1) })).toBe(false)
    expect(isLookDue(noted, { ...changedTimes, now: at(ms) })).toBe(true)
  })

  it('waits for the history without a request to Steam', () => {
    expect(nextCheckAt(waiting, { ...times, now: at(0) })).toEqual(at(10 * 60_000))
    expect(isLookDue(waiting, { ...times, now: at(HOUR_MS) })).toBe(false)
  })

  it('comes immediately if it is the first look, or if an operator asks', () => {
    expect(isLookDue([], { ...times, lookedAt: null, now: at(0) })).toBe(true)
    expect(isLookDue([], { ...times, askedAt: at(0), now: at(0) })).toBe(true)
    expect(isLookDue([], { ...times, askedAt: at(-1), now: at(0) })).toBe(false)
  })
})
