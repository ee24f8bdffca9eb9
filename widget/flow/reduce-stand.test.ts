import { describe, expect, it } from 'vitest'
import { GAMES, type Game } from '../../contract/games.ts'
import { INVENTORY_ERROR_TYPES } from '../../contract/statuses.ts'
import { activitiesOf } from './activities.ts'
import type { FlowEvent } from './events.ts'
import { keptPicks, otherGames, shownInventory } from './selectors.ts'
import type { FlowState } from './state.ts'
import {
  awaitingLink,
  inventory,
  inventoryRequest,
  item,
  loaded,
  openedOn,
  payment,
  play,
  standOf,
  toggle,
  USER_LINK,
  withInventory,
  withItems,
} from './test-states.ts'

const RELOAD: FlowEvent = { kind: 'reloadPressed' }
const selectionOf = (state: FlowState) => standOf(state).selection
const loading = (state: FlowState) => activitiesOf(state).find(({ kind }) => kind === 'loadInventory')

describe('the inventory', () => {
  it('A-114 is requested for the default game, in the language of the page', () => {
    const state = openedOn('created', { language: 'ru' })
    expect(loading(state)).toMatchObject({ game: 'cs', language: 'ru', isReload: false })
    expect(shownInventory(standOf(state))).toBeNull()
  })

  it('A-044 is on the page when it has loaded', () => {
    const arrived = inventory([item('1')])
    const state = withInventory(openedOn('created'), arrived)
    expect(standOf(state).inventory).toEqual({ status: 'ready', inventory: arrived })
    expect(loading(state)).toBeUndefined()
  })

  it.each(INVENTORY_ERROR_TYPES)('A-074 can fail with %s, and Try again requests it again', (type) => {
    const broken = inventory([], { inventoryError: true, inventoryErrorType: type })
    const state = withInventory(openedOn('created'), broken)
    expect(standOf(state).inventory).toEqual({ status: 'error', type })
    expect(loading(state)).toBeUndefined()
    expect(loading(play(state, RELOAD).state)).toMatchObject({ isReload: true })
  })

  it('A-102 has an internal error if its error has no type, or the call failed', () => {
    const untyped = inventory([item('1')], { inventoryError: true })
    expect(standOf(withInventory(openedOn('created'), untyped)).inventory).toEqual({
      status: 'error',
      type: 'internal',
    })
    const state = openedOn('created')
    const { state: failed } = play(state, { kind: 'inventoryFailed', request: inventoryRequest(state) })
    expect(standOf(failed).inventory).toEqual({ status: 'error', type: 'internal' })
  })

  it('is refused if the page has asked too often: the page then says so and sets its picks aside', () => {
    const state = play(withItems(), toggle('1'), RELOAD).state
    const request = inventoryRequest(state)
    const { state: refused } = play(state, { kind: 'inventoryFailed', request, code: 'too_many_looks' })
    expect(standOf(refused)).toMatchObject({
      inventory: { status: 'error', type: 'tooManyLooks' },
      setAside: ['1'],
    })
  })

  it('has its own error for a game that the store does not take', () => {
    const state = openedOn('created')
    const code = 'game_not_accepted'
    const refused = play(state, { kind: 'inventoryFailed', request: inventoryRequest(state), code }).state
    expect(standOf(refused).inventory).toEqual({ status: 'error', type: 'gameNotAccepted' })
  })

  it('has one error for an account that may not trade, and another for an account without items', () => {
    const change = { inventoryError: true, inventoryErrorType: 'tradeNotAvailable' } as const
    const none = withInventory(openedOn('created'), inventory([], change))
    const restricted = inventory([], { ...change, inventoryErrorCause: 'accountRestricted' })
    expect(standOf(none).inventory).toEqual({ status: 'error', type: 'tradeNotAvailable' })
    const { inventory: failed } = standOf(withInventory(openedOn('created'), restricted))
    expect(failed).toEqual({ status: 'error', type: 'accountRestricted' })
  })

  it('makes the page suggest each game once if the account has no items', () => {
    const change = { inventoryError: true, inventoryErrorType: 'tradeNotAvailable' } as const
    let state = openedOn('created')
    const shown: Game[] = []
    while (shown.length < 2 * GAMES.length) {
      shown.push(standOf(state).game)
      state = withInventory(state, inventory([], change))
      const [suggested] = otherGames(standOf(state), payment())
      if (suggested === undefined) break
      state = play(state, { kind: 'gameChosen', game: suggested.game }).state
    }
    expect(shown).toEqual(GAMES)
  })

  it('D-28 is loaded again when technical works are over', () => {
    const change = { inventoryError: true, inventoryErrorType: 'engineeringWorks' } as const
    const closed = withInventory(openedOn('created', { technicalWorks: true }), inventory([], change))
    expect(loading(play(closed, loaded({ technicalWorks: true })).state)).toBeUndefined()
    expect(loading(play(closed, loaded()).state)).toMatchObject({ isReload: true })
    const hidden = inventory([], { ...change, inventoryErrorType: 'hidden' })
    const refused = withInventory(openedOn('created', { technicalWorks: true }), hidden)
    expect(loading(play(refused, loaded()).state)).toBeUndefined()
  })

  it('A-114 is that of the default game if the store takes it, and otherwise of the first accepted game', () => {
    expect(standOf(openedOn('created', { games: ['rust', 'tf'] })).game).toBe('rust')
    expect(standOf(openedOn('created', { games: ['tf', 'cs'] })).game).toBe('cs')
  })

  it('is not loaded for a game that the store does not take', () => {
    const state = openedOn('created', { games: ['rust', 'tf'] })
    expect(play(state, { kind: 'gameChosen', game: 'dota' }).state).toBe(state)
    expect(standOf(play(state, { kind: 'gameChosen', game: 'tf' }).state).game).toBe('tf')
  })

  it('leaves nothing picked if its load failed', () => {
    const state = play(withItems(), toggle('1'), RELOAD).state
    const { state: failed } = play(state, { kind: 'inventoryFailed', request: inventoryRequest(state) })
    expect(selectionOf(failed)).toEqual([])
  })

  it.each([
    ['another game is chosen', { kind: 'gameChosen', game: 'dota' }],
    ['another language is chosen', { kind: 'languageChosen', language: 'ru' }],
    ['Reload is pressed', RELOAD],
  ] satisfies [string, FlowEvent][])(
    'A-071 is requested again if %s, and the late answer to the old request is dropped',
    (_what, event) => {
      const first = openedOn('created')
      const late = inventoryRequest(first)
      const second = play(first, event).state
      expect(loading(second)?.key).not.toBe(loading(first)?.key)
      expect(play(second, { kind: 'inventoryLoaded', request: late, inventory: inventory([]) }).state).toBe(
        second,
      )
      expect(play(second, { kind: 'inventoryFailed', request: late }).state).toBe(second)
    },
  )

  it('A-071 is no longer requested once the link is cleared, and a late answer is dropped', () => {
    const first = openedOn('created')
    const late = inventoryRequest(first)
    const cleared = play(first, { kind: 'linkTyped', text: '' }).state
    expect(loading(cleared)).toBeUndefined()
    expect(play(cleared, { kind: 'inventoryLoaded', request: late, inventory: inventory([]) }).state).toBe(
      cleared,
    )
  })

  it('A-071 D-27 keeps its items and picks in another language, but another game has its own', () => {
    const state = play(withItems(), toggle('1')).state
    const russian = play(state, { kind: 'languageChosen', language: 'ru' }).state
    expect(shownInventory(standOf(russian))?.items).toHaveLength(3)
    expect(selectionOf(russian)).toEqual(['1'])
    const dota = play(state, { kind: 'gameChosen', game: 'dota' }).state
    expect(shownInventory(standOf(dota))).toBeNull()
    expect(selectionOf(dota)).toEqual([])
    expect(loading(dota)).toMatchObject({ game: 'dota' })
  })

  it('is not loaded again if the current game or language is chosen', () => {
    const state = withItems()
    expect(play(state, { kind: 'gameChosen', game: 'cs' }).state).toBe(state)
    expect(loading(play(state, { kind: 'languageChosen', language: 'en' }).state)).toBeUndefined()
  })

  it.each(GAMES)('A-019 can be that of %s', (game) => {
    expect(standOf(play(withItems(), { kind: 'gameChosen', game }).state).game).toBe(game)
  })

  it('D-27 keeps the picks that it still contains after a reload', () => {
    const state = play(withItems(), toggle('3'), toggle('1'), RELOAD).state
    expect(selectionOf(state)).toEqual(['3', '1'])
    expect(selectionOf(withInventory(state, inventory([item('1'), item('9')])))).toEqual(['1'])
  })
})

