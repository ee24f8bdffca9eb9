/** After an offer that failed, the next payment begins with the same game and picks. */
import { expect, it } from 'vitest'
import type { Payment } from '../../contract/widget-api.ts'
import type { FlowEvent } from './events.ts'
import type { OfferedPicks } from './state.ts'
import {
  confirming,
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
} from './test-states.ts'

const PICKS: OfferedPicks = {
  storeName: 'Demo',
  tradeUrl: USER_LINK,
  game: 'rust',
  items: [item('1'), item('2')],
}

/** The page of the next deposit, before its inventory has arrived. */
const nextDeposit = (change: Partial<Payment> = {}, picks: OfferedPicks = PICKS) =>
  play(opening({ picks }), loaded(change)).state

it('a press on Add funds stores the picks with their account, store and game', () => {
  const { state, effects } = play(
    withInventory(play(nextDeposit(), { kind: 'gameChosen', game: 'tf' }).state, inventory([item('7', 500)])),
    toggle('7'),
    { kind: 'payPressed' },
  )
  const picks = { storeName: 'Demo', tradeUrl: USER_LINK, game: 'tf', items: [item('7', 500)] }
  expect(effects).toContainEqual({ kind: 'storePicks', picks })
  expect(state.offeredPicks).toEqual(picks)
})

it('the next deposit opens the game of the picks, and picks the items that are still in the inventory', () => {
  const state = nextDeposit()
  expect(standOf(state).game).toBe('rust')
  const { selection } = standOf(withInventory(state, inventory([item('2'), item('3')])))
  expect(selection).toEqual(['2'])
})

it.each<[string, Partial<Payment>, Partial<OfferedPicks>]>([
  ['another account', {}, { tradeUrl: 'https://steamcommunity.com/tradeoffer/new/?partner=1' }],
  ['another store', { storeName: 'Other' }, {}],
  ['a game that the deposit does not take', { games: ['cs', 'tf'] }, {}],
])('picks of %s do not come back', (_, change, picks) => {
  const state = nextDeposit(change, { ...PICKS, ...picks })
  expect(standOf(state).game).toBe('cs')
  expect(standOf(withInventory(state, inventory([item('1'), item('2')]))).selection).toEqual([])
})

it('the picks come back only once: an account that is entered again after another one begins without picks', () => {
  const otherUser = { ...USER, tradeUrl: 'https://steamcommunity.com/tradeoffer/new/?partner=1' }
  const { state } = play(nextDeposit(), loaded({ user: otherUser }), loaded())
  expect(standOf(state).setAside).toEqual([])
})

/** The next deposit with the returned picks, after these events. */
const afterReturn = (...events: FlowEvent[]) =>
  play(withInventory(nextDeposit(), inventory([item('1'), item('2')])), ...events)

it.each<[string, FlowEvent[]]>([
  ['cleared', [{ kind: 'selectionCleared' }]],
  ['put back one by one', [toggle('1'), toggle('2')]],
])('returned picks that are %s do not come back after a reload of the page', (_, events) => {
  const { state, effects } = afterReturn(...events)
  expect(effects).toContainEqual({ kind: 'forgetPicks' })
  expect([state.offeredPicks, state.openPicks]).toEqual([null, null])
})

it.each<[string, () => ReturnType<typeof play>]>([
  ['one of them is still picked', () => afterReturn(toggle('1'))],
  ['their items are missing', () => play(withInventory(nextDeposit(), inventory([item('3')])))],
  [
    'other picks are cleared at another store',
    () =>
      play(withInventory(nextDeposit({ storeName: 'Other' }), inventory([item('1')])), toggle('1'), {
        kind: 'selectionCleared',
      }),
  ],
])('the picks of the last offer are kept if %s', (_, played) => {
  expect(played().state.offeredPicks).toEqual(PICKS)
})

it('a payment that succeeded forgets the picks, and a failed payment does not', () => {
  const forgetEffects = (change: Partial<Payment>) =>
    play(confirming(), loaded(change)).effects.filter(({ kind }) => kind === 'forgetPicks')
  expect(forgetEffects({ status: 'succeeded', amount: 400 })).toEqual([{ kind: 'forgetPicks' }])
  expect(forgetEffects({ status: 'tradeDeclined' })).toEqual([])
})
