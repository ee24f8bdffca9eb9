import { describe, expect, it } from 'vitest'
import type { MovedAsset, SteamTradeState } from '../steam/steam.ts'
import { at, steamTrade } from '../testing/trades.ts'
import {
  type Circumstances,
  type CustodyChange,
  type Departure,
  destinationOf,
  evolve,
  judgeDeparture,
  laterDepartures,
} from './departure.ts'

const PARTNER = '76561198000009002'
const asset = (assetId: string, change: Partial<MovedAsset> = {}): MovedAsset => ({
  appId: 570,
  contextId: '2',
  assetId,
  newAssetId: `7${assetId}`,
  rolledBackAssetId: null,
  ...change,
})
const unexplained: Circumstances = {
  destination: undefined,
  isOwnBot: false,
  isVaultsGift: false,
  movedByHand: new Set(),
}
const record = (
  state: SteamTradeState,
  given: MovedAsset[] = [asset('1'), asset('2')],
  rollbackOf: string | null = null,
) => steamTrade({ partnerSteamId: PARTNER, state, received: [], given, begunAt: at(5), rollbackOf })

/** The departure after these records, and the events of the last record. */
function outcomeOf(...records: ReturnType<typeof record>[]) {
  let departure: Departure | undefined
  let events: string[] = []
  for (const each of records) {
    const news = judgeDeparture(departure, each, unexplained)
    departure = news.reduce<Departure | undefined>(evolve, departure)
    events = news.map(({ kind }) => kind)
  }
  return {
    events,
    stage: departure?.stage,
    back: departure?.items.filter(({ isBack }) => isBack).map(({ assetId }) => assetId),
  }
}

describe('a departure', () => {
  it('is `gone` when Steam has moved the items', () => {
    expect(outcomeOf(record('complete'))).toEqual({ events: ['seen', 'left'], stage: 'gone', back: [] })
    expect(outcomeOf(record('complete'), record('complete')).events).toEqual([])
  })

  it('is seen while Steam holds it, and then leaves or is called off', () => {
    expect(outcomeOf(record('in_escrow'))).toMatchObject({ events: ['seen'], stage: 'under_way' })
    expect(outcomeOf(record('in_escrow'), record('failed'))).toMatchObject({
      events: ['called_off'],
      stage: 'called_off',
    })
    expect(outcomeOf(record('in_escrow'), record('complete'))).toMatchObject({
      events: ['left'],
      stage: 'gone',
    })
  })

  it('is under way while one of its items has not moved', () => {
    const half = record('committed', [asset('1'), asset('2', { newAssetId: null })])
    expect(outcomeOf(half)).toMatchObject({ stage: 'under_way' })
    expect(outcomeOf(half, record('committed'))).toMatchObject({ events: ['left'] })
  })

  it('can be undone in part and then completely, and each item returns once', () => {
    const part = record('partly_rolled_back', [asset('1', { rolledBackAssetId: '8' }), asset('2')])
    expect(outcomeOf(record('complete'), part)).toEqual({ events: ['returned'], stage: 'gone', back: ['1'] })
    expect(outcomeOf(part).events).toEqual(['seen', 'left', 'returned'])
    expect(outcomeOf(record('complete'), part, part).events).toEqual([])
    const whole = outcomeOf(record('complete'), part, record('rolled_back'))
    expect(whole).toEqual({ events: ['returned'], stage: 'returned', back: ['1', '2'] })
  })

  it('that is undone returns each item under the id that Steam gives, or under the old one', () => {
    const [, , returned] = judgeDeparture(
      undefined,
      record('rolled_back', [asset('1', { rolledBackAssetId: '8' }), asset('2')]),
      unexplained,
    )
    expect(returned).toMatchObject({
      items: [
        { assetId: '1', as: '8' },
        { assetId: '2', as: '2' },
      ],
    })
  })

  it('stays gone when Steam fails to undo it', () => {
    for (const state of ['failed', 'abandoned'] as const)
      expect(outcomeOf(record('complete'), record(state))).toMatchObject({ events: [], stage: 'gone' })
  })

  it('covers only the items that Steam moved, if Steam gave up undoing the trade', () => {
    const given = [
      asset('1', { newAssetId: '7' }),
      asset('2', { newAssetId: null }),
      asset('3', { newAssetId: '8', rolledBackAssetId: '9' }),
    ]
    const [, left, returned] = judgeDeparture(undefined, record('abandoned', given), unexplained)
    expect(left).toMatchObject({ kind: 'left', items: [{ assetId: '1' }, { assetId: '3' }] })
    expect(returned).toMatchObject({ kind: 'returned', items: [{ assetId: '3', as: '9' }] })
    expect(outcomeOf(record('abandoned', given))).toMatchObject({ stage: 'gone', back: ['2', '3'] })
    expect(outcomeOf(record('abandoned', [asset('2', { newAssetId: null })])).stage).toBe('under_way')
  })

  it('does not result from a trade that gave nothing, moved nothing, or undoes an earlier trade', () => {
    expect(outcomeOf(record('complete', [])).events).toEqual([])
    expect(outcomeOf(record('failed')).events).toEqual([])
    expect(outcomeOf(record('complete', [asset('1')], '900')).events).toEqual([])
  })
})