describe('D-27 the picks before a failed load of the inventory', () => {
  const fail = (state: FlowState): FlowState =>
    play(state, RELOAD, { kind: 'inventoryFailed', request: inventoryRequest(play(state, RELOAD).state) })
      .state

  it('come back if the next inventory has their items', () => {
    const failed = fail(fail(play(withItems(), toggle('3'), toggle('1')).state))
    expect(selectionOf(failed)).toEqual([])
    const back = withInventory(play(failed, RELOAD).state, inventory([item('1'), item('9')]))
    expect(selectionOf(back)).toEqual(['1'])
    expect(selectionOf(withInventory(play(back, RELOAD).state, inventory([item('1'), item('3')])))).toEqual([
      '1',
    ])
  })

  it('are forgotten when the selection is cleared', () => {
    const state = play(fail(play(withItems(), toggle('1')).state), { kind: 'selectionCleared' }, RELOAD).state
    expect(selectionOf(withInventory(state, inventory([item('1')])))).toEqual([])
  })
})

/** Returns the state after another game was chosen and its two items have loaded. */
const atDota = (state: FlowState) =>
  withInventory(play(state, { kind: 'gameChosen', game: 'dota' }).state, inventory([item('1'), item('7')]))

it('the page remembers how many items of each game were usable', () => {
  expect(standOf(atDota(withItems())).counts).toEqual({ cs: 3, dota: 2 })
})

