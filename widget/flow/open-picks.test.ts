/** Picks return when a deposit's page is opened again in its tab, and with a renewed link of the same account. */
import { describe, expect, it } from 'vitest'
import type { Payment, User } from '../../contract/widget-api.ts'
import type { FlowEvent } from './events.ts'
import type { FlowState, OpenPicks } from './state.ts'
import {
  confirming,
  creating,
  HASH,
  inventory,
  item,
  loaded,
  opening,
  play,
  standOf,
  toggle,
  USER,
  USER_LINK,
  withInventory,
  withItems,
} from './test-states.ts'

const PICKS: OpenPicks = {
  hash: HASH,
  tradeUrl: USER_LINK,
  game: 'rust',
  byGame: { rust: ['1', '2'], tf: ['7'] },
}

const OTHER_USER: User = {
  ...USER,
  name: 'Bob',
  tradeUrl: 'https://steamcommunity.com/tradeoffer/new/?partner=654321',
}

const linkOf = ({ tradeUrl }: User): string => `${tradeUrl}&token=renewed1`

/** The picks that the tab keeps after these events. */
const keptAfter = (state: FlowState, ...events: FlowEvent[]) =>
  play(state, ...events)
    .effects.filter(({ kind }) => kind === 'storeOpenPicks')
    .at(-1)

/** The page of the deposit that is opened again, before its inventory has arrived. */
const openedAgain = (change: Partial<Payment> = {}, openPicks: OpenPicks = PICKS) =>
  play(opening({ openPicks }), loaded(change)).state

describe('the tab keeps', () => {
  it('the picks of all games, with the account and the game on the page', () => {
    const { state } = play(withItems(), toggle('1'), { kind: 'gameChosen', game: 'tf' })
    const kept = keptAfter(withInventory(state, inventory([item('7')])), toggle('7'))
    const picks = { hash: HASH, tradeUrl: USER_LINK, game: 'tf', byGame: { cs: ['1'], tf: ['7'] } }
    expect(kept).toEqual({ kind: 'storeOpenPicks', picks })
  })

  it('the picks while the items load again', () => {
    const { state } = play(withItems(), toggle('2'), { kind: 'reloadPressed' })
    expect(state.openPicks?.byGame).toEqual({ cs: ['2'] })
  })

  it.each<[string, FlowEvent[]]>([
    ['the last pick is removed', [toggle('1')]],
    ['the picks are cleared', [{ kind: 'selectionCleared' }]],
    ['the deposit is paid', [loaded({ status: 'succeeded', amount: 400 })]],
    ['the deposit has ended', [loaded({ status: 'paymentTimeout' })]],
  ])('nothing after %s', (_, events) => {
    const { state } = play(withItems(), toggle('1'))
    expect(keptAfter(state, ...events)).toEqual({ kind: 'storeOpenPicks', picks: null })
  })

  it('the picks during an offer, even if the inventory lacks the picked items', () => {
    const { state } = play(confirming(), { kind: 'reloadPressed' })
    const picksBefore = state.openPicks
    expect(picksBefore?.byGame).toEqual({ cs: ['1', '2'] })
    expect(withInventory(state, inventory([item('3')])).openPicks).toEqual(picksBefore)
  })

  it('the picks of an offer that another page began, and that the till did not create', () => {
    const joined = openedAgain({ creating: true })
    const withoutOffered = withInventory(joined, inventory([item('3')]))
    const { state } = play(withoutOffered, loaded(), { kind: 'creationErrorClosed' })
    expect(state.openPicks).toEqual(PICKS)
    expect(standOf(withInventory(state, inventory([item('1'), item('2')])))).toMatchObject({
      selection: ['1', '2'],
      setAside: [],
    })
  })
})

describe('D-27 the picks of all games', () => {
  const picked = () =>
    withInventory(
      play(withItems(), toggle('1'), { kind: 'gameChosen', game: 'tf' }).state,
      inventory([item('7')]),
    )

  /** The state after the shopper has cleared the field and entered each of these users' links. */
  const afterLinksOf = (...users: User[]) =>
    users.reduce(
      (state, user) => {
        const typed = play(
          state,
          { kind: 'linkTyped', text: '' },
          { kind: 'linkTyped', text: linkOf(user) },
        ).state
        const request = typed.nextRequest
        return play(typed, { kind: 'typingEnded' }, { kind: 'userResolved', request, user }).state
      },
      play(picked(), toggle('7')).state,
    )

  it('return with a renewed link of the same account', () => {
    const state = afterLinksOf(USER)
    expect(standOf(state)).toMatchObject({ game: 'tf', setAside: ['7'], elsewhere: { cs: ['1'] } })
    expect(standOf(withInventory(state, inventory([item('7')]))).selection).toEqual(['7'])
  })

  it('are forgotten once another account is entered, even if the first one follows', () => {
    expect(afterLinksOf(OTHER_USER).openPicks).toBeNull()
    expect(standOf(afterLinksOf(OTHER_USER, USER))).toMatchObject({ setAside: [], elsewhere: {} })
  })

  it('stay in the tab while the field has no link, because the account has not changed', () => {
    const state = play(picked(), toggle('7')).state
    expect(play(state, { kind: 'linkTyped', text: '' }).state.openPicks).toBe(state.openPicks)
  })
})

it('the picks of a refused offer return, even if the inventory was meanwhile loaded without their items', () => {
  const { state: loading } = play(creating(), { kind: 'languageChosen', language: 'ru' })
  const withoutItems = withInventory(loading, inventory([item('3')]))
  expect(standOf(withoutItems).selection).toEqual([])
  const refusal = { code: 'trade_refused', detail: null }
  const { state } = play(withoutItems, { kind: 'tradeRefused', attempt: 1, refusal })
  expect(standOf(withInventory(state, inventory([item('1'), item('2')]))).selection).toEqual(['1', '2'])
})

describe('a page that is opened again', () => {
  it('keeps the picks while the account is unknown', () => {
    expect(openedAgain({ user: null }).openPicks).toEqual(PICKS)
  })

  it('begins with the kept game, and with the picks whose items are still in the inventory', () => {
    const state = openedAgain()
    expect(standOf(state).game).toBe('rust')
    const arrived = withInventory(state, inventory([item('2'), item('3')]))
    expect(standOf(arrived)).toMatchObject({ selection: ['2'], elsewhere: { tf: ['7'] } })
  })

  it('begins with the picks of its tab, and not with the picks of the last offer', () => {
    const picks = { storeName: 'Demo', tradeUrl: USER_LINK, game: 'cs', items: [item('9')] } as const
    const { state } = play(opening({ picks, openPicks: PICKS }), loaded())
    expect(standOf(state)).toMatchObject({ game: 'rust', setAside: ['1', '2'] })
  })

  it.each<[string, Partial<Payment>, Partial<OpenPicks>]>([
    ['of another account', {}, { tradeUrl: 'https://steamcommunity.com/tradeoffer/new/?partner=1' }],
    ['in a game that the deposit does not take', { games: ['cs', 'tf'] }, {}],
  ])('begins without picks %s', (_, change, picks) => {
    expect(standOf(openedAgain(change, { ...PICKS, ...picks }))).toMatchObject({
      game: 'cs',
      setAside: [],
      elsewhere: {},
    })
  })
})