describe('a departure is explained', () => {
  const explanationWith = (circumstances: Partial<Circumstances>) => {
    const [seen] = judgeDeparture(undefined, record('complete'), { ...unexplained, ...circumstances })
    return seen?.kind === 'seen' ? seen.departure.explanation : undefined
  }

  it('by a destination, another bot of the till, the vault, or a move that an operator recorded earlier', () => {
    expect(explanationWith({ destination: 'storage' })).toEqual({ kind: 'destination', name: 'storage' })
    expect(explanationWith({ isOwnBot: true })).toEqual({ kind: 'own_bot' })
    expect(explanationWith({ isVaultsGift: true })).toEqual({ kind: 'vault' })
    expect(explanationWith({ movedByHand: new Set(['1', '2']) })).toEqual({ kind: 'moved' })
  })

  it('if all its items are explained, and otherwise not', () => {
    expect(explanationWith({})).toBeNull()
    expect(explanationWith({ movedByHand: new Set(['1']) })).toBeNull()
  })

  it('by a destination if the complete Steam id matches', () => {
    const destinations = new Map([['storage', '76561198000009001']])
    expect(destinationOf(destinations, '76561198000009001')).toBe('storage')
    expect(destinationOf(destinations, 'storage')).toBeUndefined()
    expect(destinationOf(destinations, '7656119800000900')).toBeUndefined()
  })
})

describe('the departures that took an item further after the first one', () => {
  const FIRST_BOT = 1n
  const SECOND_BOT = 2n
  /** The first departure takes the item to the second bot, and the second one takes it away from there. */
  const changes: CustodyChange<string>[] = [
    { moved: 'in', botId: FIRST_BOT, departure: null },
    { moved: 'out', botId: FIRST_BOT, departure: 'first' },
    { moved: 'in', botId: SECOND_BOT, departure: 'first' },
    { moved: 'out', botId: SECOND_BOT, departure: 'second' },
  ]

  it('are all the later ones, except those whose items came back', () => {
    expect(laterDepartures(changes, 'first')).toEqual([{ departure: 'second', botId: SECOND_BOT }])
    expect(laterDepartures(changes, 'second')).toEqual([])
    const back: CustodyChange<string> = { moved: 'in', botId: SECOND_BOT, departure: 'second' }
    expect(laterDepartures([...changes, back], 'first')).toEqual([])
  })

  it('are undefined after the item moved without a departure', () => {
    const byHand: CustodyChange<string> = { moved: 'in', botId: FIRST_BOT, departure: null }
    expect(laterDepartures([...changes, byHand], 'first')).toBeUndefined()
  })
})