describe('D-27 the picks of a game', () => {
  const backAtCs = (state: FlowState, ...items: string[]) =>
    withInventory(
      play(state, { kind: 'gameChosen', game: 'cs' }).state,
      inventory(items.map((id) => item(id))),
    )

  it('do not count in another game, and come back with the game’s items', () => {
    const away = play(atDota(play(withItems(), toggle('3'), toggle('1')).state), toggle('7')).state
    expect(selectionOf(away)).toEqual(['7'])
    expect(keptPicks(standOf(away))).toEqual([{ game: 'cs', count: 2 }])
    const home = backAtCs(away, '1', '2', '3')
    expect(selectionOf(home)).toEqual(['3', '1'])
    expect(keptPicks(standOf(home))).toEqual([{ game: 'dota', count: 1 }])
    expect(selectionOf(backAtCs(away, '3'))).toEqual(['3'])
  })

  it('come back even if the last load of their inventory failed', () => {
    const state = play(withItems(), toggle('1'), RELOAD).state
    const failed = play(state, { kind: 'inventoryFailed', request: inventoryRequest(state) }).state
    expect(selectionOf(backAtCs(atDota(failed), '1'))).toEqual(['1'])
  })

  it('come back when the same account’s link is entered again', () => {
    const away = atDota(play(withItems(), toggle('1')).state)
    const reentered = play(
      away,
      { kind: 'linkTyped', text: '' },
      { kind: 'linkTyped', text: USER_LINK },
    ).state
    expect(selectionOf(backAtCs(reentered, '1'))).toEqual(['1'])
  })
})

describe('items for an amount', () => {
  const askFor = (amount: number) => ({ kind: 'amountAsked', amount }) as const
  const answer = (state: FlowState, ...ids: string[]): FlowEvent => ({
    kind: 'itemsProposed',
    request: state.nextRequest - 1,
    proposal: { kind: 'found', ids, total: 200 * ids.length },
  })
  const searchActivities = (state: FlowState) =>
    activitiesOf(state).filter(({ kind }) => kind === 'proposeItems')

  it('replace the picks, and their amount stays until the selection is cleared', () => {
    const asked = play(withItems(), toggle('3'), askFor(400)).state
    expect(searchActivities(asked)).toMatchObject([{ target: 400 }])
    expect(selectionOf(asked)).toEqual(['3'])
    const found = play(asked, answer(asked, '2', '1')).state
    expect(selectionOf(found)).toEqual(['2', '1'])
    expect(standOf(found).aim).toMatchObject({ target: 400, search: { status: 'done' } })
    expect(searchActivities(found)).toEqual([])
    expect(standOf(play(found, toggle('3')).state).aim?.target).toBe(400)
    expect(standOf(play(found, { kind: 'selectionCleared' }).state).aim).toBeNull()
  })

  it.each([
    [1, 300],
    [450, 450],
    [9_000, 600],
  ])('of %i have the target %i, which is within the limits of the deposit', (amount, target) => {
    const state = play(withItems(), loaded({ maxAmount: 600 }), askFor(amount)).state
    expect(searchActivities(state)).toMatchObject([{ target }])
    expect(standOf(state).aim).toMatchObject({ asked: amount, target })
  })

  it('change no picks if none are found', () => {
    const asked = play(withItems(), toggle('3'), askFor(5_000)).state
    const proposal = { kind: 'short', reach: 600 } as const
    const { state } = play(asked, { kind: 'itemsProposed', request: asked.nextRequest - 1, proposal })
    expect(selectionOf(state)).toEqual(['3'])
    expect(standOf(state).aim).toEqual({ asked: 5_000, target: 5_000, search: { status: 'done', proposal } })
  })

  it.each<[string, FlowEvent]>([
    ['another amount', askFor(600)],
    ['a pick', toggle('1')],
    ['another game', { kind: 'gameChosen', game: 'dota' }],
    ['a reload', RELOAD],
    ['a cleared selection', { kind: 'selectionCleared' }],
  ])('are ignored after %s', (_what, event) => {
    const asked = play(withItems(), askFor(400)).state
    const changed = play(asked, event).state
    expect(play(changed, answer(asked, '3', '2')).state).toBe(changed)
  })

  it('are not picked during a payment, and there is no search for them while the inventory loads', () => {
    const asked = play(withItems(), toggle('1'), toggle('2'), askFor(400), { kind: 'payPressed' }).state
    expect(asked.modal.kind).toBe('creating')
    expect(selectionOf(play(asked, answer(asked, '3')).state)).toEqual(['1', '2'])
    const reloading = play(withItems(), RELOAD).state
    expect(play(reloading, askFor(400)).state).toBe(reloading)
  })
})

describe('picking', () => {
  it('A-012 a press picks an item and a second press puts it back; the picks keep the order of presses', () => {
    const state = play(withItems(), toggle('3'), toggle('1')).state
    expect(selectionOf(state)).toEqual(['3', '1'])
    expect(selectionOf(play(state, toggle('3')).state)).toEqual(['1'])
  })

  it('A-072 all items can be put back with one press', () => {
    const state = play(withItems(), toggle('1'), toggle('2'), { kind: 'selectionCleared' }).state
    expect(selectionOf(state)).toEqual([])
  })

  it('several items are picked at once, up to the number that one offer may have', () => {
    const add = (...ids: string[]) => ({ kind: 'itemsAdded', ids }) as const
    expect(selectionOf(play(withItems(), toggle('2'), add('1', '2', 'gone', '3')).state)).toEqual([
      '2',
      '1',
      '3',
    ])
    const limited = play(withItems([item('1'), item('2'), item('3')], { maxItems: 2 }), toggle('3')).state
    const { state, effects } = play(limited, add('1', '2'))
    expect(selectionOf(state)).toEqual(['3', '1'])
    expect(effects).toContainEqual({ kind: 'toast', toast: { text: 'tooManyItems' } })
    expect(play(limited, add('3', 'gone'))).toEqual({ state: limited, effects: [] })
  })

  it('an item that is not in the inventory cannot be picked', () => {
    const state = withItems()
    expect(play(state, toggle('99')).state).toBe(state)
    const empty = openedOn('created')
    expect(play(empty, toggle('1')).state).toBe(empty)
  })

  it('A-088 an item beyond the server’s limit is not picked, and the page says so', () => {
    const full = play(
      withItems([item('1'), item('2'), item('3')], { maxItems: 2 }),
      toggle('1'),
      toggle('2'),
    ).state
    const { state, effects } = play(full, toggle('3'))
    expect(selectionOf(state)).toEqual(['1', '2'])
    expect(effects).toEqual([{ kind: 'toast', toast: { text: 'tooManyItems' } }])
    expect(selectionOf(play(full, toggle('2'), toggle('3')).state)).toEqual(['1', '3'])
  })

  it('A-010 a search and a sort order are kept, and do not change the picks', () => {
    const { state } = play(
      withItems(),
      toggle('1'),
      { kind: 'searchTyped', text: 'none' },
      { kind: 'sortChosen', sort: 'priceUp' },
    )
    expect(standOf(state)).toMatchObject({ search: 'none', sort: 'priceUp', selection: ['1'] })
  })

  it('picking, reloading or choosing a game does nothing while the page waits for the link', () => {
    const state = awaitingLink()
    for (const event of [toggle('1'), RELOAD, { kind: 'gameChosen', game: 'tf' } as const]) {
      expect(play(state, event).state).toBe(state)
    }
  })
})
